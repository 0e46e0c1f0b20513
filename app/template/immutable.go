package template

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"muster/app"
)

// ImmutableParts are the parts of a template that can be immutable as a whole; of the configuration also any path in it, such
// as config.ssl.
var ImmutableParts = []string{"config", "services", "provider", "hardware", "image", "dns_suffix", "lease"}

// Override is what someone wants to be otherwise than it is. Only what is set counts, so leave out what stays.
type Override struct {
	Config map[string]any // is laid over the configuration, map by map
	Parts  []string       // of ImmutableParts, without config, that would be others
}

// CheckImmutable refuses what a request or an update wants otherwise though the template does not let it: EInvalid, with the
// path in Field. Configuration that says what the template says already is none.
func (t *Template) CheckImmutable(o Override) error {
	return CheckImmutable("Template "+t.Name, t.Immutable, t.Defaults.Config, o)
}

func CheckImmutable(who string, immutable []string, config map[string]any, o Override) error {
	for _, path := range immutable {
		said := slices.Contains(o.Parts, path)
		if under, ok := strings.CutPrefix(path, "config."); ok {
			path, said = changedAt(o.Config, config, under)
			path = "config." + path
		} else if path == "config" {
			for _, key := range slices.Sorted(maps.Keys(o.Config)) {
				if p, changed := changedAt(o.Config, config, key); changed {
					path, said = "config."+p, true
					break
				}
			}
		}
		if said {
			return &app.Error{Code: app.EInvalid, Reason: "immutable", Field: path, Message: fmt.Sprintf("%s doesn't allow changes to %s.", who, path),
				Hint: "Leave it out, or ask an admin for a template that allows the change."}
		}
	}
	return nil
}

// changedAt reports whether a configuration laid over base would change what is at a path, under it, or a place above it, and
// where it says so. Keys may themselves hold dots.
func changedAt(over, base map[string]any, path string) (at string, changed bool) {
	for _, key := range slices.Sorted(maps.Keys(over)) {
		v := over[key]
		rest, under := strings.CutPrefix(path, key+".")
		if key != path && !under && !strings.HasPrefix(key, path+".") { // whose keys are written in one
			continue
		}
		had, is := base[key]
		if under {
			deeper, isMap := v.(map[string]any)
			old, wasMap := had.(map[string]any)
			if isMap && (wasMap || !is) {
				if at, changed := changedAt(deeper, old, rest); changed {
					return key + "." + at, true
				}
				continue
			}
		}
		if !sameUnder(v, had, is) {
			return key, true
		}
	}
	return path, false
}

// sameUnder reports whether laying v over what was there leaves it as it was.
func sameUnder(v, had any, is bool) bool {
	over, isMap := v.(map[string]any)
	old, wasMap := had.(map[string]any)
	if !isMap || !wasMap {
		return is && sameJSON(v, had)
	}
	for key, x := range over {
		h, has := old[key]
		if !sameUnder(x, h, has) {
			return false
		}
	}
	return true
}

func SameSet(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

// sameJSON compares what may be numbers of different types.
func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// WrittenAlike reports whether two values are the same once they're written down and read again. An empty list or map is the same as none: the
// catalog has the one and the database returns the other. A pointer to nothing in particular is not the same as nil.
func WrittenAlike(a, b any) bool { return alike(reflect.ValueOf(a), reflect.ValueOf(b)) }

var marshaler = reflect.TypeFor[json.Marshaler]()

func alike(a, b reflect.Value) bool {
	if !a.IsValid() || !b.IsValid() {
		return a.IsValid() == b.IsValid()
	}
	if a.Type() != b.Type() || a.Kind() == reflect.Interface || a.Type().Implements(marshaler) {
		return sameJSON(a.Interface(), b.Interface())
	}
	switch a.Kind() {
	case reflect.Pointer:
		return a.IsNil() == b.IsNil() && (a.IsNil() || alike(a.Elem(), b.Elem()))
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !alike(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Map:
		if a.Len() != b.Len() {
			return false
		}
		for _, k := range a.MapKeys() {
			if x := b.MapIndex(k); !x.IsValid() || !alike(a.MapIndex(k), x) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for i := range a.NumField() {
			f := a.Type().Field(i)
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" && (f.IsExported() || f.Anonymous) && !alike(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	}
	return sameJSON(a.Interface(), b.Interface())
}

// SameValue reports whether two values of a configuration are the same as JSON.
func SameValue(a, b any) bool {
	switch x := a.(type) {
	case string:
		y, is := b.(string)
		return is && x == y
	case bool:
		y, is := b.(bool)
		return is && x == y
	}
	return sameJSON(a, b)
}
