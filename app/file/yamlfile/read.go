package yamlfile

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"muster/app"
	"muster/app/humanize"
	"muster/app/template"

	"go.yaml.in/yaml/v3"
)

// Bounds that keep a hostile file from eating the process. The length of a file is for its reader to bound.
const (
	maxDepth    = 32
	maxNodes    = 500_000
	maxProblems = 200
	maxReported = 20 // in one error
)

// Place is where something is in a file.
type Place struct{ Line, Column int }

// Problem is one mistake. Path is such as [0].parameters.size, "" for the whole file.
type Problem struct {
	Place
	Path, Message, Hint string
}

// File is what is known of a file while it is read.
type File struct {
	Root     *yaml.Node       // of its one document; nil if it is empty or no YAML
	Empty    bool             // there is nothing in it
	Places   map[string]Place // of every path that was read
	Problems []Problem
	// Complete has every field that is not optional be there.
	Complete bool
	nodes    int
}

// Wrong notes a mistake.
func (f *File) Wrong(line, column int, path, message, hint string) {
	if len(f.Problems) < maxProblems {
		f.Problems = append(f.Problems, Problem{Place{line, column}, path, message, hint})
	}
}

// Bad notes a mistake at a node.
func (f *File) Bad(n *yaml.Node, path, format string, args ...any) {
	f.Wrong(n.Line, n.Column, path, fmt.Sprintf(format, args...), "")
}

// Err is all mistakes as one error, each on a line of its own with its place; nil if there are none. Name is what the file is called, ""
// where the text has no name; field is the error's.
func (f *File) Err(name, field string) error {
	if len(f.Problems) == 0 {
		return nil
	}
	e := &app.Error{Code: app.EInvalid, Field: field}
	var lines []string
	for i, p := range f.Problems {
		if i == maxReported {
			lines = append(lines, fmt.Sprintf("and %d more", len(f.Problems)-i))
			break
		}
		lines = append(lines, p.text(name, len(f.Problems) > 1))
	}
	e.Message = strings.Join(lines, "\n")
	if len(f.Problems) == 1 {
		e.Hint = f.Problems[0].Hint
	}
	return e
}

func (p Problem) text(name string, hint bool) string {
	var b strings.Builder
	switch {
	case name != "" && p.Line > 0:
		fmt.Fprintf(&b, "%s:%d:%d: ", name, p.Line, max(p.Column, 1))
	case name != "":
		b.WriteString(name + ": ")
	case p.Line > 0:
		fmt.Fprintf(&b, "Line %d: ", p.Line)
	}
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Message)
	if hint && p.Hint != "" {
		b.WriteString(" " + p.Hint)
	}
	return b.String()
}

var (
	yamlLine   = regexp.MustCompile(`^(?:yaml: )?line (\d+): `)
	surrogates = regexp.MustCompile(`\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`)
)

// Parse finds the one document of a text in YAML or JSON.
func Parse(text string) *File {
	f := &File{Places: map[string]Place{}}
	if strings.Contains(text, `\u`) && json.Valid([]byte(text)) { // JSON writes one character as two halves, which YAML does not know
		text = surrogates.ReplaceAllStringFunc(text, func(pair string) string {
			if len(pair) != 12 {
				return pair
			}
			high, _ := strconv.ParseUint(pair[2:6], 16, 16)
			low, _ := strconv.ParseUint(pair[8:], 16, 16)
			return string(utf16.DecodeRune(rune(high), rune(low)))
		})
	}
	dec := yaml.NewDecoder(strings.NewReader(text))
	var doc, more yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		f.Empty = true
		return f
	}
	if err == nil {
		next := dec.Decode(&more)
		if next == nil {
			f.Bad(&more, "", "The file has more than one document.")
			return f
		}
		if !errors.Is(next, io.EOF) {
			err = next
		}
	}
	if err != nil {
		line, message := 0, err.Error()
		if m := yamlLine.FindStringSubmatch(message); m != nil {
			line, _ = strconv.Atoi(m[1])
			message = message[len(m[0]):]
		}
		f.Wrong(line, 0, "", "Invalid YAML: "+strings.TrimSuffix(humanize.PlainText(message), ".")+".", "")
		return f
	}
	f.Root = doc.Content[0]
	return f
}

// Read fills what into points to from a node, by the names that fields have in JSON. What does not fit is noted, and left as it was.
func (f *File) Read(n *yaml.Node, into any, path string) {
	f.read(n, reflect.ValueOf(into).Elem(), path, 0)
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

var textual = reflect.TypeFor[encoding.TextUnmarshaler]()

// read fills a value. Whatever does not fit is reported, and left as it was.
func (f *File) read(n *yaml.Node, v reflect.Value, path string, depth int) {
	if f.nodes++; depth > maxDepth || f.nodes > maxNodes {
		if len(f.Problems) == 0 || f.nodes <= maxNodes {
			f.Bad(n, path, "The file is nested too deeply or is too large.")
		}
		return
	}
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		f.Bad(n, path, "Anchors and aliases aren't supported here: write the value itself.")
		return
	}
	if path != "" {
		if _, known := f.Places[path]; !known {
			f.Places[path] = Place{Line: n.Line, Column: n.Column}
		}
	}
	if v.Kind() == reflect.Pointer {
		if v.Type().Elem().Kind() != reflect.Struct || n.ShortTag() != "!!null" {
			v.Set(reflect.New(v.Type().Elem()))
			f.read(n, v.Elem(), path, depth)
		}
		return
	}
	if reflect.PointerTo(v.Type()).Implements(textual) {
		f.text(n, v, path)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		f.mapping(n, v, path, depth)
	case reflect.Map:
		f.entries(n, v, path, depth)
	case reflect.Slice:
		f.list(n, v, path, depth)
	case reflect.Interface:
		if x, ok := f.any(n, path, depth); ok && x != nil {
			v.Set(reflect.ValueOf(x))
		}
	default:
		f.plain(n, v, path)
	}
}

func (f *File) text(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.ScalarNode {
		f.Bad(n, path, "This must be text.")
		return
	}
	if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(n.Value)); err != nil {
		e := app.AsError(err)
		if e.Code == app.EInternal { // of the standard library
			e = &app.Error{Message: humanize.PlainError(err) + "."}
		}
		f.Wrong(n.Line, n.Column, path, e.Message, e.Hint)
	}
}

// pairs calls each for the keys of a mapping, which are texts, and each there once.
func (f *File) pairs(n *yaml.Node, path string, each func(key, value *yaml.Node)) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return
	}
	if n.Kind != yaml.MappingNode {
		f.Bad(n, path, "This must be keys and values, such as name: web.")
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode || k.Anchor != "" || k.ShortTag() == "!!merge" {
			f.Bad(k, path, "A key must be plain text.")
			continue
		}
		if line := seen[k.Value]; line > 0 {
			f.Bad(k, join(path, k.Value), "%s is set twice, first on line %d.", k.Value, line)
			continue
		}
		seen[k.Value] = k.Line
		f.Places[join(path, k.Value)] = Place{Line: k.Line, Column: k.Column}
		each(k, v)
	}
}

func (f *File) mapping(n *yaml.Node, v reflect.Value, path string, depth int) {
	known := map[string]reflect.Value{}
	var names, need []string
	for _, at := range reflect.VisibleFields(v.Type()) { // also those of structs in it, as JSON has them
		name, options, _ := strings.Cut(at.Tag.Get("json"), ",")
		if name == "-" || name == "" {
			continue
		}
		known[name] = v.FieldByIndex(at.Index)
		names = append(names, name)
		if kind := at.Type.Kind(); !strings.Contains(options, "omit") && kind != reflect.Bool {
			need = append(need, name)
		}
	}
	have := map[string]bool{}
	f.pairs(n, path, func(k, x *yaml.Node) {
		field, ok := known[k.Value]
		if !ok {
			hint := "Known: " + strings.Join(names, ", ") + "."
			if near := humanize.Nearest(k.Value, names); near != "" {
				hint = fmt.Sprintf("Did you mean %s?", near)
			}
			f.Wrong(k.Line, k.Column, join(path, k.Value), fmt.Sprintf("Unknown field %.60q.", k.Value), hint)
			return
		}
		have[k.Value] = true
		f.read(x, field, join(path, k.Value), depth+1)
	})
	for _, name := range need {
		if f.Complete && !have[name] {
			f.Bad(n, path, "%s is missing.", name)
		}
	}
}

func (f *File) entries(n *yaml.Node, v reflect.Value, path string, depth int) {
	v.Set(reflect.MakeMap(v.Type()))
	f.pairs(n, path, func(k, x *yaml.Node) {
		one := reflect.New(v.Type().Elem()).Elem()
		f.read(x, one, join(path, k.Value), depth+1)
		v.SetMapIndex(reflect.ValueOf(k.Value).Convert(v.Type().Key()), one)
	})
}

func (f *File) list(n *yaml.Node, v reflect.Value, path string, depth int) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return
	}
	if n.Kind != yaml.SequenceNode {
		f.Bad(n, path, "This must be a list.")
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, x := range n.Content {
		f.read(x, v.Index(i), path+"["+strconv.Itoa(i)+"]", depth+1)
	}
}

// one is what a single value is called.
var one = map[reflect.Kind]string{reflect.String: "text", reflect.Bool: "true or false", reflect.Int: "a whole number", reflect.Int64: "a whole number", reflect.Float64: "a number"}

func (f *File) plain(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.ScalarNode {
		f.Bad(n, path, "This must be %s.", one[v.Kind()])
		return
	}
	tag := n.ShortTag()
	var err error
	switch v.Kind() {
	case reflect.String:
		if tag == "!!null" || tag == "!!binary" {
			f.Bad(n, path, "This must be text.")
			return
		}
		v.SetString(n.Value)
	case reflect.Bool:
		var b bool
		if err = n.Decode(&b); err != nil || tag != "!!bool" {
			f.Bad(n, path, "This must be %s.", one[reflect.Bool])
			return
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int64:
		if v.Type() == reflect.TypeFor[time.Duration]() && tag == "!!str" {
			d, err := template.ParseLength(n.Value)
			if err != nil {
				f.Bad(n, path, "This must be a duration, such as 30m, 8h or 2d.")
			}
			v.SetInt(int64(d))
			return
		}
		var i int64
		if err = n.Decode(&i); err != nil || tag != "!!int" {
			f.Bad(n, path, "This must be %s.", one[reflect.Int])
			return
		}
		v.SetInt(i)
	case reflect.Float64:
		var x float64
		err = n.Decode(&x)
		if err != nil || !finite(x) || !slices.Contains([]string{"!!int", "!!float"}, tag) {
			f.Bad(n, path, "This must be %s.", one[reflect.Float64])
			return
		}
		v.SetFloat(x)
	default:
		panic("yamlfile: no way to read a " + v.Type().String())
	}
}

// finite reports whether JSON could hold a number: .nan and .inf are numbers of YAML only.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// any reads what may be anything, as JSON would have it.
func (f *File) any(n *yaml.Node, path string, depth int) (any, bool) {
	switch {
	case n.Kind == yaml.MappingNode:
		m := map[string]any{}
		f.entries(n, reflect.ValueOf(&m).Elem(), path, depth)
		return m, true
	case n.Kind == yaml.SequenceNode:
		l := []any{}
		f.list(n, reflect.ValueOf(&l).Elem(), path, depth)
		return l, true
	case n.Kind != yaml.ScalarNode:
		f.Bad(n, path, "This must be a value.")
		return nil, false
	}
	switch n.ShortTag() {
	case "!!null":
		return nil, true
	case "!!bool", "!!float":
		var x any
		err := n.Decode(&x)
		if number, is := x.(float64); err == nil && (!is || finite(number)) {
			return x, true
		}
	case "!!int":
		var x float64
		if err := n.Decode(&x); err == nil && finite(x) {
			return x, true // as the store reads numbers
		}
	case "!!str", "!!timestamp":
		return n.Value, true
	}
	f.Bad(n, path, "This must be text, a number, true or false.")
	return nil, false
}
