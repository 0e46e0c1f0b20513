package site

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// The document promises arrays and objects where Go has slices and maps, and Go writes the nil ones as null. Instead of asking every use
// case to fill them, withLists does it for every answer.

// WithLists is an answer whose nil slices and maps are empty ones where the document says that they are there and not null. What is shared
// with others is copied before it is changed.
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
		e, changed := v.Field(i), false
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

// promised says whether the document has an array or object for a field of t that is always there: huma takes slices for nullable where nothing
// else is said, and maps for objects.
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

var lacking sync.Map // whether there may be something to fill in a type

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
		return false // the type that it is part of is looked at already
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
