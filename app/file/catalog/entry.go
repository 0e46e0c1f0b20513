package catalog

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"muster/app"
)

// kind is a kind of catalog entry, as written after `kind:`.
type kind string

const (
	kindProvider kind = "provider"
	kindHardware kind = "hardware"
	kindImage    kind = "image"
	kindService  kind = "service"
	kindTemplate kind = "template"
)

var kinds = []kind{kindProvider, kindHardware, kindImage, kindService, kindTemplate}

// key is what an entry is known by.
type key struct {
	kind kind
	name string
}

func (k key) String() string { return fmt.Sprintf("%s %q", k.kind, k.name) }

// entry is one catalog entry with the place where it was written. Value is one of *app.ProviderSpec,
// *app.HardwareType, *app.ImageType, *app.Service and *app.Template. An entry that could not be read whole, which has
// been reported, is broken: it is no part of the catalog, but what refers to it is not reported as well, and what it
// refers to is still checked.
type entry struct {
	key
	file  string
	text  []byte // the whole file, of our own form
	node  *yaml.Node
	coopr bool // it is written in Coopr's form
	// lenient entries came from Coopr: a broken rule is only a warning.
	lenient bool
	value   any
	broken  bool
	// inherited is set while the whole of a template is looked at: it knows where its parts are written.
	inherited *app.Template
	layers    []layer       // that the whole is made of, the template itself last
	depth     int           // how many stand one behind the other, itself among them
	done      bool          // layers, depth and whole are known
	own       bool          // a tenant's
	trusted   bool          // of own ones: see app.CatalogRevision
	whole     *app.Template // a template with all that it extends and includes; nil where it cannot be made whole
}

var nameShape = regexp.MustCompile(namePattern)

// namePattern is also what the schema says.
const namePattern = `^[A-Za-z0-9_.-]{1,255}$`

func goodName(s string) bool { return nameShape.MatchString(s) }

// about turns what every entry carries into the app's word for it.
func (e *entry) about(label, description, icon string) app.About {
	return app.About{
		Name: e.name, Label: label, Description: description, Icon: icon,
		Origin: app.Origin{File: e.file, Line: e.node.Line},
	}
}

// cooprPaths says where Coopr's form has what our form calls by the key.
var cooprPaths = map[string][][]string{
	"hardware":     {{"hardwaretype"}, {"hardwaretypes"}},
	"image":        {{"imagetype"}},
	"images":       {{"imagetypes"}},
	"must_coexist": {{"layout", "mustcoexist"}},
	"cant_coexist": {{"layout", "cantcoexist"}},
	"min":          {{"quantities", "min"}},
	"max":          {{"quantities", "max"}},
	"lease":        {{"administration", "leaseduration"}},
	"provides":     {{"dependencies", "provides"}},
	"conflicts":    {{"dependencies", "conflicts"}},
	"install":      {{"dependencies", "install"}},
	"runtime":      {{"dependencies", "runtime"}},
	"actions":      {{"provisioner", "actions"}},
	"automator":    {{"type"}},
	"type":         {{"providertype"}},
	"settings":     {{"provisioner"}},
	"providers":    {{"providermap"}},
}

// at finds the place of a value by its path in our own form: strings are keys, ints are positions in a list. Where the
// path ends early, the nearest place above is given. For a key whose value spans lines it is the key's place.
func (e *entry) at(path ...any) *yaml.Node {
	place, _, _ := e.find(path)
	return place
}

// spell writes a path in the words of the entry's own form, as in constraints.layout.mustcoexist[0].
func (e *entry) spell(path []any) string {
	_, words, _ := e.find(path)
	return words
}

// find also tells whether the path was followed to its end.
func (e *entry) find(path []any) (place *yaml.Node, words string, found bool) {
	n, place := e.node, e.node
	lost := false
	for _, p := range path {
		n = follow(n)
		switch p := p.(type) {
		case int:
			words += fmt.Sprintf("[%d]", p)
			if lost || n.Kind != yaml.SequenceNode || p >= len(n.Content) {
				lost = true
				continue
			}
			n = n.Content[p]
			place = n
		case string:
			keys := []string{p}
			k, x := child(n, p)
			for i := 0; k == nil && e.coopr && i < len(cooprPaths[p]); i++ {
				if k, x = descend(n, cooprPaths[p][i]); k != nil {
					keys = cooprPaths[p][i]
				}
			}
			words = join(words, strings.Join(keys, "."))
			if lost || k == nil {
				lost = true
				continue
			}
			n, place = x, k
			if x.Kind == yaml.ScalarNode {
				place = x
			}
		}
	}
	return place, words, !lost
}

// follow gives what an alias stands for.
func follow(n *yaml.Node) *yaml.Node {
	for i := 0; n.Kind == yaml.AliasNode && n.Alias != nil && i < maxDepth; i++ {
		n = n.Alias
	}
	return n
}

// child gives the key and the value nodes for a key of a mapping, nil where there is none.
func child(n *yaml.Node, key string) (k, x *yaml.Node) {
	n = follow(n)
	if n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Kind == yaml.ScalarNode && n.Content[i].Value == key {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}

func descend(n *yaml.Node, path []string) (k, x *yaml.Node) {
	for _, p := range path {
		if k, x = child(n, p); k == nil {
			return nil, nil
		}
		n = x
	}
	return k, x
}
