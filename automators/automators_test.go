package automators_test

import (
	"strings"
	"testing"

	"muster/app"
	"muster/automators"
)

func TestList(t *testing.T) {
	for _, name := range automators.Names() {
		a, err := automators.New(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Descriptor().Name; got != name {
			t.Errorf("%q is listed as %q in automators.go: both must be the same", got, name)
		}
	}
}

// Every field says who may set it: see family.Field.
func TestEveryFieldSaysWhoMaySetIt(t *testing.T) {
	for _, d := range automators.Descriptors() {
		for _, f := range d.Fields {
			if f.SetBy == "" {
				t.Errorf("%s: the field %s doesn't say who may set it: add SetBy, see family.SetBy", d.Name, f.Name)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	for name, tc := range map[string]struct {
		automator string
		fields    map[string]string
		field     string // "" when all is well
		says      string
	}{
		"good":              {"shell", map[string]string{"script": "true", "args": "a b"}, "", ""},
		"a file's name":     {"shell", map[string]string{"script": "httpd.sh"}, "", ""},
		"misspelt":          {"shel", nil, "automator", `Did you mean "shell"?`},
		"other capitals":    {"Shell", nil, "automator", `Did you mean "shell"?`},
		"unknown":           {"cfengine", nil, "automator", "Available automators: "},
		"none":              {"", nil, "automator", "Available automators: "},
		"no script":         {"shell", nil, "script", "needs the field"},
		"misspelt field":    {"shell", map[string]string{"skript": "true"}, "skript", `Did you mean "script"?`},
		"unknown field":     {"shell", map[string]string{"script": "true", "run_list": "x"}, "run_list", "Available fields: script, args."},
		"puppet":            {"puppet", map[string]string{"classes": "web"}, "", ""},
		"puppet, nothing":   {"puppet", nil, "manifest", "needs a manifest"},
		"ansible":           {"ansible", map[string]string{"roles": "web"}, "", ""},
		"ansible, two":      {"ansible", map[string]string{"roles": "web", "playbook": "x"}, "roles", "already"},
		"a member's own no": {"shell", map[string]string{"script": "true", "args": "'"}, "args", "quotes"},
	} {
		t.Run(name, func(t *testing.T) {
			err := automators.Check(tc.automator, tc.fields)
			if tc.field == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			e := app.AsError(err)
			if e.Code != app.EInvalid || e.Field != tc.field || !strings.Contains(e.Message+" "+e.Hint, tc.says) {
				t.Errorf("got %+v, want %q for field %q", e, tc.says, tc.field)
			}
		})
	}
}
