package template

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
)

// SavedAction is a script that a template offers for its clusters, such as a backup. People run it by its name, with values of its parameters.
type SavedAction struct {
	Name        string `json:"name"`
	Label       string `json:"label,omitempty"`
	Description string `json:"description,omitempty"`
	// Parameters are values for the script, which finds them in CONFIG_PARAMETER_… variables.
	Parameters []Parameter `json:"parameters,omitempty"`
	On         []string    `json:"on,omitempty"` // selectors of nodes; none is all
	Run        string      `json:"run"`          // the script
	Who        ActionUser  `json:"who,omitempty"`
	// Approval says that someone has to approve each run.
	Approval bool          `json:"approval,omitempty"`
	Timeout  time.Duration `json:"timeout,omitempty"` // on each node
	Batch    int           `json:"batch,omitempty"`   // nodes at a time; 0 is all
}

// ActionUser is who may run a saved action.
type ActionUser string

// Those who may run one.
const (
	ActionUsers  ActionUser = "user"  // everyone who may use the cluster; "" means this
	ActionOwners ActionUser = "owner" // its owner and co-owners
	ActionAdmins ActionUser = "admin" // admins of the tenant
)

// Title is what people call the action.
func (a SavedAction) Title() string {
	if a.Label != "" {
		return a.Label
	}
	return humanize.Upper(humanize.Spaced(a.Name))
}

// ActionNamed returns one of the actions; EInvalid where there is none of the name.
func ActionNamed(all []SavedAction, name string) (SavedAction, error) {
	names := make([]string, 0, len(all))
	for _, a := range all {
		if a.Name == name {
			return a, nil
		}
		names = append(names, a.Name)
	}
	e := &app.Error{Code: app.EInvalid, Field: "action", Message: fmt.Sprintf("The cluster has no action %.70q.", name),
		Hint: "Its template defines no actions. To run a command instead, use muster cluster run."}
	if len(names) > 0 {
		e.Hint = humanize.DidYouMean(name, names, "It has "+humanize.And(names)+".")
	}
	return SavedAction{}, e
}

// Values checks values of the action's parameters, and fills in what they are by default. EInvalid with the field parameters.NAME.
func (a SavedAction) Values(given map[string]any) (map[string]any, error) {
	values := map[string]any{}
	known := map[string]bool{}
	for _, p := range a.Parameters {
		known[p.Name] = true
		v, err := p.Value(given[p.Name])
		if err != nil {
			return nil, err
		}
		if v == nil {
			v, _ = p.Read(p.Default)
		}
		switch {
		case v != nil:
			values[p.Name] = v
		case p.Required:
			return nil, &app.Error{Code: app.EInvalid, Reason: "parameter", Field: "parameters." + p.Name,
				Message: fmt.Sprintf("%s is required by action %s.", p.Title(), a.Name), Hint: p.Hint()}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !known[name] {
			return nil, a.unknown(name)
		}
	}
	return values, nil
}

func (a SavedAction) unknown(name string) error {
	names := make([]string, 0, len(a.Parameters))
	for _, p := range a.Parameters {
		names = append(names, p.Name)
	}
	hint := "The action has no parameters."
	if len(names) > 0 {
		hint = humanize.DidYouMean(name, names, "It has "+humanize.And(names)+".")
	}
	return &app.Error{Code: app.EInvalid, Reason: "parameter", Field: "parameters." + quotedName(name),
		Message: fmt.Sprintf("Action %s has no parameter %.70q.", a.Name, name), Hint: hint}
}

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
func CheckActions(all []SavedAction) (problems []ActionProblem) {
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
		a.check(func(message, hint string, path ...any) { say(message, hint, append([]any{i}, path...)...) })
	}
	return problems
}

func (a SavedAction) check(say func(message, hint string, path ...any)) {
	if strings.TrimSpace(a.Run) == "" || len(a.Run) > mostActionScript {
		say(fmt.Sprintf("a script of 1 to %d bytes is required, not %d", mostActionScript, len(a.Run)), "put a long script into a resource", "run")
	}
	if len(a.Label) > mostActionText || len(a.Description) > mostActionText {
		say(fmt.Sprintf("label and description can have at most %d bytes each", mostActionText), "shorten them", "description")
	}
	if !slices.Contains([]ActionUser{"", ActionUsers, ActionOwners, ActionAdmins}, a.Who) {
		say(fmt.Sprintf("unknown who %.40q", a.Who), "use user, owner or admin", "who")
	}
	if a.Timeout != 0 && (a.Timeout < time.Second || a.Timeout > mostActionTime) {
		say("the timeout must be from 1s to 24h, not "+humanize.DurationField(a.Timeout), "use a form such as 30s, 10m or 2h", "timeout")
	}
	if a.Batch < 0 || a.Batch > MaxNodes {
		say(fmt.Sprintf("the batch must be from 1 to %d nodes, not %d", MaxNodes, a.Batch), "omit it for all nodes at once", "batch")
	}
	for _, p := range CheckParameters(a.Parameters) {
		path := []any{"parameters", p.Index}
		if p.Key != "" {
			path = append(path, p.Key)
		}
		say(p.Message, p.Hint, path...)
	}
	for i, p := range a.Parameters {
		if len(p.To) > 0 {
			say("a parameter of an action sets nothing in the configuration", "remove to; the script has it in $"+p.variable(), "parameters", i, "to")
		}
	}
}

// variable is where the script of an action finds the value.
func (p Parameter) variable() string {
	return "CONFIG_PARAMETER_" + strings.ToUpper(strings.ReplaceAll(p.Name, "-", "_"))
}
