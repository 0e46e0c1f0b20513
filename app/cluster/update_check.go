package cluster

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"muster/app"
	"muster/app/humanize"
	"muster/app/template"
)

// Bounds of what an update may say.
const (
	mostUpdateNames = 10_000    // services or nodes
	mostUpdateName  = 256       // bytes
	MostConfig      = 512 << 10 // bytes of a configuration, as JSON
)

// updateFields are the fields that count for each kind, beside on_failure and plan_hash.
var updateFields = map[app.OperationKind][]string{
	app.OperationResize:         {"size", "nodes", "hardware", "image", "kept_machine"},
	app.OperationAddServices:    {"services", "hardware", "image"},
	app.OperationRemoveServices: {"services"},
	app.OperationReconfigure:    {"config", "replace", "parameters", "no_restart", "batch", "ask_between_batches"},
	app.OperationStart:          {"services", "nodes"},
	app.OperationStop:           {"services", "nodes"},
	app.OperationRestart:        {"services", "nodes", "batch", "ask_between_batches"},
	app.OperationUpgrade:        {"batch", "ask_between_batches"},
	app.OperationRepair:         {"nodes"},
	app.OperationCompare:        {"services", "nodes"},
	app.OperationRun:            {"services", "nodes", "batch", "command", "timeout", "action", "parameters"},
}

// Check refuses what makes no sense whatever the cluster is like.
func (m Update) Check() error {
	fields, known := updateFields[m.Kind]
	if !known {
		kinds := make([]string, len(app.Updates))
		for i, k := range app.Updates {
			kinds[i] = string(k)
		}
		return InvalidUpdate("kind", fmt.Sprintf("Unknown kind of change %.40q.", string(m.Kind)), "Use one of: "+strings.Join(kinds, ", ")+".")
	}
	for _, f := range m.said() {
		if !slices.Contains(fields, f) {
			return InvalidUpdate(f, fmt.Sprintf("The field %s isn't used for changes of kind %s.", f, m.Kind),
				"Omit it. Accepted fields: "+humanize.And(fields)+".")
		}
	}
	if err := m.checkFailure(); err != nil {
		return err
	}
	if m.Kind == app.OperationRun {
		if err := m.checkRun(); err != nil {
			return err
		}
	}
	if m.OnFailure == app.FailureRollBack && !m.Kind.Undoable() {
		return InvalidUpdate("on_failure", "A repair can't be rolled back because deleted machines can't be restored.", "Omit on_failure.")
	}
	if err := m.checkNumbers(); err != nil {
		return err
	}
	if err := checkUpdateNames("services", m.Services); err != nil {
		return err
	}
	if err := checkUpdateNames("nodes", m.Nodes); err != nil {
		return err
	}
	return m.checkNeeded()
}

// checkFailure refuses a choice of what happens on a failure that does not fit.
func (m Update) checkFailure() error {
	if err := m.OnFailure.Check(); err != nil {
		return err
	}
	if err := m.PartialOverride.Check(m.OnFailure); err != nil {
		return err
	}
	grows := m.Kind == app.OperationResize && len(m.Nodes) == 0
	switch {
	case !grows && m.OnFailure.GoesOn():
		return InvalidUpdate("on_failure", "A partial result can only be accepted where machines are created.", "Omit on_failure, or set it to roll_back.")
	case !grows && m.MinAvailable != "":
		return InvalidUpdate("min_available", "A partial result can only be accepted where machines are created.", "Omit min_available.")
	case !grows && m.NoBackfill:
		return InvalidUpdate("no_backfill", "A partial result can only be accepted where machines are created.", "Omit no_backfill.")
	}
	return nil
}

func (m Update) checkNumbers() error {
	switch {
	case m.Size < 0 || m.Size > template.MaxNodes:
		return InvalidUpdate("size", fmt.Sprintf("Size must be 1 to %d.", template.MaxNodes), "Set size to the number of nodes you want.")
	case m.Batch < 0 || m.Batch > template.MaxNodes:
		return InvalidUpdate("batch", fmt.Sprintf("Batch must be 1 to %d nodes.", template.MaxNodes), "Set batch to the number of nodes to change at a time.")
	case len(m.Hardware) > mostUpdateName:
		return InvalidUpdate("hardware", "The hardware name is too long.", "")
	case len(m.Image) > mostUpdateName:
		return InvalidUpdate("image", "The image name is too long.", "")
	case len(m.KeptMachine) > mostUpdateName:
		return InvalidUpdate("kept_machine", "The name of the kept machine is too long.", "See the kept machines: muster cluster kept.")
	case len(m.PlanHash) > 64:
		return InvalidUpdate("plan_hash", "The plan hash is too long.", "Send the plan_hash from the preview.")
	}
	return nil
}

// checkNeeded refuses what does not say what is wanted.
func (m Update) checkNeeded() error {
	switch m.Kind {
	case app.OperationResize:
		if m.KeptMachine != "" {
			return m.checkKept()
		}
		if m.Size == 0 && len(m.Nodes) == 0 {
			return InvalidUpdate("size", "Size is required.", "Set size, or list the nodes to delete.")
		}
	case app.OperationAddServices, app.OperationRemoveServices:
		if len(m.Services) == 0 {
			return InvalidUpdate("services", "Services are required.", "Name at least one service.")
		}
	case app.OperationRestart, app.OperationReconfigure:
		if m.AskBetween && m.Batch == 0 {
			return InvalidUpdate("ask_between_batches", "All nodes change at once, so there are no batches to pause between.", "Set batch to the number of nodes to change at a time.")
		}
	}
	switch m.Kind {
	case app.OperationReconfigure:
		if len(m.Config)+len(m.Parameters) == 0 && !m.Replace {
			return InvalidUpdate("config", "Nothing to change in the configuration.", "Set the keys or parameters to change. Set a key to null to remove it.")
		}
		if n := ConfigSize(m.Config) + ConfigSize(m.Parameters); n > MostConfig {
			return TooMuchConfig(n)
		}
		if len(app.SecretNames(m.Config)) > 0 {
			return &app.Error{Code: app.EInvalid, Field: "config", Reason: "secret", Message: "The configuration in a request can't reference secrets.",
				Hint: "Ask an admin to reference the secret in the template or a service."}
		}
	}
	return nil
}

// checkKept refuses what doesn't go together with a kept machine: it is one more node, of the hardware and image that it has.
func (m Update) checkKept() error {
	const hint = "Omit it: the cluster grows by one node, of the machine's own hardware and image."
	switch {
	case len(m.Nodes) > 0:
		return InvalidUpdate("nodes", "Nodes can't be deleted while a kept machine is used again.", "Omit nodes, and delete them afterwards.")
	case m.Hardware != "":
		return InvalidUpdate("hardware", "A kept machine has its hardware already.", hint)
	case m.Image != "":
		return InvalidUpdate("image", "A kept machine has its image already.", hint)
	}
	return nil
}

// said returns the names of the fields that are set, beside those that count for every kind.
func (m Update) said() (fields []string) {
	for _, f := range []struct {
		name string
		set  bool
	}{{"size", m.Size != 0}, {"services", len(m.Services) > 0}, {"nodes", len(m.Nodes) > 0}, {"hardware", m.Hardware != ""}, {"image", m.Image != ""},
		{"kept_machine", m.KeptMachine != ""},
		{"config", len(m.Config) > 0}, {"replace", m.Replace}, {"parameters", len(m.Parameters) > 0}, {"no_restart", m.NoRestart}, {"batch",
			m.Batch != 0}, {"ask_between_batches", m.AskBetween}, {"command", m.Command != ""}, {"timeout", m.Timeout != ""},
		{"action", m.Action != ""}} {
		if f.set {
			fields = append(fields, f.name)
		}
	}
	return fields
}

func checkUpdateNames(field string, names []string) error {
	if len(names) > mostUpdateNames {
		return &app.Error{Code: app.ETooLarge, Field: field, Message: fmt.Sprintf("The %s list has more than %d entries.", field, mostUpdateNames), Hint: "Omit it to select all."}
	}
	seen := map[string]bool{}
	for _, n := range names {
		switch {
		case n == "" || len(n) > mostUpdateName:
			return InvalidUpdate(field, fmt.Sprintf("The %s list contains an invalid name.", field), "A name must have 1 to 256 bytes.")
		case seen[n]:
			return InvalidUpdate(field, fmt.Sprintf("%q is listed twice in %s.", n, field), "List each name once.")
		}
		seen[n] = true
	}
	return nil
}

// ConfigSize is the length of a configuration as JSON; one that cannot be written so is too large for anything.
func ConfigSize(config map[string]any) int {
	b, err := json.Marshal(config)
	if err != nil {
		return MostConfig + 1
	}
	return len(b)
}

func TooMuchConfig(n int) error {
	return &app.Error{Code: app.ETooLarge, Field: "config", Message: fmt.Sprintf("The configuration is too large: %d KiB, at most %d KiB allowed.", (n+1023)>>10, MostConfig>>10),
		Hint: "Store large values in a resource and put its address here."}
}

func InvalidUpdate(field, message, hint string) error {
	return &app.Error{Code: app.EInvalid, Field: field, Message: message, Hint: hint}
}
