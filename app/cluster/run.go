package cluster

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"muster/app"
	"muster/app/humanize"
	"muster/app/plan"
	"muster/app/template"
)

// checkRun refuses a command that can't be run.
func (m Update) checkRun() error {
	const field = "command"
	switch {
	case m.Action != "" && m.Command != "":
		return InvalidUpdate(field, "An action has its own command.", "Omit command, or action.")
	case m.Action == "" && len(m.Parameters) > 0:
		return InvalidUpdate("parameters", "Only actions have parameters.", "Set action, or omit parameters.")
	case len(m.Action) > mostUpdateName:
		return InvalidUpdate("action", "The action's name is too long.", "See the cluster's actions: muster cluster actions.")
	case ConfigSize(m.Parameters) > MostConfig:
		return TooMuchConfig(ConfigSize(m.Parameters))
	case m.Action != "":
		_, err := m.RunTimeout()
		return err
	case m.OnFailure != "" && m.OnFailure != app.FailureStay:
		return InvalidUpdate("on_failure", "A command can't be rolled back.", "Omit on_failure.")
	case strings.TrimSpace(m.Command) == "":
		return InvalidUpdate(field, "A command is required.", "Enter the command to run on the nodes.")
	case len(m.Command) > plan.MostCommand:
		return &app.Error{Code: app.ETooLarge, Field: field,
			Message: fmt.Sprintf("The command is too long: %d bytes, at most %d allowed.", len(m.Command), plan.MostCommand),
			Hint:    "Put a long script into a service or a resource of the template."}
	case !utf8.ValidString(m.Command) || strings.ContainsRune(m.Command, 0):
		return InvalidUpdate(field, "The command isn't text: it has bytes that aren't UTF-8, or NUL characters.", "Remove them.")
	}
	_, err := m.RunTimeout()
	return err
}

// RunTimeout is how long a command may take on each node.
func (m Update) RunTimeout() (time.Duration, error) {
	if m.Timeout == "" {
		return plan.RunTimeout, nil
	}
	d, err := time.ParseDuration(m.Timeout)
	if err != nil || d < plan.LeastRun || d > plan.MostRunTimeout {
		return 0, InvalidUpdate("timeout", fmt.Sprintf("The timeout %.40q isn't a duration of %s to %s.", m.Timeout,
			humanize.Duration(plan.LeastRun), humanize.Duration(plan.MostRunTimeout)), "Use a duration such as 30s, 10m or 2h.")
	}
	return d, nil
}

// runTitle says what is run, and where.
func (p UpdatePreview) runTitle() string {
	on := p.standing(func(n UpdatedNode) bool { return n.Runs })
	if r := p.Plan.Run; r != nil && r.Action != "" {
		return "Run action " + r.Action + " on " + NodesInWords(on)
	}
	return "Run a command on " + NodesInWords(on)
}

// MayAct refuses an action to those whom its template doesn't let run it.
func MayAct(actor app.Actor, c app.Cluster, a template.SavedAction) error {
	switch {
	case a.Who == template.ActionOwners:
		return actor.MayChange("Update", c)
	case a.Who == template.ActionAdmins && !actor.Role.AtLeast(app.RoleAdmin):
		return &app.Error{Code: app.EForbidden, Message: fmt.Sprintf("Only admins can run action %s.", a.Name), Hint: "Ask an admin to run it."}
	}
	return actor.MayChange("RunCommand", c)
}
