package template

import (
	"fmt"
	"maps"
	"slices"
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
