package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/app/template"
)

func TestActionsAreChecked(t *testing.T) {
	fine := template.SavedAction{Name: "backup", Run: "true", Parameters: []template.Parameter{{Name: "keep", Type: template.ParameterInteger}}, Who: template.ActionOwners, Timeout: time.Hour, Batch: 2}
	if wrong := CheckActions([]template.SavedAction{fine}); len(wrong) > 0 {
		t.Errorf("%+v", wrong)
	}
	for name, c := range map[string]struct {
		change func(a *template.SavedAction)
		path   string
	}{
		"a bad name":                 {func(a *template.SavedAction) { a.Name = "Back up" }, "[0 name]"},
		"no script":                  {func(a *template.SavedAction) { a.Run = " " }, "[0 run]"},
		"a long script":              {func(a *template.SavedAction) { a.Run = strings.Repeat("x", 16<<10+1) }, "[0 run]"},
		"a long description":         {func(a *template.SavedAction) { a.Description = strings.Repeat("x", 2001) }, "[0 description]"},
		"others who may":             {func(a *template.SavedAction) { a.Who = "guest" }, "[0 who]"},
		"a long timeout":             {func(a *template.SavedAction) { a.Timeout = 25 * time.Hour }, "[0 timeout]"},
		"a negative batch":           {func(a *template.SavedAction) { a.Batch = -1 }, "[0 batch]"},
		"a parameter without a type": {func(a *template.SavedAction) { a.Parameters = []template.Parameter{{Name: "keep", Type: "what"}} }, "[0 parameters 0 type]"},
		"a parameter that sets something": {func(a *template.SavedAction) {
			a.Parameters = []template.Parameter{{Name: "keep", Type: template.ParameterText, To: []string{"config.x"}}}
		}, "[0 parameters 0 to]"},
	} {
		a := fine
		c.change(&a)
		wrong := CheckActions([]template.SavedAction{a})
		if len(wrong) != 1 || fmt.Sprint(wrong[0].Path) != c.path || wrong[0].Message == "" {
			t.Errorf("%s: %+v, want one at %s", name, wrong, c.path)
		}
	}
	if wrong := CheckActions([]template.SavedAction{fine, fine}); len(wrong) != 1 || fmt.Sprint(wrong[0].Path) != "[1 name]" {
		t.Errorf("twice the same name: %+v", wrong)
	}
	if wrong := CheckActions(make([]template.SavedAction, 51)); len(wrong) == 0 || !strings.Contains(wrong[0].Message, "at most 50") {
		t.Errorf("51 actions: %+v", wrong)
	}
}
