package app

import (
	"encoding/json"
	"reflect"
	"strings"
)

// sameJSON compares what may be numbers of different types.
func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// WrittenAlike tells whether two values are the same once they're written down and read again. An empty list or map is the same as none: the
// catalog has the one and the database gives the other. A pointer to nothing in particular is not the same as nil.
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
