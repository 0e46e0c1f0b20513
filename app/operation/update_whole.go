package operation

import (
	"fmt"
	"slices"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/secret"
	"muster/app/template"
)

// wholeConfig returns the changes that turn a configuration into another one: a key that isn't wanted any more is null. A value that is
// wanted as it is shown to people, with what may be secret hidden, stays as it is.
func wholeConfig(was, want map[string]any) (map[string]any, error) {
	return wholePart(was, cluster.Concealed(was).(map[string]any), want)
}

// wholePart does so for the part of a configuration at a path; shown is how people see what it was.
func wholePart(was, shown, want map[string]any, path ...string) (map[string]any, error) {
	changes := map[string]any{}
	for k := range was {
		if _, stays := want[k]; !stays {
			changes[k] = nil
		}
	}
	for k, v := range want {
		at := append(slices.Clip(path), k)
		before, known := was[k]
		if known && (template.SameValue(before, v) || template.SameValue(shown[k], v)) {
			continue
		}
		wanted, isMap := v.(map[string]any)
		seen, _ := shown[k].(map[string]any) // nil where the whole map is hidden
		if b, wasMap := before.(map[string]any); isMap && wasMap {
			inner, err := wholePart(b, seen, wanted, at...)
			if err != nil {
				return nil, err
			}
			changes[k] = inner
			continue
		}
		if hidesValue(v) {
			return nil, &app.Error{Code: app.EInvalid, Field: "config", Message: fmt.Sprintf("%.200s is %s, which stands for a hidden value, but it has no such value now.", strings.Join(at, "."), secret.HiddenValue),
				Hint: "Enter the value, or leave the whole list or key as it was shown."}
		}
		changes[k] = v
	}
	return changes, nil
}

// hidesValue reports whether a value is or contains secret.HiddenValue.
func hidesValue(v any) bool {
	switch v := v.(type) {
	case string:
		return v == secret.HiddenValue
	case []any:
		for _, x := range v {
			if hidesValue(x) {
				return true
			}
		}
	case map[string]any:
		for _, x := range v {
			if hidesValue(x) {
				return true
			}
		}
	}
	return false
}
