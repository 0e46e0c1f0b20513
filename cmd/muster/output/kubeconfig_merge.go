package output

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"muster/app"

	"go.yaml.in/yaml/v3"
)

// maxKubeconfig limits the files that are merged, in bytes.
const maxKubeconfig = 4 << 20

// markName is the extension of entries that Muster added, by which it finds them again.
const markName = "muster"

// mark says which cluster an entry is of.
type mark struct {
	Server  string `yaml:"server"`
	Tenant  string `yaml:"tenant"`
	Cluster string `yaml:"cluster"`
	ID      string `yaml:"id"`
}

// same is whether an entry is of the same cluster, or of an earlier one of its name.
func (m mark) same(other mark) bool {
	return m.Server == other.Server && m.Tenant == other.Tenant && (m.ID == other.ID || m.Cluster == other.Cluster)
}

// The lists of a kubeconfig, with the key of an entry's content.
const (
	listClusters = "clusters"
	listUsers    = "users"
	listContexts = "contexts"
)

var kubeLists = []struct{ list, content string }{{listClusters, "cluster"}, {listUsers, "user"}, {listContexts, "context"}}

// identity is what makes a file a kubeconfig.
var identity = []struct{ key, value string }{{"apiVersion", "v1"}, {"kind", "Config"}}

// harmless are the fields that an entry from a cluster can have. Others name programs and files of this host: kubectl would run them, or send
// them to the cluster.
var harmless = map[string][]string{
	listClusters: {"server", "certificate-authority-data", "insecure-skip-tls-verify", "tls-server-name", "proxy-url", "disable-compression", "extensions"},
	listUsers:    {"client-certificate-data", "client-key-data", "token", "username", "password", "extensions"},
	listContexts: {"cluster", "user", "namespace", "extensions"},
}

// kubeconfig is a kubeconfig as people have written it: with unknown fields, comments and order.
type kubeconfig struct {
	doc  *yaml.Node
	root *yaml.Node
}

// readKubeconfig reads a file. Errors begin with its name and the line.
func readKubeconfig(name string, text []byte) (k kubeconfig, err error) {
	if len(text) > maxKubeconfig {
		return k, kubeFault(name, 0, fmt.Sprintf("it's larger than %d MiB", maxKubeconfig>>20))
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	k.doc = &yaml.Node{}
	switch err := d.Decode(k.doc); {
	case errors.Is(err, io.EOF):
		k.doc = &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode, Tag: "!!map"}}}
	case err != nil:
		return k, kubeSyntax(name, err)
	}
	if err := d.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		if err != nil {
			return k, kubeSyntax(name, err)
		}
		return k, kubeFault(name, 0, "it has several YAML documents")
	}
	k.root = k.doc.Content[0]
	if k.root.Kind == yaml.ScalarNode && k.root.Tag == "!!null" {
		*k.root = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	}
	if k.root.Kind != yaml.MappingNode {
		return k, kubeFault(name, k.root.Line, "it isn't a kubeconfig: a mapping with clusters, users and contexts is missing")
	}
	if err := k.doc.Decode(&map[string]any{}); err != nil { // names a key that is there twice
		return k, kubeSyntax(name, err)
	}
	return k, k.check(name)
}

// check looks at what a merge relies on.
func (k kubeconfig) check(name string) error {
	for _, f := range identity {
		if n := field(k.root, f.key); n != nil && n.Value != f.value {
			return kubeFault(name, n.Line, fmt.Sprintf("it isn't a kubeconfig: %s is %q, not %q", f.key, n.Value, f.value))
		}
	}
	for _, l := range kubeLists {
		list := field(k.root, l.list)
		switch {
		case list == nil, list.Kind == yaml.ScalarNode && list.Tag == "!!null":
			continue
		case list.Kind != yaml.SequenceNode:
			return kubeFault(name, list.Line, l.list+" isn't a list")
		}
		for _, e := range list.Content {
			if n := field(e, "name"); e.Kind != yaml.MappingNode || n == nil || n.Kind != yaml.ScalarNode {
				return kubeFault(name, e.Line, "an entry of "+l.list+" has no name")
			}
		}
	}
	return nil
}

var yamlLineOf = regexp.MustCompile(`line (\d+): `)

// kubeSyntax is a fault that the reader of YAML found. Its message can have several lines, and is preceded by what isn't for people.
func kubeSyntax(name string, err error) error {
	text, line := strings.TrimPrefix(err.Error(), "yaml: "), 0
	if at := yamlLineOf.FindStringSubmatchIndex(text); at != nil {
		line, _ = strconv.Atoi(text[at[2]:at[3]])
		text = text[at[1]:]
	}
	text, _, _ = strings.Cut(text, "\n")
	return kubeFault(name, line, "it can't be read: "+text)
}

func kubeFault(name string, line int, what string) error {
	if line > 0 {
		name += ":" + strconv.Itoa(line)
	}
	return &app.Error{Code: app.EInvalid, Message: name + ": " + what, Hint: "Nothing was changed."}
}

// field is the value of a key; nil for none.
func field(m *yaml.Node, key string) *yaml.Node {
	for i := 0; m.Kind == yaml.MappingNode && i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return m.Content[i+1]
		}
	}
	return nil
}

func text(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	return n
}

// set changes or adds a key.
func set(m *yaml.Node, key string, value *yaml.Node) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			m.Content[i+1] = value
			return
		}
	}
	m.Content = append(m.Content, text(key), value)
}

// list is one of the lists, which it adds where it's missing.
func (k kubeconfig) list(name string) *yaml.Node {
	n := field(k.root, name)
	if n == nil || n.Kind != yaml.SequenceNode {
		n = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		set(k.root, name, n)
	}
	if len(n.Content) == 0 {
		n.Style &^= yaml.FlowStyle // as in kubectl's clusters: []
	}
	return n
}

// merge adds a cluster's entries, in the place of earlier ones, and returns the name of its context. Nothing of k is to be used after an error.
func (k kubeconfig) merge(from kubeconfig, source string, m mark, keepCurrent bool) (context string, err error) {
	if err := from.only(source); err != nil {
		return "", err
	}
	for _, f := range identity {
		if field(k.root, f.key) == nil {
			set(k.root, f.key, text(f.value))
		}
	}
	removed := map[string]bool{}
	for _, l := range kubeLists {
		list := k.list(l.list)
		list.Content = slices.DeleteFunc(list.Content, func(e *yaml.Node) bool {
			mine := markOf(field(e, l.content)).same(m)
			if mine && l.list == listContexts {
				removed[field(e, "name").Value] = true
			}
			return mine
		})
	}
	names := map[string]map[string]string{}
	for _, l := range kubeLists {
		names[l.list] = k.add(from, l.list, l.content, m)
	}
	for _, e := range from.list(listContexts).Content {
		for _, l := range kubeLists[:2] {
			old := field(field(e, "context"), l.content)
			if old == nil || names[l.list][old.Value] == "" {
				return "", kubeFault(source, e.Line, "a context has no "+l.content+" that is in the file")
			}
			set(field(e, "context"), l.content, text(names[l.list][old.Value]))
		}
	}
	context = field(from.list(listContexts).Content[0], "name").Value
	if n := field(from.root, "current-context"); n != nil && names[listContexts][n.Value] != "" {
		context = names[listContexts][n.Value]
	}
	now := field(k.root, "current-context")
	if !keepCurrent || now != nil && removed[now.Value] && !k.has(listContexts, now.Value) {
		set(k.root, "current-context", text(context))
	}
	return context, nil
}

func (k kubeconfig) has(list, name string) bool {
	return slices.ContainsFunc(k.list(list).Content, func(e *yaml.Node) bool { return field(e, "name").Value == name })
}

// add adds one list's entries, under names that begin with the cluster's and that no other entry has. It returns the new names by the old ones.
func (k kubeconfig) add(from kubeconfig, list, content string, m mark) map[string]string {
	names := map[string]string{}
	for _, e := range from.list(list).Content {
		old := field(e, "name").Value
		name := m.Cluster + "-" + old
		for n := 2; k.has(list, name); n++ {
			name = fmt.Sprintf("%s-%s-%d", m.Cluster, old, n)
		}
		names[old] = name
		set(e, "name", text(name))
		setMark(field(e, content), m)
		to := k.list(list)
		to.Content = append(to.Content, e)
	}
	return names
}

// only refuses what a cluster's kubeconfig must not bring to this host, and one that is of no use.
func (k kubeconfig) only(source string) error {
	for _, l := range kubeLists {
		seen := map[string]bool{}
		for _, e := range k.list(l.list).Content {
			name, content := field(e, "name").Value, field(e, l.content)
			if content == nil || content.Kind != yaml.MappingNode || seen[name] || aliased(e) {
				return kubeFault(source, e.Line, fmt.Sprintf("%s %q has no content, has aliases, or is there twice", l.content, name))
			}
			seen[name] = true
			for i := 0; i < len(content.Content); i += 2 {
				if key := content.Content[i]; !slices.Contains(harmless[l.list], key.Value) {
					return &app.Error{Code: app.EInvalid, Message: fmt.Sprintf("%s:%d: %s %q has %s, which can name a program or file of this host",
						source, key.Line, l.content, name, key.Value),
						Hint: "Nothing was changed. If you trust it, print it without --merge and use it as a file of its own."}
				}
			}
		}
		if len(seen) == 0 {
			return kubeFault(source, 0, "it has no "+l.list)
		}
	}
	return nil
}

// aliased is whether a node refers to others, which may not come along.
func aliased(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || n.Anchor != "" || slices.ContainsFunc(n.Content, aliased)
}

// markOf is the cluster of an entry's content; empty for entries that Muster didn't add.
func markOf(content *yaml.Node) (m mark) {
	if content == nil {
		return m
	}
	list := field(content, "extensions")
	if list == nil || list.Kind != yaml.SequenceNode {
		return m
	}
	for _, e := range list.Content {
		if n, x := field(e, "name"), field(e, "extension"); n != nil && x != nil && n.Value == markName && x.Decode(&m) != nil {
			return mark{}
		}
	}
	return m
}

// setMark replaces what the cluster's own file has as extensions.
func setMark(content *yaml.Node, m mark) {
	var n yaml.Node
	_ = n.Encode([]map[string]any{{"name": markName, "extension": m}}) // of texts only
	set(content, "extensions", &n)
}

// bytes is the file's new text.
func (k kubeconfig) bytes() ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	e.CompactSeqIndent()
	err := errors.Join(e.Encode(k.doc), e.Close())
	return b.Bytes(), err
}
