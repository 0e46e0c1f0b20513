package form

import (
	"encoding/json"
	"reflect"
	"time"
)

// schemer is a type whose schema is unknown from its fields.
type schemer interface {
	schema() map[string]any
}

// Schema returns the JSON Schema (draft 2020-12) of one document of Muster's own form, for editors. It is made from the
// structs that the decoder fills, so the two say the same. Indented, with a line break at the end.
func Schema() []byte {
	defs, one := map[string]any{}, []any{}
	for _, k := range kinds {
		s := schemaOfType(reflect.TypeOf(NativeDoc(k)).Elem())
		s["properties"].(map[string]any)["kind"] = map[string]any{
			"const": string(k), "description": "Kind of catalog entry.",
		}
		defs[string(k)] = s
		one = append(one, map[string]any{"$ref": "#/$defs/" + string(k)})
	}
	b, err := json.MarshalIndent(map[string]any{
		"$schema":     "https://json-schema.org/draft/2020-12/schema",
		"title":       "Muster catalog entry",
		"description": "One document of a catalog file. Separate documents with a line of three dashes.",
		"type":        "object",
		"oneOf":       one,
		"$defs":       defs,
	}, "", "  ")
	if err != nil {
		panic("catalog: a schema holds only plain values: " + err.Error())
	}
	return append(b, '\n')
}

func schemaOf[T any]() map[string]any { return schemaOfType(reflect.TypeFor[T]()) }

func schemaOfType(t reflect.Type) map[string]any {
	if t.Kind() == reflect.Pointer {
		return schemaOfType(t.Elem())
	}
	if s, ok := reflect.New(t).Elem().Interface().(schemer); ok {
		return s.schema()
	}
	switch t.Kind() {
	case reflect.Struct:
		return schemaOfStruct(t)
	case reflect.Map:
		s := map[string]any{"type": "object"}
		if e := schemaOfType(t.Elem()); len(e) > 0 {
			s["additionalProperties"] = e
		}
		return s
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOfType(t.Elem())}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Int:
		return map[string]any{"type": "integer"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Interface:
		return map[string]any{}
	}
	panic("catalog: no schema for " + t.String())
}

func schemaOfStruct(t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []any{}
	for _, f := range FieldsOf(t) {
		s := schemaOfType(f.Type)
		if f.doc != "" {
			s["description"] = f.doc
		}
		if f.least != nil {
			s["minimum"] = *f.least
		}
		if f.most != nil {
			s["maximum"] = *f.most
		}
		if f.name {
			s["pattern"] = namePattern
		} else if f.need && f.Type.Kind() == reflect.String {
			s["minLength"] = 1
		}
		if f.need {
			required = append(required, f.Key)
		}
		properties[f.Key] = s
	}
	s := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// The types that read themselves also describe themselves.
var (
	_ noder   = (*duration)(nil)
	_ noder   = (*actionDoc)(nil)
	_ noder   = (*defaultServiceDoc)(nil)
	_ noder   = (*cooprDuration)(nil)
	_ noder   = (*ratioDoc)(nil)
	_ schemer = duration(time.Second)
	_ schemer = actionDoc{}
	_ schemer = defaultServiceDoc{}
	_ schemer = ratioDoc{}
)
