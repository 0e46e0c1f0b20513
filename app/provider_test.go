package app_test

import (
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
)

func TestFieldTypes(t *testing.T) {
	for name, c := range map[string]struct {
		field family.Field
		good  []string
		bad   []string
	}{
		"text":                  {family.Field{Type: family.FieldText}, []string{"", "eu-1", "12", "one\n"}, []string{"two\nlines"}},
		"lines":                 {family.Field{Type: family.FieldLines}, []string{"a\nb\n", "a"}, nil},
		"whole number":          {family.Field{Type: family.FieldInt}, []string{"", "0", "-1", "300", " 7 ", "${secret:N}"}, []string{"1.5", "ten", "1 2", "0x10", "99999999999999999999"}},
		"true or false":         {family.Field{Type: family.FieldBool}, []string{"", "true", "false", "${env:X}"}, []string{"yes", "True", "1", "on"}},
		"choice":                {family.Field{Type: family.FieldChoice, Options: []string{"a", "b"}}, []string{"", "a", "b"}, []string{"c", "A", "a,b"}},
		"list":                  {family.Field{Type: family.FieldList}, []string{"", "a, b", "a b"}, nil},
		"read off the default":  {family.Field{Default: "20"}, []string{"5"}, []string{"five"}},
		"read off the options":  {family.Field{Options: []string{"x"}}, []string{"x"}, []string{"y"}},
		"read off true, false":  {family.Field{Options: []string{"true", "false"}}, []string{"true"}, []string{"yes"}},
		"nothing to be read":    {family.Field{}, []string{"two\nlines", "5"}, nil},
		"a secret whole number": {family.Field{Type: family.FieldInt, Secret: true}, []string{"5"}, []string{"hunter2"}},
	} {
		c.field.Name = "it"
		for _, text := range c.good {
			if e := c.field.Check(text); e != nil {
				t.Errorf("%s: %q: %v", name, text, e)
			}
		}
		for _, text := range c.bad {
			e := c.field.Check(text)
			if e == nil || e.Code != app.EInvalid || e.Field != "it" || e.Hint == "" {
				t.Errorf("%s: %q: %+v", name, text, e)
			} else if c.field.Secret && strings.Contains(e.Message+e.Hint, text) {
				t.Errorf("%s: a secret is shown: %v", name, e)
			}
		}
	}
}

func TestInvalidTypes(t *testing.T) {
	for says, f := range map[string]family.Field{
		"": {Name: "it"}, `unknown type "date"`: {Name: "it", Type: "date"}, "choice without options": {Name: "it", Type: family.FieldChoice},
	} {
		err := f.CheckType()
		if (err != nil) != (says != "") || err != nil && (app.CodeOf(err) != app.EInvalid || !strings.Contains(err.Error(), says)) {
			t.Errorf("%q: %v", says, err)
		}
	}
	for _, k := range family.FieldTypes {
		if err := (family.Field{Name: "it", Type: k, Options: []string{"a"}}).CheckType(); err != nil {
			t.Error(err)
		}
	}
}
