package payload

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/humanize"
)

// Object is a JSON object with its place. A missing one is empty, so that reading its fields works too.
type Object struct {
	at    string
	m     map[string]any
	first *error // shared by all objects of a body
}

// Err returns the first error, nil if there was none.
func (o *Object) Err() error { return *o.first }

// All returns the whole object.
func (o *Object) All() map[string]any { return o.m }

// Has reports whether a field exists and isn't null.
func (o *Object) Has(name string) bool { return o.m[name] != nil }

// In returns a nested object, an empty one if missing.
func (o *Object) In(name string) *Object {
	m, _ := take[map[string]any](o, name, "an object")
	return &Object{at: o.place(name), m: m, first: o.first}
}

// Text returns a string, "" if missing.
func (o *Object) Text(name string) string {
	s, _ := take[string](o, name, "text")
	return s
}

// First returns the first non-empty string.
func (o *Object) First(names ...string) string {
	found := ""
	for _, name := range names {
		if s := o.Text(name); found == "" {
			found = s
		}
	}
	return found
}

// Need is Text for a required field.
func (o *Object) Need(name string) string {
	s := o.Text(name)
	if s == "" {
		o.Wrong(name, "This field is required.")
	}
	return s
}

// Bool returns a boolean, false if missing.
func (o *Object) Bool(name string) bool {
	b, _ := take[bool](o, name, "true or false")
	return b
}

// Number returns a positive whole number, 0 if missing.
func (o *Object) Number(name string) int64 {
	n, ok := take[int64](o, name, "a whole number")
	if ok && n <= 0 {
		o.Wrong(name, "Must be at least 1.")
		return 0
	}
	return n
}

// NeedNumber is Number for a required field.
func (o *Object) NeedNumber(name string) int64 {
	n := o.Number(name)
	if n == 0 {
		o.Wrong(name, "This field is required.")
	}
	return n
}

// Word returns a string, or a whole number as a string; "" if missing.
func (o *Object) Word(name string) string {
	if n, ok := o.m[name].(int64); ok {
		return strconv.FormatInt(n, 10)
	}
	return o.Text(name)
}

// Texts returns a list of strings.
func (o *Object) Texts(name string) []string {
	var out []string
	for i, v := range o.list(name) {
		s, ok := v.(string)
		if !ok {
			o.Wrong(name+"["+strconv.Itoa(i)+"]", "Must be text, not "+kind(v)+".")
		}
		out = append(out, s)
	}
	return out
}

// Objects returns a list of objects.
func (o *Object) Objects(name string) []*Object {
	var out []*Object
	for i, v := range o.list(name) {
		at := name + "[" + strconv.Itoa(i) + "]"
		m, ok := v.(map[string]any)
		if !ok {
			o.Wrong(at, "Must be an object, not "+kind(v)+".")
		}
		out = append(out, &Object{at: o.place(at), m: m, first: o.first})
	}
	return out
}

func (o *Object) list(name string) []any {
	l, _ := take[[]any](o, name, "a list")
	return l
}

// Only rejects unknown fields and suggests the nearest name.
func (o *Object) Only(names ...string) {
	for _, name := range slices.Sorted(maps.Keys(o.m)) {
		if !slices.Contains(names, name) {
			o.Wrong(name, "Unknown field.")
			if e, ok := errors.AsType[*app.Error](*o.first); ok && e.Hint == "" && e.Field == o.place(name) {
				e.Hint = humanize.Suggest(name, names)
			}
			return
		}
	}
}

// Wrong records an error of a field, unless there was one before.
func (o *Object) Wrong(name, text string) {
	if *o.first == nil {
		*o.first = wrong(o.place(name), "%s", text)
	}
}

func (o *Object) place(name string) string { return strings.TrimPrefix(o.at+"."+name, ".") }

func take[T any](o *Object, name, expected string) (T, bool) {
	v := o.m[name]
	t, ok := v.(T)
	if !ok && v != nil {
		o.Wrong(name, "Must be "+expected+", not "+kind(v)+".")
	}
	return t, ok
}
