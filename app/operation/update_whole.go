package operation

import (
	"fmt"
	"slices"
	"strings"

	"muster/app"
	"muster/app/cluster"
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
		if cluster.HidesValue(v) {
			return nil, &app.Error{Code: app.EInvalid, Field: "config", Message: fmt.Sprintf("%.200s is •••, which is shown for hidden values, but it has no such value now.", strings.Join(at, ".")),
				Hint: "Enter the value, or leave the whole list or key as it was shown."}
		}
		changes[k] = v
	}
	return changes, nil
}
