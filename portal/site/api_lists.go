package site

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// The API document promises arrays and objects for slices and maps, but Go writes nil ones as null. WithLists fills them in every
// response, so that use cases don't have to.

// WithLists replaces a response's nil slices and maps with empty ones if the document says that they aren't null. Shared values are copied
// before they're changed.
func WithLists(v any) any {
	if v == nil {
		return nil
	}
	if filled, changed := fillLists(reflect.ValueOf(v)); changed {
		return filled.Interface()
	}
	return v
}

var marshaler = reflect.TypeFor[json.Marshaler]()

func fillLists(v reflect.Value) (reflect.Value, bool) {
	if !canLack(v.Type()) {
		return v, false
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v, false
		}
		e, changed := fillLists(v.Elem())
		if !changed {
			return v, false
		}
		p := reflect.New(e.Type())
		p.Elem().Set(e)
		return p, true
	case reflect.Interface:
		if v.IsNil() {
			return v, false
		}
		return fillLists(v.Elem())
	case reflect.Struct:
		return fillStruct(v)
	case reflect.Slice:
		out, any := v, false
		for i := range v.Len() {
			e, changed := fillLists(v.Index(i))
			if changed && !any {
				out, any = reflect.MakeSlice(v.Type(), v.Len(), v.Len()), true
				reflect.Copy(out, v)
			}
			if changed {
				out.Index(i).Set(e)
			}
		}
		return out, any
	case reflect.Map:
		out, any := v, false
		for key, value := range v.Seq2() {
			e, changed := fillLists(value)
			if changed && !any {
				out, any = reflect.MakeMapWithSize(v.Type(), v.Len()), true
				for k, x := range v.Seq2() {
					out.SetMapIndex(k, x)
				}
			}
			if changed {
				out.SetMapIndex(key, e)
			}
		}
		return out, any
	}
	return v, false
}

func fillStruct(v reflect.Value) (reflect.Value, bool) {
	out, any := v, false
	for _, i := range exported(v.Type()) {
		f := v.Type().Field(i)
		e := v.Field(i)
		var changed bool
		switch {
		case !promised(v.Type(), f):
			e, changed = fillLists(e)
		case !e.IsNil():
			e, changed = fillLists(e)
		case f.Type.Kind() == reflect.Slice:
			e, changed = reflect.MakeSlice(f.Type, 0, 0), true
		default:
			e, changed = reflect.MakeMap(f.Type), true
		}
		if changed && !any {
			out, any = reflect.New(v.Type()).Elem(), true
			out.Set(v)
		}
		if changed {
			out.Field(i).Set(e)
		}
	}
	return out, any
}

// promised reports whether the document promises an array or object for a field of t. By default, huma treats slices as nullable and maps
// as objects.
func promised(t reflect.Type, f reflect.StructField) bool {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" || strings.Contains(options, "omit") {
		return false
	}
	switch f.Type.Kind() {
	case reflect.Slice:
		return fieldTag(t, f, "nullable") == "false" && f.Type.Elem().Kind() != reflect.Uint8
	case reflect.Map:
		return fieldTag(t, f, "nullable") != "true"
	}
	return false
}

func exported(t reflect.Type) (fields []int) {
	for i := range t.NumField() {
		if t.Field(i).IsExported() {
			fields = append(fields, i)
		}
	}
	return fields
}

var lacking sync.Map // whether a type may have something to fill

func canLack(t reflect.Type) bool {
	if known, ok := lacking.Load(t); ok {
		return known.(bool)
	}
	can := mayLack(t, map[reflect.Type]bool{})
	lacking.Store(t, can)
	return can
}

func mayLack(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false // the enclosing type is already being checked
	}
	seen[t] = true
	if t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler) {
		return false
	}
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return mayLack(t.Elem(), seen)
	case reflect.Struct:
		for _, i := range exported(t) {
			if f := t.Field(i); promised(t, f) || mayLack(f.Type, seen) {
				return true
			}
		}
	}
	return false
}
