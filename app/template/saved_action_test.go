package template

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/app"
)

func TestActionsAreChecked(t *testing.T) {
	fine := SavedAction{Name: "backup", Run: "true", Parameters: []Parameter{{Name: "keep", Type: ParameterInteger}}, Who: ActionOwners, Timeout: time.Hour, Batch: 2}
	if wrong := CheckActions([]SavedAction{fine}); len(wrong) > 0 {
		t.Errorf("%+v", wrong)
	}
	for name, c := range map[string]struct {
		change func(a *SavedAction)
		path   string
	}{
		"a bad name":                 {func(a *SavedAction) { a.Name = "Back up" }, "[0 name]"},
		"no script":                  {func(a *SavedAction) { a.Run = " " }, "[0 run]"},
		"a long script":              {func(a *SavedAction) { a.Run = strings.Repeat("x", 16<<10+1) }, "[0 run]"},
		"a long description":         {func(a *SavedAction) { a.Description = strings.Repeat("x", 2001) }, "[0 description]"},
		"others who may":             {func(a *SavedAction) { a.Who = "guest" }, "[0 who]"},
		"a long timeout":             {func(a *SavedAction) { a.Timeout = 25 * time.Hour }, "[0 timeout]"},
		"a negative batch":           {func(a *SavedAction) { a.Batch = -1 }, "[0 batch]"},
		"a parameter without a type": {func(a *SavedAction) { a.Parameters = []Parameter{{Name: "keep", Type: "what"}} }, "[0 parameters 0 type]"},
		"a parameter that sets something": {func(a *SavedAction) {
			a.Parameters = []Parameter{{Name: "keep", Type: ParameterText, To: []string{"config.x"}}}
		}, "[0 parameters 0 to]"},
	} {
		a := fine
		c.change(&a)
		wrong := CheckActions([]SavedAction{a})
		if len(wrong) != 1 || fmt.Sprint(wrong[0].Path) != c.path || wrong[0].Message == "" {
			t.Errorf("%s: %+v, want one at %s", name, wrong, c.path)
		}
	}
	if wrong := CheckActions([]SavedAction{fine, fine}); len(wrong) != 1 || fmt.Sprint(wrong[0].Path) != "[1 name]" {
		t.Errorf("twice the same name: %+v", wrong)
	}
	if wrong := CheckActions(make([]SavedAction, 51)); len(wrong) == 0 || !strings.Contains(wrong[0].Message, "at most 50") {
		t.Errorf("51 actions: %+v", wrong)
	}
}

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
