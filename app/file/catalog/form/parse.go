package form

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"muster/app/template"

	"go.yaml.in/yaml/v3"
)

// MaxDocuments is how many documents one YAML file may have.
const MaxDocuments = 10_000

// Parsed is what one file gave.
type Parsed struct {
	Entries []*Entry
	// Unread has what look like names of entries in a part of the file that could not be read. A reference to one of
	// them is not reported as dangling: the cause has been reported already.
	Unread map[string]bool
}

// ParseNative reads a file of Muster's own form. It never fails: what is wrong goes to out.
func ParseNative(out *Reporter, file string, data []byte) Parsed {
	var p Parsed
	nodes := 0
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for i := 0; ; i++ {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return p
		}
		if err == nil && i == MaxDocuments {
			err = fmt.Errorf("the file has more than %d documents", MaxDocuments)
		}
		if err != nil {
			ReportSyntax(out, file, YAMLError(err))
			p.Unread = namesIn(data)
			return p
		}
		if len(doc.Content) == 0 || Follow(doc.Content[0]).ShortTag() == "!!null" {
			continue // nothing, or only comments, between two separators
		}
		d := &Decoder{Out: out, File: file, Nodes: &nodes}
		if e := d.native(doc.Content[0]); e != nil {
			e.Text = data
			p.Entries = append(p.Entries, e)
		}
	}
}

// native reads one document. Nil means that it is unknown what it describes.
func (d *Decoder) native(n *yaml.Node) *Entry {
	n = Follow(n)
	if n.Kind != yaml.MappingNode {
		d.Wrong(n, "", "a mapping with kind, name and the fields of that kind", "")
		return nil
	}
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	_, k := Child(n, "kind")
	if k == nil {
		d.Report(n, "kind", SeverityError, "kind is required", "one of "+strings.Join(names, ", "))
		return nil
	}
	e := &Entry{File: d.File, Node: n}
	e.Kind = Kind(Follow(k).Value)
	if !IsKind(e.Kind) {
		hint := DidYouMean(string(e.Kind), names)
		d.Wrong(Follow(k), "kind", "one of "+strings.Join(names, ", "), hint)
		return nil
	}
	doc := NativeDoc(e.Kind)
	d.places = placesOf(reflect.TypeOf(doc).Elem())
	return d.Entry(e, doc, fromNative)
}

func IsKind(k Kind) bool {
	for _, known := range kinds {
		if k == known {
			return true
		}
	}
	return false
}

// ParseCoopr reads a file of Coopr's form; its folder determines its kind. It never fails.
func ParseCoopr(out *Reporter, file string, k Kind, data []byte) Parsed {
	n, err := JSONNode(data)
	if err != nil {
		ReportSyntax(out, file, err)
		return Parsed{Unread: namesIn(data)}
	}
	nodes := 0
	d := &Decoder{Out: out, File: file, Nodes: &nodes, Lenient: true}
	if n.Kind != yaml.MappingNode {
		d.Wrong(n, "", "an object", "")
		return Parsed{}
	}
	e := &Entry{Key: Key{Kind: k}, File: file, Node: n, Coopr: true, Lenient: true}
	if e = d.Entry(e, CooprDoc(k), FromCoopr); e == nil {
		return Parsed{}
	}
	return Parsed{Entries: []*Entry{e}}
}

// Entry fills doc from the entry's node and turns it into the app's word for it. Nil means that it has no usable name.
func (d *Decoder) Entry(e *Entry, doc any, convert func(e *Entry, doc any) any) *Entry {
	if _, x := Child(e.Node, "name"); x != nil && Follow(x).Kind == yaml.ScalarNode {
		e.Name = Follow(x).Value
	}
	d.subject, d.of = string(e.Kind), Key{Kind: e.Kind}
	if GoodName(e.Name) {
		d.subject, d.of = e.Key.String(), e.Key
	}
	before := d.Out.Errors
	d.Value(e.Node, ValueOf(doc), "")
	if !GoodName(e.Name) {
		return nil
	}
	e.Value, e.Broken = convert(e, doc), d.Out.Errors > before
	return e
}

// ValueOf returns what a pointer points to, ready to be set.
func ValueOf(pointer any) reflect.Value { return reflect.ValueOf(pointer).Elem() }

// ReportSyntax reports a file that could not be read to its end.
func ReportSyntax(out *Reporter, file string, err error) {
	p := Problem{Origin: template.Origin{File: file}, Severity: SeverityError, Message: err.Error()}
	var s *syntaxError
	if errors.As(err, &s) {
		p.Origin.Line, p.Column = s.line, s.column
	}
	out.Add(p)
}

var yamlPlace = regexp.MustCompile(`^(?:yaml: )?(?:(?:.*: )?line ([0-9]+): )?(.*)$`)

// YAMLError takes the line out of the parser's message.
func YAMLError(err error) error {
	m := yamlPlace.FindStringSubmatch(strings.ReplaceAll(err.Error(), "\n", " "))
	if m == nil {
		return err
	}
	line, _ := strconv.Atoi(m[1])
	return &syntaxError{line: line, message: "invalid YAML: " + m[2]}
}

var nameLine = regexp.MustCompile(`(?m)^[ \t]*"?name"?[ \t]*:[ \t]*["']?([A-Za-z0-9_.-]{1,255})["']?[ \t,]*\r?$`)

func namesIn(data []byte) map[string]bool {
	names := map[string]bool{}
	for _, m := range nameLine.FindAllSubmatch(data, 1000) {
		names[string(m[1])] = true
	}
	return names
}
