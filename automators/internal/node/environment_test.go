package node

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWords(t *testing.T) {
	for in, want := range map[string][]string{
		"": nil, "  ": nil, "a": {"a"}, " a  b\tc\n": {"a", "b", "c"}, `'a b' "c d"`: {"a b", "c d"}, `a\ b`: {"a b"},
		`''`: {""}, `"a\"b"`: {`a"b`}, `"a\b"`: {`a\b`}, `'a\b'`: {`a\b`}, `x'y'"z"`: {"xyz"}, `$HOME *`: {"$HOME", "*"},
	} {
		got, err := Shellwords("args", in)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", in, got, err, want)
		}
	}
	for _, bad := range []string{"'", `"a`, `a\`} {
		if _, err := Shellwords("args", bad); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

// What is split into words is what sh would make of it, as long as there is nothing to expand.
func TestWordsAsSh(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringMatching(`[ab '"\\ ]{0,12}`).Draw(t, "args")
		got, err := Shellwords("args", in)
		if err != nil {
			return
		}
		out, err := exec.Command("/bin/sh", "-c", "set -- "+in+"\nfor w; do printf '%s|' \"$w\"; done").Output()
		want := ""
		for _, w := range got {
			want += w + "|"
		}
		if err != nil || string(out) != want {
			t.Fatalf("sh makes %q, %v; we make %q", out, err, want)
		}
	})
}

// Whatever the configuration, the variables have proper names, are sorted, each there once, and the same each time.
func TestVariablesProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		config := map[string]any{}
		for k, v := range rapid.MapOf(rapid.String(), rapid.SliceOf(rapid.String())).Draw(t, "config") {
			below := map[string]any{"list": []any{}}
			for i, s := range v {
				below[s] = i
			}
			config[k] = below
		}
		checkVariables(t, config)
	})
}

func FuzzVariables(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":{"b":1},"a_b":2}`, `{"":{"":[1,null,"x"]}}`, `{"a":1e400}`, `{"a":[[1]]}`, `{"\u0000":"\u0000"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var config map[string]any
		dec := json.NewDecoder(strings.NewReader(string(b)))
		dec.UseNumber()
		if dec.Decode(&config) == nil {
			checkVariables(t, config)
		}
	})
}

func checkVariables(t interface{ Fatalf(string, ...any) }, config map[string]any) {
	vars, asJSON, warnings, err := Variables(config)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if !json.Valid(asJSON) {
		t.Fatalf("not JSON: %s", asJSON)
	}
	last := ""
	for _, v := range vars {
		rest, ok := strings.CutPrefix(v.Name, "CONFIG_")
		if !ok || strings.Trim(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
			t.Fatalf("bad name %q", v.Name)
		}
		if v.Name <= last {
			t.Fatalf("%q after %q", v.Name, last)
		}
		if strings.ContainsRune(v.Value, 0) {
			t.Fatalf("%q has a NUL", v.Name)
		}
		last = v.Name
	}
	again, _, warned, _ := Variables(config)
	if !slices.EqualFunc(vars, again, func(a, b Variable) bool { return a.Name == b.Name && a.Value == b.Value }) || !slices.Equal(warnings, warned) {
		t.Fatalf("another answer: %v, %v", vars, again)
	}
}

func TestVariablesRefuses(t *testing.T) {
	if _, _, _, err := Variables(map[string]any{"a": func() {}}); err == nil {
		t.Error("no error")
	}
}
