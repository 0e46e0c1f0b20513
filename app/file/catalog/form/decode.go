package form

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"muster/app/template"

	"go.yaml.in/yaml/v3"
)

// Limits that keep a hostile or broken file from eating the process. A file that people write stays far below them;
// aliases that multiply each other do not.
const (
	MaxDepth = 64
	maxNodes = 500_000
)

// Decoder fills structs from one document and reports all that does not fit. Strict, it refuses unknown keys and
// converts nothing; lenient, for Coopr's JSON, it warns of unknown keys, takes null for absent, and takes text for
// numbers and numbers for text where the meaning is plain.
type Decoder struct {
	Out     *Reporter
	File    string
	Lenient bool
	subject string // what is being read, such as `service "app"`; opens every message
	of      Key    // the same, as far as it is known
	depth   int
	Nodes   *int    // visited so far in this file
	Private bool    // values are not to be quoted: they may be secrets
	places  []place // where each key of our own form belongs, for hints
}

// noder is a type that reads itself from a node.
type noder interface {
	fromNode(d *Decoder, n *yaml.Node, path string)
}

// errShape marks a value that does not have the shape that it should; the message is made where it is reported.
var errShape = errors.New("wrong shape")

// Field is one key of a mapping, as both the decoder and the schema see it.
type Field struct {
	Key   string
	doc   string
	need  bool // must be there
	rest  bool // takes the keys that no other field has
	least *float64
	most  *float64
	name  bool // must be a catalog name
	hide  bool // holds secrets
	index []int
	Type  reflect.Type
}

// FieldsOf lists the keys of a struct from its tags: yaml (the key), doc, need, least, most, name, hide.
func FieldsOf(t reflect.Type) []Field {
	var fs []Field
	for _, sf := range reflect.VisibleFields(t) {
		key := sf.Tag.Get("yaml")
		if key == "" {
			continue
		}
		f := Field{Key: key, doc: sf.Tag.Get("doc"), index: sf.Index, Type: sf.Type}
		_, f.need = sf.Tag.Lookup("need")
		_, f.name = sf.Tag.Lookup("name")
		_, f.hide = sf.Tag.Lookup("hide")
		f.rest = key == ",rest"
		for tag, to := range map[string]**float64{"least": &f.least, "most": &f.most} {
			if s, ok := sf.Tag.Lookup(tag); ok {
				v, err := strconv.ParseFloat(s, 64)
				if err != nil {
					panic("catalog: tag " + tag + " of " + t.Name() + "." + sf.Name)
				}
				*to = &v
			}
		}
		fs = append(fs, f)
	}
	return fs
}

// Report says what is wrong at a path of the entry, "" for the entry itself.
func (d *Decoder) Report(n *yaml.Node, path string, s Severity, message, hint string) {
	if d.subject != "" {
		message = d.subject + ": " + message
	}
	d.Out.Add(Problem{Origin: template.Origin{File: d.File, Line: n.Line}, Column: n.Column, Severity: s, Message: message, Hint: hint,
		Field: path, Kind: string(d.of.Kind), Name: d.of.Name})
}

// Wrong reports a value of the wrong type or shape.
func (d *Decoder) Wrong(n *yaml.Node, path, expected, hint string) {
	d.Report(n, path, SeverityError, fmt.Sprintf("%s must be %s (found %s)", cmp.Or(path, "the entry"), expected, d.describe(n)), hint)
}

// describe says what a node is, in words.
func (d *Decoder) describe(n *yaml.Node) string {
	var kind string
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		switch n.ShortTag() {
		case "!!null":
			return "nothing"
		case "!!str", "!!timestamp":
			kind = "text"
		case "!!int", "!!float":
			kind = "a number"
		case "!!bool":
			kind = "true or false"
		default:
			kind = "a value tagged " + n.ShortTag()
		}
	default:
		return "something else"
	}
	if d.Private {
		return kind
	}
	v := n.Value
	if utf8.RuneCountInString(v) > 40 {
		v = string([]rune(v)[:40]) + "…"
	}
	switch n.ShortTag() {
	case "!!int", "!!float", "!!bool":
		return v
	case "!!str", "!!timestamp":
		return strconv.Quote(v)
	}
	return kind + " " + v
}

// enter follows an alias and counts the visit. False means that the limits are reached, which it has reported.
func (d *Decoder) enter(n *yaml.Node, path string) (*yaml.Node, bool) {
	for i := 0; n.Kind == yaml.AliasNode && n.Alias != nil && i < MaxDepth; i++ {
		n = n.Alias
	}
	*d.Nodes++
	if *d.Nodes == maxNodes {
		d.Report(n, "", SeverityError, fmt.Sprintf("the file has more than %d values, counting each alias in full", maxNodes), "")
	}
	if *d.Nodes >= maxNodes {
		return n, false
	}
	if d.depth >= MaxDepth {
		d.Report(n, Clip(path), SeverityError, fmt.Sprintf("%s: nested more than %d levels deep", Clip(path), MaxDepth), "")
		return n, false
	}
	d.depth++
	return n, true
}

func Clip(path string) string {
	if len(path) > 60 {
		return strings.ToValidUTF8(path[:60], "") + "…"
	}
	return path
}

// Value fills v from n.
func (d *Decoder) Value(n *yaml.Node, v reflect.Value, path string) {
	n, ok := d.enter(n, path)
	if !ok {
		return
	}
	defer func() { d.depth-- }()
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if x, ok := v.Addr().Interface().(noder); ok {
		x.fromNode(d, n, path)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.mapping(n, v, path)
	case reflect.Map:
		d.table(n, v, path)
	case reflect.Slice:
		d.list(n, v, path)
	case reflect.String:
		if s, ok := d.text(n, path); ok {
			v.SetString(s)
		}
	case reflect.Int:
		if i, ok := d.integer(n, path); ok {
			v.SetInt(int64(i))
		}
	case reflect.Float64:
		if f, ok := d.number(n, path); ok {
			v.SetFloat(f)
		}
	case reflect.Bool:
		if b, ok := d.truth(n, path); ok {
			v.SetBool(b)
		}
	case reflect.Interface:
		if x := d.Plain(n, path); x != nil {
			v.Set(reflect.ValueOf(x))
		}
	default:
		panic("catalog: cannot decode into " + v.Type().String())
	}
}

// mapping fills a struct.
func (d *Decoder) mapping(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		d.Wrong(n, path, "a mapping", d.emptyHint(n))
		return
	}
	fields := FieldsOf(v.Type())
	byKey, keys, rest := map[string]Field{}, []string{}, (*Field)(nil)
	for _, f := range fields {
		if f.rest {
			rest = &f
			continue
		}
		byKey[f.Key] = f
		keys = append(keys, f.Key)
	}
	seen := map[string]bool{}
	d.pairs(n, path, func(key string, k, x *yaml.Node) {
		f, known := byKey[key]
		switch {
		case known && d.absent(x):
			return
		case known:
			seen[key] = true
		case rest != nil && x.Kind == yaml.ScalarNode:
			d.keep(x, key, v.FieldByIndex(rest.index))
			return
		default:
			d.unknown(k, path, keys)
			return
		}
		was, before := d.Private, d.Out.Errors
		d.Private = was || f.hide
		d.Value(x, v.FieldByIndex(f.index), Join(path, key))
		d.Private = was
		if d.Out.Errors == before {
			d.limits(x, f, v.FieldByIndex(f.index), Join(path, key))
		}
	})
	for _, f := range fields {
		if f.need && !seen[f.Key] {
			d.Report(n, Join(path, f.Key), SeverityError, fmt.Sprintf("%s is required", Join(path, f.Key)), "")
		}
	}
}

// keep takes a value that no field has as text.
func (d *Decoder) keep(x *yaml.Node, key string, m reflect.Value) {
	if d.absent(x) {
		return
	}
	if m.IsNil() {
		m.Set(reflect.MakeMap(m.Type()))
	}
	m.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(x.Value))
}

// unknown reports a key that no field has: an error when strict, else a warning.
func (d *Decoder) unknown(k *yaml.Node, path string, known []string) {
	severity := SeverityError
	if d.Lenient {
		severity = SeverityWarning
	}
	hint := DidYouMean(k.Value, known)
	switch {
	case k.ShortTag() == "!!merge":
		hint = "merge keys aren't supported: write the keys out, or use an alias for the whole value"
	case hint == "":
		hint = elsewhere(d.places, path, k.Value)
	}
	if hint == "" && len(known) > 0 {
		hint = "known keys: " + strings.Join(known, ", ")
	}
	d.Report(k, Join(path, Clip(k.Value)), severity, fmt.Sprintf("unknown key %s", Join(path, Clip(k.Value))), hint)
}

// limits checks what a field's tags say of a value that was read well.
func (d *Decoder) limits(n *yaml.Node, f Field, v reflect.Value, path string) {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	switch {
	case f.least != nil && asFloat(v) < *f.least:
		d.Wrong(n, path, fmt.Sprintf("a number of at least %v", *f.least), "")
	case f.most != nil && asFloat(v) > *f.most:
		d.Wrong(n, path, fmt.Sprintf("a number of at most %v", *f.most), "")
	case f.need && v.Kind() == reflect.String && v.Len() == 0:
		d.Report(n, path, SeverityError, path+" must not be empty", "")
	case f.name && !GoodName(v.String()):
		d.Wrong(n, path, "a name of letters, digits, '_', '.' and '-', at most 255 characters", "")
	}
}

func asFloat(v reflect.Value) float64 {
	if v.CanInt() {
		return float64(v.Int())
	}
	return v.Float()
}

// table fills a map with text keys.
func (d *Decoder) table(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		d.Wrong(n, path, "a mapping", d.emptyHint(n))
		return
	}
	m := reflect.MakeMap(v.Type())
	d.pairs(n, path, func(key string, _, x *yaml.Node) {
		if d.absent(x) {
			return
		}
		e := reflect.New(v.Type().Elem()).Elem()
		d.Value(x, e, Join(path, Clip(key)))
		m.SetMapIndex(reflect.ValueOf(key), e)
	})
	v.Set(m)
}

func (d *Decoder) list(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.SequenceNode {
		hint := d.emptyHint(n)
		if n.Kind == yaml.ScalarNode && hint == "" {
			hint = "put it in brackets to make it a list"
		}
		d.Wrong(n, path, "a list", hint)
		return
	}
	s := reflect.MakeSlice(v.Type(), 0, min(len(n.Content), 1024))
	for i, x := range n.Content {
		e := reflect.New(v.Type().Elem()).Elem()
		d.Value(x, e, fmt.Sprintf("%s[%d]", path, i))
		s = reflect.Append(s, e)
		if *d.Nodes >= maxNodes {
			break
		}
	}
	v.Set(s)
}

// pairs walks a mapping's keys in order and reports keys that are no text or come twice.
func (d *Decoder) pairs(n *yaml.Node, path string, visit func(key string, k, x *yaml.Node)) {
	seen := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content) && *d.Nodes < maxNodes; i += 2 {
		k, x := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode || k.ShortTag() != "!!str" && k.ShortTag() != "!!merge" {
			d.Wrong(k, "a key of "+cmp.Or(path, "the entry"), "text", quoteHint(k))
			continue
		}
		if line, twice := seen[k.Value]; twice {
			d.Report(k, Join(path, Clip(k.Value)), SeverityError, fmt.Sprintf("%s is set twice, first on line %d", Join(path, Clip(k.Value)), line), "")
			continue
		}
		seen[k.Value] = k.Line
		visit(k.Value, k, x)
	}
}

// text reads a string. A bare date is text too: it has no other meaning here.
func (d *Decoder) text(n *yaml.Node, path string) (string, bool) {
	if n.Kind == yaml.ScalarNode {
		switch n.ShortTag() {
		case "!!str", "!!timestamp":
			return n.Value, true
		case "!!int", "!!float", "!!bool":
			if d.Lenient {
				return n.Value, true
			}
		}
	}
	d.Wrong(n, path, "text", quoteHint(n))
	return "", false
}

func quoteHint(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" || len(n.Value) > 40 {
		return ""
	}
	return "put it in quotes to make it text"
}

func (d *Decoder) integer(n *yaml.Node, path string) (int, bool) {
	if n.Kind == yaml.ScalarNode {
		var i int
		var err error
		switch tag := n.ShortTag(); {
		case tag == "!!int":
			err = n.Decode(&i)
		case tag == "!!str" && d.Lenient:
			i, err = strconv.Atoi(n.Value)
		default:
			err = errShape
		}
		if err == nil && i >= math.MinInt32 && i <= math.MaxInt32 {
			return i, true
		}
	}
	d.Wrong(n, path, "a whole number", "")
	return 0, false
}

func (d *Decoder) number(n *yaml.Node, path string) (float64, bool) {
	if n.Kind == yaml.ScalarNode {
		var f float64
		var err error
		switch tag := n.ShortTag(); {
		case tag == "!!int", tag == "!!float":
			err = n.Decode(&f)
		case tag == "!!str" && d.Lenient:
			f, err = strconv.ParseFloat(n.Value, 64)
		default:
			err = errShape
		}
		if err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f, true
		}
	}
	d.Wrong(n, path, "a number", "")
	return 0, false
}

func (d *Decoder) truth(n *yaml.Node, path string) (value, ok bool) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!bool" && n.Decode(&value) == nil {
		return value, true
	}
	d.Wrong(n, path, "true or false", "")
	return false, false
}

// absent reports whether a value represents no value: null in Coopr's JSON. In our own form a key without a value is
// refused instead, since something was probably forgotten.
func (d *Decoder) absent(n *yaml.Node) bool {
	return d.Lenient && n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

func (d *Decoder) emptyHint(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return "leave the key out, or indent its value below it"
	}
	return ""
}

func Join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
