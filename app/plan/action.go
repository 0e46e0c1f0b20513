package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"muster/app/humanize"
	"muster/app/template"
)

// Bounds of saved actions.
const (
	mostActions      = 50
	mostActionScript = 16 << 10
	mostActionText   = 2000
	mostActionTime   = 24 * time.Hour
)

var actionName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)

// ActionProblem is one thing wrong with the declaration of an action. Path leads to it, below actions.
type ActionProblem struct {
	Path          []any
	Message, Hint string
}

// CheckActions says what is wrong with how actions are declared. Selectors and services are checked by others.
func CheckActions(all []template.SavedAction) (problems []ActionProblem) {
	say := func(message, hint string, path ...any) {
		problems = append(problems, ActionProblem{path, message, hint})
	}
	if len(all) > mostActions {
		say(fmt.Sprintf("%d actions; a template can have at most %d", len(all), mostActions), "")
		all = all[:mostActions]
	}
	seen := map[string]bool{}
	for i, a := range all {
		if !actionName.MatchString(a.Name) {
			say(fmt.Sprintf("invalid action name %.70q", a.Name), "use a lowercase letter, then letters, digits, '_' and '-', at most 63 in all", i, "name")
		} else if seen[a.Name] {
			say(fmt.Sprintf("action %q is defined twice", a.Name), "give each action a name of its own", i, "name")
		}
		seen[a.Name] = true
		checkAction(a, func(message, hint string, path ...any) { say(message, hint, append([]any{i}, path...)...) })
	}
	return problems
}

func checkAction(a template.SavedAction, say func(message, hint string, path ...any)) {
	if strings.TrimSpace(a.Run) == "" || len(a.Run) > mostActionScript {
		say(fmt.Sprintf("a script of 1 to %d bytes is required, not %d", mostActionScript, len(a.Run)), "put a long script into a resource", "run")
	}
	if len(a.Label) > mostActionText || len(a.Description) > mostActionText {
		say(fmt.Sprintf("label and description can have at most %d bytes each", mostActionText), "shorten them", "description")
	}
	if !slices.Contains([]template.ActionUser{"", template.ActionUsers, template.ActionOwners, template.ActionAdmins}, a.Who) {
		say(fmt.Sprintf("unknown who %.40q", a.Who), "use user, owner or admin", "who")
	}
	if a.Timeout != 0 && (a.Timeout < time.Second || a.Timeout > mostActionTime) {
		say("the timeout must be from 1s to 24h, not "+humanize.DurationField(a.Timeout), "use a form such as 30s, 10m or 2h", "timeout")
	}
	if a.Batch < 0 || a.Batch > template.MaxNodes {
		say(fmt.Sprintf("the batch must be from 1 to %d nodes, not %d", template.MaxNodes, a.Batch), "omit it for all nodes at once", "batch")
	}
	for _, p := range template.CheckParameters(a.Parameters) {
		path := []any{"parameters", p.Index}
		if p.Key != "" {
			path = append(path, p.Key)
		}
		say(p.Message, p.Hint, path...)
	}
	for i, p := range a.Parameters {
		if len(p.To) > 0 {
			say("a parameter of an action sets nothing in the configuration", "remove to; the script has it in $"+variable(p), "parameters", i, "to")
		}
	}
}

// variable is where the script of an action finds the value.
func variable(p template.Parameter) string {
	return "CONFIG_PARAMETER_" + strings.ToUpper(strings.ReplaceAll(p.Name, "-", "_"))
}
