package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"muster/app/file/catalog/form"
)

func TestSchemaFileIsFresh(t *testing.T) {
	golden(t, "../../../docs/catalog.schema.json", string(form.Schema()))
}

func TestEveryKeyIsDescribed(t *testing.T) {
	var walk func(path string, s map[string]any)
	walk = func(path string, s map[string]any) {
		for name, p := range mapping(s["properties"]) {
			p := mapping(p)
			if p["description"] == nil {
				t.Errorf("%s.%s has no description", path, name)
			}
			walk(path+"."+name, p)
		}
		for _, under := range []string{"items", "additionalProperties"} {
			if inner := mapping(s[under]); inner != nil {
				walk(path, inner)
			}
		}
		one, _ := s["oneOf"].([]any)
		for _, o := range one {
			walk(path, mapping(o))
		}
	}
	for name, def := range mapping(schema(t)["$defs"]) {
		walk(name, mapping(def))
	}
}

// TestSchemaAndDecoderAgree bends good entries in every way, one value at a time, and asks both.
func TestSchemaAndDecoderAgree(t *testing.T) {
	s := schema(t)
	asked := 0
	for _, doc := range documents(t, "testdata/good/all.yaml") {
		if !accepts(s, s, doc) {
			t.Errorf("the schema refuses what is good: %v", doc)
		}
		for _, b := range bent(doc) {
			if b == nil {
				continue // an empty document is no entry, which the decoder passes over
			}
			asked++
			text, err := yaml.Marshal(b)
			if err != nil {
				t.Fatal(err)
			}
			out := &form.Reporter{}
			form.ParseNative(out, "x", text)
			if schema, decoder := accepts(s, s, b), out.Errors == 0; schema != decoder {
				t.Errorf("schema accepts: %v, decoder accepts: %v\n%s\n%s", schema, decoder, text, out.Sorted().Error())
			}
		}
	}
	if asked < 1000 {
		t.Errorf("only %d questions were asked", asked)
	}
}

func schema(t *testing.T) map[string]any {
	t.Helper()
	var s map[string]any
	if err := json.Unmarshal(form.Schema(), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func documents(t *testing.T, file string) []any {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var docs []any
	for dec := yaml.NewDecoder(f); ; {
		var doc any
		if dec.Decode(&doc) != nil {
			return docs
		}
		if doc != nil {
			docs = append(docs, doc)
		}
	}
}

// bent returns copies of x in which one value, anywhere, is another one, missing, or beside an unknown key.
func bent(x any) []any {
	out := []any{nil, true, -1, 0, 7, 2.5, "", "text", "1h", []any{}, []any{"text"}, []any{7}, map[string]any{}, map[string]any{"text": "text"}}
	switch x := x.(type) {
	case map[string]any:
		with := func(key string, value any) map[string]any {
			m := maps.Clone(x)
			m[key] = value
			return m
		}
		for _, key := range slices.Sorted(maps.Keys(x)) {
			for _, b := range bent(x[key]) {
				out = append(out, with(key, b))
			}
			m := maps.Clone(x)
			delete(m, key)
			out = append(out, m)
		}
		out = append(out, with("unknown", "text"))
	case []any:
		for i := range x {
			for _, b := range bent(x[i]) {
				l := slices.Clone(x)
				l[i] = b
				out = append(out, l)
			}
		}
	}
	return out
}

func mapping(x any) map[string]any {
	m, _ := x.(map[string]any)
	return m
}

// accepts is as much of JSON Schema as Schema uses; it panics at anything else.
func accepts(root, s map[string]any, x any) bool {
	ok := true
	for word, arg := range s {
		switch word {
		case "$schema", "title", "description", "$defs":
		case "$ref":
			ok = ok && accepts(root, mapping(mapping(root["$defs"])[strings.TrimPrefix(arg.(string), "#/$defs/")]), x)
		case "oneOf":
			n := 0
			for _, o := range arg.([]any) {
				if accepts(root, mapping(o), x) {
					n++
				}
			}
			ok = ok && n == 1
		case "const":
			ok = ok && fmt.Sprint(arg) == fmt.Sprint(x) && reflect.ValueOf(x).IsValid() && (reflect.TypeOf(x).Kind() == reflect.String) == (reflect.TypeOf(arg).Kind() == reflect.String)
		case "type":
			ok = ok && hasType(arg.(string), x)
		case "pattern":
			str, is := x.(string)
			ok = ok && (!is || matches(arg.(string), str))
		case "minLength":
			str, is := x.(string)
			ok = ok && (!is || float64(len(str)) >= arg.(float64))
		case "minimum":
			switch v := x.(type) {
			case int:
				ok = ok && float64(v) >= arg.(float64)
			case float64:
				ok = ok && v >= arg.(float64)
			}
		case "required":
			for _, key := range arg.([]any) {
				_, has := mapping(x)[key.(string)]
				ok = ok && (has || mapping(x) == nil)
			}
		case "properties":
			for key, v := range mapping(x) {
				if p := mapping(mapping(arg)[key]); p != nil {
					ok = ok && accepts(root, p, v)
				}
			}
		case "additionalProperties":
			for key, v := range mapping(x) {
				if _, known := mapping(s["properties"])[key]; !known {
					ok = ok && arg != false && accepts(root, mapping(arg), v)
				}
			}
		case "items":
			l, _ := x.([]any)
			for _, v := range l {
				ok = ok && accepts(root, mapping(arg), v)
			}
		default:
			panic("the schema uses " + word)
		}
	}
	return ok
}

func matches(pattern, s string) bool {
	ok, err := regexp.MatchString(pattern, s)
	if err != nil {
		panic(err)
	}
	return ok
}

func hasType(name string, x any) bool {
	switch x.(type) {
	case map[string]any:
		return name == "object"
	case []any:
		return name == "array"
	case string:
		return name == "string"
	case bool:
		return name == "boolean"
	case int:
		return name == "integer" || name == "number"
	case float64:
		return name == "number"
	}
	return false
}
