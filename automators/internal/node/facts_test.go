package node

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFacts(t *testing.T) {
	long := strings.Repeat("x", maxValue+1)
	for name, tc := range map[string]struct {
		text  string
		want  map[string]string
		wrong []string
	}{
		"nothing":           {"", map[string]string{}, nil},
		"lines":             {"a=1\n b =x = y \n\nc=\r\n", map[string]string{"a": "1", "b": "x = y ", "c": ""}, nil},
		"the last one":      {"a=1\na=2\n", map[string]string{"a": "2"}, nil},
		"no name=value":     {"a\nb=1\n", map[string]string{"b": "1"}, []string{"isn't name=value"}},
		"names":             {"A=1\n1a=1\na-b=1\n" + strings.Repeat("a", 65) + "=1\nok_1=1\n", map[string]string{"ok_1": "1"}, []string{`"A"`, `"1a"`, `"a-b"`, "Ignored fact"}},
		"too long":          {"a=" + long + "\nb=1", map[string]string{"b": "1"}, []string{"exceeds 61440 bytes"}},
		"JSON":              {" {\"a\": \"x\\ny\",\n\"n\": 8080, \"t\": true, \"l\": [1, \"b\"], \"z\": null}\n", map[string]string{"a": "x\ny", "n": "8080", "t": "true", "l": `[1,"b"]`}, nil},
		"broken JSON":       {`{"a": `, map[string]string{}, []string{"aren't valid JSON"}},
		"JSON and more":     {`{"a": 1} {}`, map[string]string{}, []string{"aren't valid JSON"}},
		"not JSON, a value": {"a={\"b\": 1}", map[string]string{"a": `{"b": 1}`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, wrong := Facts(tc.text)
			if !maps.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			said := strings.Join(wrong, "\n")
			for _, w := range tc.wrong {
				if !strings.Contains(said, w) {
					t.Errorf("%q is not said in %q", w, said)
				}
			}
			if len(tc.wrong) == 0 && said != "" {
				t.Errorf("said %q", said)
			}
		})
	}
	var many strings.Builder
	for i := range 60 {
		fmt.Fprintf(&many, "f%d=1\n", i)
	}
	if got, wrong := Facts(many.String() + "f1=2\n"); len(got) != maxFacts || got["f1"] != "2" || len(wrong) != 10 {
		t.Errorf("%d facts, f1 is %q, %d complaints", len(got), got["f1"], len(wrong))
	}
}

// Facts that are too long together are left out, and the log says so.
func TestFactsAreBoundedTogether(t *testing.T) {
	var text strings.Builder
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		text.WriteString(name + "=" + strings.Repeat("x", maxValue-10) + "\n")
	}
	got, wrong := Facts(text.String() + "f=small\n")
	if len(got) != 4 || got["f"] != "small" || !strings.Contains(strings.Join(wrong, "\n"), "Ignored fact d: all together exceed") {
		t.Errorf("%d facts, f is %q, said %q", len(got), got["f"], wrong)
	}
}

// Whatever was written, the facts keep the contract.
func FuzzFacts(f *testing.F) {
	for _, s := range []string{"a=1\n", `{"a": 1, "b": {"c": null}}`, "{", "=", "a=\xff\x00", "\ufeffa=1", `{"a":1,"a":2}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		facts, wrong := Facts(s)
		if len(facts) > maxFacts || len(wrong) > 10 {
			t.Fatalf("%d facts, %d complaints", len(facts), len(wrong))
		}
		for name, value := range facts {
			if !factName.MatchString(name) || len(value) > maxValue || !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
				t.Fatalf("%q is %q", name, value)
			}
		}
	})
}
