package tenantfile

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"muster/app"
)

// Bounds that keep a hostile file from eating the process.
const (
	maxDepth    = 32
	maxNodes    = 500_000
	maxProblems = 200
)

// Files implements app.TenantFiles.
type Files struct{}

var _ app.TenantFiles = Files{}

// ReadTenant implements app.TenantFiles.
func (Files) ReadTenant(text string) (s app.TenantSettings, places map[string]app.TenantPlace, problems []app.TenantProblem) {
	r := &reader{places: map[string]app.TenantPlace{}}
	root := r.document(text)
	if root != nil && r.form(root) {
		r.read(root, reflect.ValueOf(&s).Elem(), "", 0)
	}
	return s, r.places, r.problems
}

// reader fills values from nodes, by the names that they have in JSON.
type reader struct {
	places   map[string]app.TenantPlace
	problems []app.TenantProblem
	nodes    int
}

func (r *reader) wrong(line, column int, path, message, hint string) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, app.TenantProblem{TenantPlace: app.TenantPlace{Line: line, Column: column}, Path: path, Severity: "error", Message: message, Hint: hint})
	}
}

func (r *reader) bad(n *yaml.Node, path, format string, args ...any) {
	r.wrong(n.Line, n.Column, path, fmt.Sprintf(format, args...), "")
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?line (\d+): `)

// document gives the one document of a text; nil where there is none.
func (r *reader) document(text string) *yaml.Node {
	dec := yaml.NewDecoder(strings.NewReader(text))
	var doc, more yaml.Node
	err := dec.Decode(&doc)
	if err == nil {
		if next := dec.Decode(&more); next == nil {
			r.bad(&more, "", "The file has more than one document.")
			return nil
		} else if !errors.Is(next, io.EOF) {
			err = next
		}
	}
	switch {
	case errors.Is(err, io.EOF):
		r.wrong(0, 0, "", "The file is empty.", "Begin with what muster tenant export writes.")
		return nil
	case err != nil:
		line, message := 0, strings.TrimPrefix(err.Error(), "yaml: ")
		if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
			line, _ = strconv.Atoi(m[1])
			message = err.Error()[len(m[0]):]
		}
		r.wrong(line, 0, "", "The file is no YAML: "+message+".", "")
		return nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		r.bad(root, "", "The file holds no settings of a tenant: it is no mapping.")
		return nil
	}
	return root
}

// form looks at the version of the form before anything else: by another one all else may mean something else.
func (r *reader) form(root *yaml.Node) bool {
	const key = "muster_tenant"
	for i := 0; i+1 < len(root.Content); i += 2 {
		v := root.Content[i+1]
		if root.Content[i].Value != key {
			continue
		}
		if v.Value == strconv.Itoa(app.TenantForm) && v.Kind == yaml.ScalarNode {
			return true
		}
		r.wrong(v.Line, v.Column, key, fmt.Sprintf("The file is of form %.20s; this Muster knows form %d.", v.Value, app.TenantForm), "Export it anew, or bring it to a Muster of the version that it is from.")
		return false
	}
	r.wrong(root.Line, root.Column, key, "The file does not say that it holds the settings of a tenant.", fmt.Sprintf("Its first line is %s: %d.", key, app.TenantForm))
	return false
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

var textual = reflect.TypeFor[encoding.TextUnmarshaler]()

// read fills a value. Whatever does not fit is told, and left as it was.
func (r *reader) read(n *yaml.Node, v reflect.Value, path string, depth int) {
	if r.nodes++; depth > maxDepth || r.nodes > maxNodes {
		if len(r.problems) == 0 || r.nodes <= maxNodes {
			r.bad(n, path, "The file is nested too deeply, or too large.")
		}
		return
	}
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		r.bad(n, path, "Anchors and aliases have no place here.")
		return
	}
	if path != "" {
		if _, known := r.places[path]; !known {
			r.places[path] = app.TenantPlace{Line: n.Line, Column: n.Column}
		}
	}
	if v.Kind() == reflect.Pointer {
		if v.Type().Elem().Kind() != reflect.Struct || n.ShortTag() != "!!null" {
			v.Set(reflect.New(v.Type().Elem()))
			r.read(n, v.Elem(), path, depth)
		}
		return
	}
	if reflect.PointerTo(v.Type()).Implements(textual) {
		r.text(n, v, path)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		r.mapping(n, v, path, depth)
	case reflect.Map:
		r.entries(n, v, path, depth)
	case reflect.Slice:
		r.list(n, v, path, depth)
	case reflect.Interface:
		if x, ok := r.any(n, path, depth); ok && x != nil {
			v.Set(reflect.ValueOf(x))
		}
	default:
		r.plain(n, v, path)
	}
}

func (r *reader) text(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.ScalarNode {
		r.bad(n, path, "Here belongs a text.")
		return
	}
	if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(n.Value)); err != nil {
		e := app.AsError(err)
		r.wrong(n.Line, n.Column, path, e.Message, e.Hint)
	}
}

// pairs calls each for the keys of a mapping, which are texts, and each there once.
func (r *reader) pairs(n *yaml.Node, path string, each func(key, value *yaml.Node)) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.bad(n, path, "Here belongs a mapping: names, each with a colon behind it.")
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode || k.Anchor != "" || k.ShortTag() == "!!merge" {
			r.bad(k, path, "Here belongs a plain name.")
			continue
		}
		if line := seen[k.Value]; line > 0 {
			r.bad(k, join(path, k.Value), "%s stands here twice; first on line %d.", k.Value, line)
			continue
		}
		seen[k.Value] = k.Line
		r.places[join(path, k.Value)] = app.TenantPlace{Line: k.Line, Column: k.Column}
		each(k, v)
	}
}

func (r *reader) mapping(n *yaml.Node, v reflect.Value, path string, depth int) {
	known := map[string]int{}
	var names, need []string
	for i := range v.NumField() {
		name, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		known[name] = i
		names = append(names, name)
		if kind := v.Field(i).Kind(); !strings.Contains(options, "omit") && kind != reflect.Bool {
			need = append(need, name)
		}
	}
	have := map[string]bool{}
	r.pairs(n, path, func(k, x *yaml.Node) {
		i, ok := known[k.Value]
		if !ok {
			hint := "This Muster knows: " + strings.Join(names, ", ") + "."
			if near := app.Nearest(k.Value, names); near != "" {
				hint = fmt.Sprintf("Did you mean %s?", near)
			}
			r.wrong(k.Line, k.Column, join(path, k.Value), fmt.Sprintf("There is no field %.60q here.", k.Value), hint)
			return
		}
		have[k.Value] = true
		r.read(x, v.Field(i), join(path, k.Value), depth+1)
	})
	for _, name := range need {
		if !have[name] {
			r.bad(n, path, "It lacks %s.", name)
		}
	}
}

func (r *reader) entries(n *yaml.Node, v reflect.Value, path string, depth int) {
	v.Set(reflect.MakeMap(v.Type()))
	r.pairs(n, path, func(k, x *yaml.Node) {
		one := reflect.New(v.Type().Elem()).Elem()
		r.read(x, one, join(path, k.Value), depth+1)
		v.SetMapIndex(reflect.ValueOf(k.Value).Convert(v.Type().Key()), one)
	})
}

func (r *reader) list(n *yaml.Node, v reflect.Value, path string, depth int) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return
	}
	if n.Kind != yaml.SequenceNode {
		r.bad(n, path, "Here belongs a list.")
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, x := range n.Content {
		r.read(x, v.Index(i), path+"["+strconv.Itoa(i)+"]", depth+1)
	}
}

func (r *reader) plain(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.ScalarNode {
		r.bad(n, path, "Here belongs a single value.")
		return
	}
	tag := n.ShortTag()
	var err error
	switch v.Kind() {
	case reflect.String:
		if tag == "!!null" || tag == "!!binary" {
			r.bad(n, path, "Here belongs a text.")
			return
		}
		v.SetString(n.Value)
	case reflect.Bool:
		var b bool
		if err = n.Decode(&b); err != nil || tag != "!!bool" {
			r.bad(n, path, "Here belongs true or false.")
			return
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int64:
		var i int64
		if err = n.Decode(&i); err != nil || tag != "!!int" {
			r.bad(n, path, "Here belongs a whole number.")
			return
		}
		v.SetInt(i)
	case reflect.Float64:
		var f float64
		if err = n.Decode(&f); err != nil || !slices.Contains([]string{"!!int", "!!float"}, tag) {
			r.bad(n, path, "Here belongs a number.")
			return
		}
		v.SetFloat(f)
	default:
		panic("tenantfile: no way to read a " + v.Type().String())
	}
}

// any reads what may be anything, as JSON would have it.
func (r *reader) any(n *yaml.Node, path string, depth int) (any, bool) {
	switch {
	case n.Kind == yaml.MappingNode:
		m := map[string]any{}
		r.entries(n, reflect.ValueOf(&m).Elem(), path, depth)
		return m, true
	case n.Kind == yaml.SequenceNode:
		l := []any{}
		r.list(n, reflect.ValueOf(&l).Elem(), path, depth)
		return l, true
	case n.Kind != yaml.ScalarNode:
		r.bad(n, path, "Here belongs a value.")
		return nil, false
	}
	switch n.ShortTag() {
	case "!!null":
		return nil, true
	case "!!bool", "!!float":
		var x any
		if err := n.Decode(&x); err == nil {
			return x, true
		}
	case "!!int":
		var f float64
		if err := n.Decode(&f); err == nil {
			return f, true // as the store reads numbers
		}
	case "!!str", "!!timestamp":
		return n.Value, true
	}
	r.bad(n, path, "Here belongs a text, a number, true or false.")
	return nil, false
}

// sorted gives the keys of a map of texts in the order in which people look for them: versions by number, all else by letter.
func sorted(keys []string) []string {
	slices.SortFunc(keys, func(a, b string) int {
		x, errX := strconv.Atoi(a)
		y, errY := strconv.Atoi(b)
		if errX == nil && errY == nil {
			return cmp.Compare(x, y)
		}
		return strings.Compare(a, b)
	})
	return keys
}
