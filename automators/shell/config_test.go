package shell

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
		got, err := words(in)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", in, got, err, want)
		}
	}
	for _, bad := range []string{"'", `"a`, `a\`} {
		if _, err := words(bad); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

// What is split into words is what sh would make of it, as long as there is nothing to expand.
func TestWordsAsSh(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringMatching(`[ab '"\\ ]{0,12}`).Draw(t, "args")
		got, err := words(in)
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

func TestInterpreter(t *testing.T) {
	for script, want := range map[string]string{
		"echo": "sh -eu", "#!/bin/sh\n": "sh -eu", "#!/bin/sh -x\n": "sh -eu", "#! /usr/bin/env sh\n": "sh -eu", "#!\n": "sh -eu",
		"#!/bin/bash\n": "/bin/bash", "#!/bin/bash -e\r\n": "/bin/bash|-e", "#!/usr/bin/env python3": "/usr/bin/env|python3",
		"#!/usr/bin/env -S awk -f\n": "/usr/bin/env|-S awk -f", " #!/bin/bash": "sh -eu",
	} {
		sep := "|"
		if strings.HasPrefix(want, "sh") {
			sep = " "
		}
		if got := strings.Join(interpreter(script), sep); got != want {
			t.Errorf("%q: %s, want %s", script, got, want)
		}
	}
}

// Whatever the configuration, the variables have proper names, are sorted, each there once, and the same each time.
func TestFlattenProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		config := map[string]any{}
		for k, v := range rapid.MapOf(rapid.String(), rapid.SliceOf(rapid.String())).Draw(t, "config") {
			below := map[string]any{"list": []any{}}
			for i, s := range v {
				below[s] = i
			}
			config[k] = below
		}
		checkFlatten(t, config)
	})
}

func FuzzFlatten(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":{"b":1},"a_b":2}`, `{"":{"":[1,null,"x"]}}`, `{"a":1e400}`, `{"a":[[1]]}`, `{"\u0000":"\u0000"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var config map[string]any
		dec := json.NewDecoder(strings.NewReader(string(b)))
		dec.UseNumber()
		if dec.Decode(&config) == nil {
			checkFlatten(t, config)
		}
	})
}

func checkFlatten(t interface{ Fatalf(string, ...any) }, config map[string]any) {
	vars, asJSON, warnings, err := flatten(config)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if !json.Valid(asJSON) {
		t.Fatalf("not JSON: %s", asJSON)
	}
	last := ""
	for _, v := range vars {
		rest, ok := strings.CutPrefix(v.name, "CONFIG_")
		if !ok || strings.Trim(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
			t.Fatalf("bad name %q", v.name)
		}
		if v.name <= last {
			t.Fatalf("%q after %q", v.name, last)
		}
		if strings.ContainsRune(v.value, 0) {
			t.Fatalf("%q has a NUL", v.name)
		}
		last = v.name
	}
	again, _, warned, _ := flatten(config)
	if !slices.EqualFunc(vars, again, func(a, b variable) bool { return a.name == b.name && a.value == b.value }) || !slices.Equal(warnings, warned) {
		t.Fatalf("another answer: %v, %v", vars, again)
	}
}

func TestFlattenRefuses(t *testing.T) {
	if _, _, _, err := flatten(map[string]any{"a": func() {}}); err == nil {
		t.Error("no error")
	}
}
