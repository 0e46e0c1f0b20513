package form

import (
	"fmt"
	"regexp"
	"strings"

	"muster/app/template"

	"go.yaml.in/yaml/v3"
)

// Kind is a kind of catalog entry, as written after `kind:`.
type Kind string

const (
	KindProvider Kind = "provider"
	KindHardware Kind = "hardware"
	KindImage    Kind = "image"
	KindService  Kind = "service"
	KindTemplate Kind = "template"
)

var kinds = []Kind{KindProvider, KindHardware, KindImage, KindService, KindTemplate}

// Key is what an entry is known by.
type Key struct {
	Kind Kind
	Name string
}

func (k Key) String() string { return fmt.Sprintf("%s %q", k.Kind, k.Name) }

// Entry is one catalog entry with the place where it was written. Value is one of *app.ProviderSpec,
// *app.HardwareType, *app.ImageType, *app.Service and *app.Template. An entry that could not be read whole, which has
// been reported, is broken: it is no part of the catalog, but what refers to it is not reported as well, and what it
// refers to is still checked.
type Entry struct {
	Key
	File  string
	Text  []byte // the whole file, of our own form
	Node  *yaml.Node
	Coopr bool // it is written in Coopr's form
	// Lenient entries came from Coopr: a broken rule is only a warning.
	Lenient bool
	Value   any
	Broken  bool
	// Inherited is set while the whole of a template is looked at: it knows where its parts are written.
	Inherited *template.Template
	Layers    []Layer            // that the whole is made of, the template itself last
	Depth     int                // how many stand one behind the other, itself among them
	Done      bool               // layers, depth and whole are known
	Own       bool               // a tenant's
	Trusted   bool               // of own ones: see app.CatalogRevision
	Whole     *template.Template // a template with all that it extends and includes; nil where it cannot be made whole
}

var nameShape = regexp.MustCompile(namePattern)

// namePattern is also what the schema says.
const namePattern = `^[A-Za-z0-9_.-]{1,255}$`

func GoodName(s string) bool { return nameShape.MatchString(s) }

// about turns what every entry carries into the app's word for it.
func (e *Entry) about(label, description, icon string) template.About {
	return template.About{
		Name: e.Name, Label: label, Description: description, Icon: icon,
		Origin: template.Origin{File: e.File, Line: e.Node.Line},
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

// At finds the place of a value by its path in our own form: strings are keys, ints are positions in a list. Where the
// path ends early, the nearest place above is given. For a key whose value spans lines it is the key's place.
func (e *Entry) At(path ...any) *yaml.Node {
	place, _, _ := e.Find(path)
	return place
}

// Spell writes a path in the words of the entry's own form, as in constraints.layout.mustcoexist[0].
func (e *Entry) Spell(path []any) string {
	_, words, _ := e.Find(path)
	return words
}

// Find also reports whether the path was followed to its end.
func (e *Entry) Find(path []any) (place *yaml.Node, words string, found bool) {
	n, place := e.Node, e.Node
	lost := false
	for _, p := range path {
		n = Follow(n)
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
			k, x := Child(n, p)
			for i := 0; k == nil && e.Coopr && i < len(cooprPaths[p]); i++ {
				if k, x = Descend(n, cooprPaths[p][i]); k != nil {
					keys = cooprPaths[p][i]
				}
			}
			words = Join(words, strings.Join(keys, "."))
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

// Follow returns what an alias represents.
func Follow(n *yaml.Node) *yaml.Node {
	for i := 0; n.Kind == yaml.AliasNode && n.Alias != nil && i < MaxDepth; i++ {
		n = n.Alias
	}
	return n
}

// Child returns the key and the value nodes for a key of a mapping, nil where there is none.
func Child(n *yaml.Node, key string) (k, x *yaml.Node) {
	n = Follow(n)
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

func Descend(n *yaml.Node, path []string) (k, x *yaml.Node) {
	for _, p := range path {
		if k, x = Child(n, p); k == nil {
			return nil, nil
		}
		n = x
	}
	return k, x
}

// Layer is one template that another is made of, itself among them.
type Layer struct {
	Entry    *Entry
	Template *template.Template
}

func (e *Entry) Origin() template.Origin {
	return template.Origin{File: e.File, Line: e.At("name").Line}
}
