package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"muster/app"
)

// maxDocuments is how many documents one YAML file may have.
const maxDocuments = 10_000

// parsed is what one file gave.
type parsed struct {
	entries []*entry
	// unread has what look like names of entries in a part of the file that could not be read. A reference to one of
	// them is not reported as dangling: the cause has been reported already.
	unread map[string]bool
}

// parseNative reads a file of Muster's own form. It never fails: what is wrong goes to out.
func parseNative(out *reporter, file string, data []byte) parsed {
	var p parsed
	nodes := 0
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for i := 0; ; i++ {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return p
		}
		if err == nil && i == maxDocuments {
			err = fmt.Errorf("the file has more than %d documents", maxDocuments)
		}
		if err != nil {
			reportSyntax(out, file, yamlError(err))
			p.unread = namesIn(data)
			return p
		}
		if len(doc.Content) == 0 || follow(doc.Content[0]).ShortTag() == "!!null" {
			continue // nothing, or only comments, between two separators
		}
		d := &decoder{out: out, file: file, nodes: &nodes}
		if e := d.native(doc.Content[0]); e != nil {
			e.text = data
			p.entries = append(p.entries, e)
		}
	}
}

// native reads one document. Nil means that it cannot be told what it describes.
func (d *decoder) native(n *yaml.Node) *entry {
	n = follow(n)
	if n.Kind != yaml.MappingNode {
		d.wrong(n, "", "a mapping with kind, name and what belongs to that kind", "")
		return nil
	}
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	_, k := child(n, "kind")
	if k == nil {
		d.report(n, "kind", SeverityError, "kind is missing; it is required", "one of "+strings.Join(names, ", "))
		return nil
	}
	e := &entry{file: d.file, node: n}
	e.kind = kind(follow(k).Value)
	if !isKind(e.kind) {
		hint := didYouMean(string(e.kind), names)
		d.wrong(follow(k), "kind", "one of "+strings.Join(names, ", "), hint)
		return nil
	}
	doc := nativeDoc(e.kind)
	d.places = placesOf(reflect.TypeOf(doc).Elem())
	return d.entry(e, doc, fromNative)
}

func isKind(k kind) bool {
	for _, known := range kinds {
		if k == known {
			return true
		}
	}
	return false
}

// parseCoopr reads a file of Coopr's form; the folder that it is in told its kind. It never fails.
func parseCoopr(out *reporter, file string, k kind, data []byte) parsed {
	n, err := jsonNode(data)
	if err != nil {
		reportSyntax(out, file, err)
		return parsed{unread: namesIn(data)}
	}
	nodes := 0
	d := &decoder{out: out, file: file, nodes: &nodes, lenient: true}
	if n.Kind != yaml.MappingNode {
		d.wrong(n, "", "an object", "")
		return parsed{}
	}
	e := &entry{key: key{kind: k}, file: file, node: n, coopr: true, lenient: true}
	if e = d.entry(e, cooprDoc(k), fromCoopr); e == nil {
		return parsed{}
	}
	return parsed{entries: []*entry{e}}
}

// entry fills doc from the entry's node and turns it into the app's word for it. Nil means that it has no usable name.
func (d *decoder) entry(e *entry, doc any, convert func(e *entry, doc any) any) *entry {
	if _, x := child(e.node, "name"); x != nil && follow(x).Kind == yaml.ScalarNode {
		e.name = follow(x).Value
	}
	d.subject, d.of = string(e.kind), key{kind: e.kind}
	if goodName(e.name) {
		d.subject, d.of = e.key.String(), e.key
	}
	before := d.out.errors
	d.value(e.node, valueOf(doc), "")
	if !goodName(e.name) {
		return nil
	}
	e.value, e.broken = convert(e, doc), d.out.errors > before
	return e
}

// valueOf gives what a pointer points to, ready to be set.
func valueOf(pointer any) reflect.Value { return reflect.ValueOf(pointer).Elem() }

// reportSyntax reports a file that could not be read to its end.
func reportSyntax(out *reporter, file string, err error) {
	p := Problem{Origin: app.Origin{File: file}, Severity: SeverityError, Message: err.Error()}
	var s *syntaxError
	if errors.As(err, &s) {
		p.Origin.Line, p.Column = s.line, s.column
	}
	out.add(p)
}

var yamlPlace = regexp.MustCompile(`^(?:yaml: )?(?:(?:.*: )?line ([0-9]+): )?(.*)$`)

// yamlError takes the line out of the parser's message.
func yamlError(err error) error {
	m := yamlPlace.FindStringSubmatch(strings.ReplaceAll(err.Error(), "\n", " "))
	if m == nil {
		return err
	}
	line, _ := strconv.Atoi(m[1])
	return &syntaxError{line: line, message: "this is not YAML: " + m[2]}
}

var nameLine = regexp.MustCompile(`(?m)^[ \t]*"?name"?[ \t]*:[ \t]*["']?([A-Za-z0-9_.-]{1,255})["']?[ \t,]*\r?$`)

func namesIn(data []byte) map[string]bool {
	names := map[string]bool{}
	for _, m := range nameLine.FindAllSubmatch(data, 1000) {
		names[string(m[1])] = true
	}
	return names
}
