package yamlfile

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/build"
	"muster/app/policy"
	"muster/app/settings"
)

// wrong is a value that a field of a type cannot have.
func wrong(t reflect.Type) string {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return "[x]"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return wrong(t.Elem())
	case reflect.String, reflect.Interface:
		return "[!!binary x]"
	case reflect.Slice, reflect.Map, reflect.Struct:
		return "SEEKRIT"
	}
	return "{SEEKRIT: x}"
}

// TestAllFileProblemsAreReportedWithTheirPosition sets every field of every kind of file a value that it cannot have, all in one text: each is reported,
// with its line and path, and the value is not.
func TestAllFileProblemsAreReportedWithTheirPosition(t *testing.T) {
	for _, into := range []any{&build.Rule{}, &policy.Policy{}, &policy.Approval{}, &settings.TenantSettings{}} {
		kind := reflect.TypeOf(into).Elem()
		var text strings.Builder
		want := map[string]int{}
		line := 1
		for i := range kind.NumField() {
			name, _, _ := strings.Cut(kind.Field(i).Tag.Get("json"), ",")
			if name == "" || name == "-" || kind.Field(i).Type.Kind() == reflect.Interface {
				continue
			}
			value := wrong(kind.Field(i).Type)
			fmt.Fprintf(&text, "%s: %s\n", name, value)
			want[name] = line
			line++
		}
		text.WriteString("nonsense: SEEKRIT\nnonsense: 2\n? [a]\n: b\n")
		want["nonsense"] = line
		f := Parse(text.String())
		if f.Root == nil {
			t.Fatalf("%+v\n%s", f.Problems, text.String())
		}
		f.Read(f.Root, into, "")
		reported := map[string]int{}
		twice := 0
		for _, p := range f.Problems {
			if p.Column == 0 || p.Message == "" {
				t.Errorf("%s: no place, or no word: %+v", kind, p)
			}
			if strings.Contains(p.Message+p.Hint, "SEEKRIT") {
				t.Errorf("%s: a value is quoted: %+v", kind, p)
			}
			if strings.Contains(p.Message, "set twice, first on line "+fmt.Sprint(line)) && p.Line == line+1 {
				twice++
				continue
			}
			if p.Path == "" && strings.Contains(p.Message, "plain text") && p.Line == line+2 {
				twice++
				continue
			}
			reported[p.Path] = p.Line
		}
		if twice != 2 {
			t.Errorf("%s: the repeated key and the key that is a list are reported %d times: %+v", kind, twice, f.Problems)
		}
		if !reflect.DeepEqual(reported, want) {
			t.Errorf("%s: told are\n%v\nand not\n%v\n%s", kind, reported, want, text.String())
		}
	}
}

type inner struct {
	Name string        `json:"name"`
	Wait time.Duration `json:"wait,omitempty"`
	At   time.Time     `json:"at,omitzero"`
}

type outer struct {
	List []inner        `json:"list"`
	Any  map[string]any `json:"any,omitempty"`
	Left string         `json:"-"`
}

func TestPositionsOfNestedProblems(t *testing.T) {
	for text, want := range map[string]string{
		"list:\n- name: a\n- nam: b\n":                  `f.yaml:3:3: list[1].nam: Unknown field "nam". Did you mean name?`,
		"list:\n- name: a\n  wait: soon\n":              "f.yaml:3:9: list[0].wait: This must be a duration, such as 30m, 8h or 2d.",
		"list:\n- name: a\n  at: soon\n":                `f.yaml:3:7: list[0].at: "soon" isn't a date and time such as 2026-01-31T15:04:05Z.`,
		"any: {a: [1, {b: &x 1}]}\n":                    "f.yaml:1:18: any.a[1].b: Anchors and aliases aren't supported here: write the value itself.",
		"any: {a: {<<: {b: 1}}}\n":                      "f.yaml:1:11: any.a: A key must be plain text.",
		"list: [\n":                                     "f.yaml:1:1: Invalid YAML: did not find expected node content.",
		"a: b: c\n":                                     "f.yaml: Invalid YAML: mapping values are not allowed in this context.",
		"list: []\n---\nlist: []\n":                     "f.yaml:2:1: The file has more than one document.",
		`{"list": [{"name": "a"}, {"name": {"x": 1}}]}`: "f.yaml:1:35: list[1].name: This must be text.",
		"\"-\": 1\n":                                    `f.yaml:1:1: -: Unknown field "-"`,
		"any: {a: " + strings.Repeat("[", 60) + strings.Repeat("]", 60) + "}": "The file is nested too deeply or is too large.",
	} {
		f := Parse(text)
		var o outer
		if f.Root != nil {
			f.Read(f.Root, &o, "")
		}
		err := f.Err("f.yaml", "file")
		if err == nil {
			t.Errorf("%q is taken: %+v", text, o)
			continue
		}
		e := app.AsError(err)
		if got := strings.TrimSpace(e.Message + " " + e.Hint); !strings.Contains(got, want) || e.Field != "file" {
			t.Errorf("%q is reported as\n%s\nand not as\n%s", text, got, want)
		}
	}
	var many strings.Builder
	for i := range 50 {
		fmt.Fprintf(&many, "field%d: 1\n", i)
	}
	f := Parse(many.String())
	f.Read(f.Root, new(outer), "")
	if lines := strings.Split(f.Err("", "").Error(), "\n"); len(lines) != maxReported+1 || lines[maxReported] != "and 30 more" || !strings.HasPrefix(lines[1], "Line 2: field1: ") {
		t.Errorf("50 mistakes are reported in %d lines: %s", len(lines), lines[len(lines)-1])
	}
}

func TestValidFilesAreRead(t *testing.T) {
	f := Parse("list:\n- {name: 5, wait: 2h, at: 2030-01-02T03:04:05Z}\n- name: \"\\U0001F600\"\n  wait: 7\nany: {n: 1, f: 1.5, t: on, l: [~, x]}\n")
	var o outer
	f.Read(f.Root, &o, "")
	want := outer{List: []inner{{"5", 2 * time.Hour, time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}, {Name: "😀", Wait: 7}}, Any: map[string]any{"n": 1.0, "f": 1.5, "t": "on", "l": []any{nil, "x"}}}
	if err := f.Err("f", ""); err != nil || !reflect.DeepEqual(o, want) {
		t.Errorf("%v: %+v", err, o)
	}
	if at := f.Places["list[1].name"]; at != (Place{3, 3}) {
		t.Errorf("list[1].name is at %v", at)
	}
	// As programs write JSON that only use ASCII; a backslash before is no part of it.
	f = Parse(`{"list": [{"name": "\ud83d\ude00 \\ud83d\\ude00"}]}`)
	o = outer{}
	f.Read(f.Root, &o, "")
	if err := f.Err("f", ""); err != nil || len(o.List) != 1 || o.List[0].Name != `😀 \ud83d\ude00` {
		t.Errorf("%v: %+v", err, o)
	}
	if f = Parse("# nothing\n"); !f.Empty || f.Err("f", "") != nil {
		t.Errorf("a file of comments is %+v", f)
	}
}

// FuzzRead: no text makes it fall over, and what is wrong has a place within the text.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"list: [{name: a}]", "&a [*a]", "{a: {a: {a: 1}}}", "any: !!binary x", "- 1", "\x00", "? [a]\n: b", "list: [{at: x}]", `{"list": "\ud83d\ude00"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := Parse(text)
		if file.Root == nil {
			return
		}
		file.Read(file.Root, new(outer), "")
		for _, p := range file.Problems {
			if p.Line < 1 || p.Line > strings.Count(text, "\n")+strings.Count(text, "\r")+strings.Count(text, "\u0085")+strings.Count(text, "\u2028")+strings.Count(text, "\u2029")+1 {
				t.Errorf("%q: %+v", text, p)
			}
		}
	})
}
