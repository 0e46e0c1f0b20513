package payload

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/humanize"
)

// Object is a JSON object and where it stands. One that is not there is empty, so that it can be asked, too: it has nothing.
type Object struct {
	at    string
	m     map[string]any
	first *error // of all objects of one body
}

// Err returns the first thing that was wrong, nil when all was as asked.
func (o *Object) Err() error { return *o.first }

// All is the whole of it.
func (o *Object) All() map[string]any { return o.m }

// Has tells whether a name is there and not null.
func (o *Object) Has(name string) bool { return o.m[name] != nil }

// In returns the object of that name, an empty one where there is none.
func (o *Object) In(name string) *Object {
	m, _ := take[map[string]any](o, name, "an object is expected")
	return &Object{at: o.place(name), m: m, first: o.first}
}

// Text returns a text, "" where there is none.
func (o *Object) Text(name string) string {
	s, _ := take[string](o, name, "a text is expected")
	return s
}

// First returns the first of some texts that is not empty.
func (o *Object) First(names ...string) string {
	found := ""
	for _, name := range names {
		if s := o.Text(name); found == "" {
			found = s
		}
	}
	return found
}

// Need is Text where it has to be there.
func (o *Object) Need(name string) string {
	s := o.Text(name)
	if s == "" {
		o.Wrong(name, "It is missing.")
	}
	return s
}

// Bool returns true or false, false where there is none.
func (o *Object) Bool(name string) bool {
	b, _ := take[bool](o, name, "true or false is expected")
	return b
}

// Number returns a whole number from 1 on, 0 where there is none.
func (o *Object) Number(name string) int64 {
	n, ok := take[int64](o, name, "a whole number is expected")
	if ok && n <= 0 {
		o.Wrong(name, "A number above 0 is expected.")
		return 0
	}
	return n
}

// NeedNumber is Number where it has to be there.
func (o *Object) NeedNumber(name string) int64 {
	n := o.Number(name)
	if n == 0 {
		o.Wrong(name, "It is missing.")
	}
	return n
}

// Word returns a text, or a whole number as a text; "" where there is none.
func (o *Object) Word(name string) string {
	if n, ok := o.m[name].(int64); ok {
		return strconv.FormatInt(n, 10)
	}
	return o.Text(name)
}

// Texts returns a list of texts.
func (o *Object) Texts(name string) []string {
	var out []string
	for i, v := range o.list(name) {
		s, ok := v.(string)
		if !ok {
			o.Wrong(name+"["+strconv.Itoa(i)+"]", "It is "+kind(v)+", where a text is expected.")
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
			o.Wrong(at, "It is "+kind(v)+", where an object is expected.")
		}
		out = append(out, &Object{at: o.place(at), m: m, first: o.first})
	}
	return out
}

func (o *Object) list(name string) []any {
	l, _ := take[[]any](o, name, "a list is expected")
	return l
}

// Only refuses names that are not known, with the one that was perhaps meant.
func (o *Object) Only(names ...string) {
	for _, name := range slices.Sorted(maps.Keys(o.m)) {
		if !slices.Contains(names, name) {
			o.Wrong(name, "There is no such field.")
			if e, ok := (*o.first).(*app.Error); ok && e.Hint == "" && e.Field == o.place(name) {
				e.Hint = humanize.Suggest(name, names)
			}
			return
		}
	}
}

// Wrong keeps that something is wrong with what stands there, unless something was before.
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
		o.Wrong(name, "It is "+kind(v)+", but "+expected+".")
	}
	return t, ok
}
