package operation

import (
	"encoding/json"
	"reflect"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/template"
	"pgregory.net/rapid"
)

// empties fills every list and map within a value, with nothing or with one entry as choose says; nil leaves them out where they're empty.
func empties(v reflect.Value, deep int, leaveOut bool, one func() bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if deep > 0 && v.CanSet() && one() {
			v.Set(reflect.New(v.Type().Elem()))
			empties(v.Elem(), deep-1, leaveOut, one)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				empties(v.Field(i), deep, leaveOut, one)
			}
		}
	case reflect.Slice:
		n := 0
		if deep > 0 && one() {
			n = 1
		}
		if n == 0 && leaveOut {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			empties(v.Index(i), deep-1, leaveOut, one)
		}
	case reflect.Map:
		some := deep > 0 && v.Type().Key().Kind() == reflect.String && one()
		if !some && leaveOut {
			return
		}
		v.Set(reflect.MakeMap(v.Type()))
		if some {
			x := reflect.New(v.Type().Elem()).Elem()
			if x.Kind() == reflect.Pointer {
				x.Set(reflect.New(x.Type().Elem()))
				empties(x.Elem(), deep-1, leaveOut, one)
			} else {
				empties(x, deep-1, leaveOut, one)
			}
			v.SetMapIndex(reflect.ValueOf("x").Convert(v.Type().Key()), x)
		}
	}
}

// TestEmptyListsAreNoChange compares definitions which differ only in that lists and maps are empty in one, and missing in the other: as they
// come from the catalog, and as the database returns them.
func TestEmptyListsAreNoChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		choices := rapid.SliceOfN(rapid.Bool(), 64, 64).Draw(t, "one entry")
		made := func(leaveOut bool) (d cluster.Definition) {
			i := 0
			empties(reflect.ValueOf(&d).Elem(), 6, leaveOut, func() bool { i++; return choices[i%len(choices)] })
			return d
		}
		catalog, left := made(false), made(true)
		text, err := json.Marshal(catalog)
		if err != nil {
			t.Fatal(err)
		}
		var stored cluster.Definition
		if err := json.Unmarshal(text, &stored); err != nil {
			t.Fatal(err)
		}
		for name, other := range map[string]cluster.Definition{"left out": left, "stored": stored} {
			if !template.WrittenAlike(catalog.Services, other.Services) || !template.WrittenAlike(catalog.Links, other.Links) || !template.WrittenAlike(catalog.Firewall, other.Firewall) {
				t.Fatalf("%s: not alike:\n%+v\n%+v", name, catalog, other)
			}
			if changes := cluster.ChangesOf(other, catalog); len(changes) > 0 {
				t.Fatalf("%s: %+v", name, changes)
			}
			d := updateBuilder{standing: &standing{}}
			if d.was, d.definition = other, catalog; d.redefined() {
				t.Fatalf("%s: defined otherwise:\n%+v\n%+v", name, catalog, other)
			}
		}
	})
	for name, c := range map[string]struct{ a, b any }{
		"a link":           {template.Service{}, template.Service{Links: []app.Link{{Label: "x"}}}},
		"a key":            {map[string]any{}, map[string]any{"x": nil}},
		"a closed wall":    {cluster.Definition{}, cluster.Definition{Firewall: &template.Firewall{}}},
		"an empty setting": {map[string]any{"x": nil}, map[string]any{"x": []any{}}},
	} {
		if template.WrittenAlike(c.a, c.b) {
			t.Errorf("%s makes no difference", name)
		}
	}
}
