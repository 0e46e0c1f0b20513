package template

import (
	"fmt"
	"testing"

	"muster/app"
)

func TestActionsTakeValues(t *testing.T) {
	a := SavedAction{Name: "backup", Parameters: []Parameter{
		{Name: "keep", Type: ParameterInteger, Default: 7, Max: "30"}, {Name: "note", Type: ParameterText, Required: true}, {Name: "zip", Type: ParameterBoolean}}}
	got, err := a.Values(map[string]any{"note": "x"})
	if err != nil || fmt.Sprint(got) != "map[keep:7 note:x]" {
		t.Errorf("%v, %v", got, err)
	}
	for field, given := range map[string]map[string]any{
		"parameters.note": {"keep": "3"}, "parameters.keep": {"note": "x", "keep": "31"}, "parameters.kep": {"note": "x", "kep": "3"},
		"parameters.?": {"note": "x", "a b": "3"},
	} {
		_, err := a.Values(given)
		if e := app.AsError(err); e.Code != app.EInvalid || e.Field != field || e.Hint == "" {
			t.Errorf("%v: %+v, want field %s", given, e, field)
		}
	}
}
