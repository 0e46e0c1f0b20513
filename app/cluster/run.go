package cluster

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"muster/app"
	"muster/app/humanize"
	"muster/app/plan"
)

// checkRun refuses a command that can't be run.
func (m Update) checkRun() error {
	const field = "command"
	switch {
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
	return "Run a command on " + NodesInWords(on)
}
