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

// Bounds of what an amendment may say.
const (
	mostAmendNames = 10_000    // services or nodes
	mostAmendName  = 256       // bytes
	MostConfig     = 512 << 10 // bytes of a configuration, as JSON
)

// amendFields are the fields that count for each kind, beside on_failure and plan_hash.
var amendFields = map[app.OperationKind][]string{
	app.OperationResize:         {"size", "nodes", "hardware", "image"},
	app.OperationAddServices:    {"services", "hardware", "image"},
	app.OperationRemoveServices: {"services"},
	app.OperationReconfigure:    {"config", "parameters", "no_restart", "batch", "ask_between_batches"},
	app.OperationStart:          {"services", "nodes"},
	app.OperationStop:           {"services", "nodes"},
	app.OperationRestart:        {"services", "nodes", "batch", "ask_between_batches"},
	app.OperationUpgrade:        {"batch", "ask_between_batches"},
	app.OperationRepair:         {"nodes"},
	app.OperationCompare:        {"services", "nodes"},
}

// Check refuses what makes no sense whatever the cluster is like.
func (m Amendment) Check() error {
	fields, known := amendFields[m.Kind]
	if !known {
		kinds := make([]string, len(app.Amendments))
		for i, k := range app.Amendments {
			kinds[i] = string(k)
		}
		return WrongAmend("kind", fmt.Sprintf("There is no amendment %.40q.", string(m.Kind)), "One of: "+strings.Join(kinds, ", ")+".")
	}
	for _, f := range m.said() {
		if !slices.Contains(fields, f) {
			return WrongAmend(f, fmt.Sprintf("The field %s does not count for an amendment of the kind %s.", f, m.Kind),
				"Leave it out; what counts is "+humanize.And(fields)+".")
		}
	}
	if err := m.checkFailure(); err != nil {
		return err
	}
	if m.OnFailure == app.FailureRollBack && !m.Kind.Undoable() {
		return WrongAmend("on_failure", "A repair cannot be rolled back: the machines that it gives back are gone.", "Leave on_failure out.")
	}
	if err := m.checkNumbers(); err != nil {
		return err
	}
	if err := checkAmendNames("services", m.Services); err != nil {
		return err
	}
	if err := checkAmendNames("nodes", m.Nodes); err != nil {
		return err
	}
	return m.checkNeeded()
}

// checkFailure refuses a choice of what happens on a failure that does not fit.
func (m Amendment) checkFailure() error {
	if err := m.OnFailure.Check(); err != nil {
		return err
	}
	if err := m.Survival.Check(m.OnFailure); err != nil {
		return err
	}
	grows := m.Kind == app.OperationResize && len(m.Nodes) == 0
	switch {
	case !grows && m.OnFailure.GoesOn():
		return WrongAmend("on_failure", "Only where machines are made can it be gone on with those that come.", "Leave on_failure out, or say roll_back.")
	case !grows && m.AtLeast != "":
		return WrongAmend("at_least", "Only where machines are made can it be gone on with those that come.", "Leave at_least out.")
	case !grows && m.NoTopUp:
		return WrongAmend("no_top_up", "Only where machines are made can it be gone on with those that come.", "Leave no_top_up out.")
	}
	return nil
}

func (m Amendment) checkNumbers() error {
	switch {
	case m.Size < 0 || m.Size > template.MaxNodes:
		return WrongAmend("size", fmt.Sprintf("A size is between 1 and %d.", template.MaxNodes), "Say how many nodes there shall be afterwards.")
	case m.Batch < 0 || m.Batch > template.MaxNodes:
		return WrongAmend("batch", fmt.Sprintf("A batch is between 1 and %d nodes.", template.MaxNodes), "Say on how many nodes at a time something is done.")
	case len(m.Hardware) > mostAmendName:
		return WrongAmend("hardware", "That is no name of a hardware type: it is too long.", "")
	case len(m.Image) > mostAmendName:
		return WrongAmend("image", "That is no name of an image type: it is too long.", "")
	case len(m.PlanHash) > 64:
		return WrongAmend("plan_hash", "That is no hash of a plan: it is too long.", "Send the plan_hash of the preview.")
	}
	return nil
}

// checkNeeded refuses what does not say what is wanted.
func (m Amendment) checkNeeded() error {
	switch m.Kind {
	case app.OperationResize:
		if m.Size == 0 && len(m.Nodes) == 0 {
			return WrongAmend("size", "It is not said how many nodes there shall be.", "Give the size, or the nodes that shall go.")
		}
	case app.OperationAddServices, app.OperationRemoveServices:
		if len(m.Services) == 0 {
			return WrongAmend("services", "It is not said which services.", "Name at least one.")
		}
	case app.OperationRestart, app.OperationReconfigure:
		if m.AskBetween && m.Batch == 0 {
			return WrongAmend("ask_between_batches", "All nodes are done at once, so there is nothing between batches.", "Say with batch on how many nodes at a time something is done.")
		}
	}
	switch m.Kind {
	case app.OperationReconfigure:
		if len(m.Config)+len(m.Parameters) == 0 {
			return WrongAmend("config", "It is not said what shall be otherwise in the configuration.", "Give the keys or the parameters that change; null takes one out.")
		}
		if n := ConfigSize(m.Config) + ConfigSize(m.Parameters); n > MostConfig {
			return TooMuchConfig(n)
		}
		if len(app.SecretNames(m.Config)) > 0 {
			return &app.Error{Code: app.EInvalid, Field: "config", Reason: "secret", Message: "The configuration of a request cannot refer to secrets.",
				Hint: "Ask an admin to let the template or a service refer to it."}
		}
	}
	return nil
}

// said returns the names of the fields that are set, beside those that count for every kind.
func (m Amendment) said() (fields []string) {
	for _, f := range []struct {
		name string
		set  bool
	}{{"size", m.Size != 0}, {"services", len(m.Services) > 0}, {"nodes", len(m.Nodes) > 0}, {"hardware", m.Hardware != ""}, {"image", m.Image != ""},
		{"config", len(m.Config) > 0}, {"parameters", len(m.Parameters) > 0}, {"no_restart", m.NoRestart}, {"batch", m.Batch != 0}, {"ask_between_batches", m.AskBetween}} {
		if f.set {
			fields = append(fields, f.name)
		}
	}
	return fields
}

func checkAmendNames(field string, names []string) error {
	if len(names) > mostAmendNames {
		return &app.Error{Code: app.ETooLarge, Field: field, Message: fmt.Sprintf("The list of %s is longer than %d.", field, mostAmendNames), Hint: "Leave it out to mean all."}
	}
	seen := map[string]bool{}
	for _, n := range names {
		switch {
		case n == "" || len(n) > mostAmendName:
			return WrongAmend(field, fmt.Sprintf("In the list of %s stands something that is no name.", field), "A name has 1 to 256 bytes.")
		case seen[n]:
			return WrongAmend(field, fmt.Sprintf("%q stands in the list of %s twice.", n, field), "Name each once.")
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
	return &app.Error{Code: app.ETooLarge, Field: "config", Message: fmt.Sprintf("The configuration would have %d KiB, and may have %d.", (n+1023)>>10, MostConfig>>10),
		Hint: "Put large things into a resource, and their address here."}
}

func WrongAmend(field, message, hint string) error {
	return &app.Error{Code: app.EInvalid, Field: field, Message: message, Hint: hint}
}
