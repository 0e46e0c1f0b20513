package operation

import (
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/template"

	"pgregory.net/rapid"
)

func TestWholeConfigurationsReplace(t *testing.T) {
	was := map[string]any{"port": 80, "db": map[string]any{"password": "hunter22", "size": 1}, "list": []any{"a"}, "token": "hush"}
	for _, c := range []struct {
		what       string
		want, over map[string]any
	}{
		{"the same", was, map[string]any{}},
		{"as it is shown", cluster.Concealed(was).(map[string]any), map[string]any{}},
		{"nothing", nil, map[string]any{"port": nil, "db": nil, "list": nil, "token": nil}},
		{"less, deep down", map[string]any{"port": 80.0, "db": map[string]any{"password": "•••"}, "list": []any{"a"}, "token": "•••"},
			map[string]any{"db": map[string]any{"size": nil}}},
		{"other values", map[string]any{"port": 81, "db": "none", "list": []any{"a", "b"}, "token": "new"},
			map[string]any{"port": 81, "db": "none", "list": []any{"a", "b"}, "token": "new"}},
	} {
		over, err := wholeConfig(was, c.want)
		if err != nil || !template.SameValue(over, c.over) {
			t.Errorf("%s: %v, %v, want %v", c.what, over, err, c.over)
		}
	}
	for _, want := range []map[string]any{{"port": "•••"}, {"new": "•••"}, {"list": []any{"•••"}}, {"db": map[string]any{"key": "•••"}}} {
		if _, err := wholeConfig(was, want); app.CodeOf(err) != app.EInvalid {
			t.Errorf("%v: %v, want a refusal", want, err)
		}
	}
}

// What a configuration is laid over with makes it the one that was wanted.
func TestWholeConfigurationsAreWhatWasWanted(t *testing.T) {
	value := rapid.OneOf(rapid.Map(rapid.IntRange(0, 3), func(i int) any { return i }), rapid.Just(any("x")), rapid.Just(any([]any{"x"})))
	inner := rapid.MapOf(rapid.SampledFrom([]string{"a", "b"}), value)
	config := rapid.MapOf(rapid.SampledFrom([]string{"a", "b", "c"}), rapid.OneOf(value, rapid.Map(inner, func(m map[string]any) any { return m })))
	rapid.Check(t, func(t *rapid.T) {
		was, want := config.Draw(t, "was"), config.Draw(t, "want")
		over, err := wholeConfig(was, want)
		if err != nil {
			t.Fatal(err)
		}
		if got := overlay(was, over); !template.SameValue(got, want) {
			t.Fatalf("%v laid over %v is %v, want %v", over, was, got, want)
		}
	})
}
