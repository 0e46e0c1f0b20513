package template

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"muster/app"
	"muster/app/humanize"
)

// HookPhase says at what time of an operation an operation hook has its turn. A hook without one is sent notices.
type HookPhase string

// The phases.
const (
	HookBefore  HookPhase = "before"  // nothing is done until it has answered, see HookChoice, or its command has ended
	HookAfter   HookPhase = "after"   // once the operation has succeeded
	HookFailure HookPhase = "failure" // once it has ended otherwise; commands cannot be run then
	// HookTemplate is a tenant's hook that is sent nothing by itself: templates name it, and say when.
	HookTemplate HookPhase = "template"
	// HookRequest is a tenant's hook that is asked about each request before it is accepted, and for previews. Templates can't have one.
	HookRequest HookPhase = "request"
)

// HookPhases are those that a tenant's hook can have.
var HookPhases = []HookPhase{HookBefore, HookAfter, HookFailure, HookTemplate, HookRequest}

// HookChoice is what happens to an operation where a hook before it does not answer in time.
type HookChoice string

// The choices.
const (
	HookVeto     HookChoice = "veto" // it does not happen
	HookContinue HookChoice = "continue"
)

// The limits of operation hooks.
const (
	DefaultHookTimeout = 5 * time.Minute
	MaxHookTimeout     = 24 * time.Hour
	MaxTemplateHooks   = 20
	MaxHookScript      = 64 << 10 // bytes
	maxHookServices    = 100
	// DeleteVetoes is how often a cluster's deletion can be vetoed. The next one that is asked for goes ahead, whatever hooks
	// say: machines cost money, and someone must be able to give them back.
	DeleteVetoes = 2
	// MaxNewsNodes is how many nodes a hook is notified of.
	MaxNewsNodes = 200
)

// OperationHook is an operation hook, as a template declares it and as a plan carries it out. Just one of SendTo and Script is
// set.
type OperationHook struct {
	Name       string              `json:"name"`
	When       HookPhase           `json:"when"`
	Operations []app.OperationKind `json:"operations,omitempty"` // sorted; none: all
	// SendTo is the tenant's hook that is called.
	SendTo string `json:"send_to,omitempty"`
	// Timeout is for how long an operation waits for the answer, or one run of the script may take; 0 is DefaultHookTimeout,
	// or what a service action has.
	Timeout   time.Duration `json:"timeout,omitempty"`
	OnTimeout HookChoice    `json:"on_timeout,omitempty"` // "" is HookVeto
	// Script is run by the shell automator, on the nodes with one of Services, or on all where there are none.
	Script   string   `json:"script,omitempty"`
	Services []string `json:"services,omitempty"` // sorted
}

// Wants reports whether the hook is about such an operation.
func (h OperationHook) Wants(k app.OperationKind) bool {
	return len(h.Operations) == 0 || slices.Contains(h.Operations, k)
}

// OnNode reports whether the script is run on a node with these services.
func (h OperationHook) OnNode(services []string) bool {
	return len(h.Services) == 0 || slices.ContainsFunc(h.Services, func(s string) bool { return slices.Contains(services, s) })
}

// allOperations are all kinds that hooks can choose from.
func allOperations() []app.OperationKind {
	return append([]app.OperationKind{app.OperationCreate, app.OperationDelete, app.OperationRollBack, app.OperationAcceptPartial, app.OperationSleep, app.OperationWake}, app.Updates...)
}

// Scripts are the hooks of a list that are run on nodes during an operation, those that come first in front.
func Scripts(hooks []OperationHook, k app.OperationKind) (list []OperationHook) {
	if !k.RunsScripts() {
		return nil
	}
	for _, h := range hooks {
		if h.Script != "" && h.Wants(k) && (h.When == HookBefore || h.When == HookAfter) {
			list = append(list, h)
		}
	}
	return list
}

// hookStep is the part of a step's id between the node and the hook.
const hookStep = ".hook."

// HookStepID is the id of a hook's step on a node.
func HookStepID(node, hook string) string { return node + hookStep + hook }

// HookOfStepID is the hook of HookStepID.
func HookOfStepID(node, id string) string { return strings.TrimPrefix(id, node+hookStep) }

// HookOfStep returns the hook that a step runs.
func HookOfStep(s app.Step) string { return HookOfStepID(s.Node, s.ID) }

// Check says what is wrong with an operation hook; the field is that of the hook. It is EInvalid, or nil.
func (h OperationHook) Check() *app.Error {
	wrong := func(field, message, hint string) *app.Error {
		return &app.Error{Code: app.EInvalid, Field: field, Message: message, Hint: hint}
	}
	for _, k := range h.Operations {
		if !slices.Contains(allOperations(), k) {
			return wrong("operations", fmt.Sprintf("Unknown operation kind %q.", humanize.Clip(string(k))), "One of: "+Joined(allOperations())+".")
		}
		if h.Script != "" && !k.RunsScripts() {
			why := "must be deleted anyway"
			if !k.GivesBack() {
				why = "must be stopped or started anyway"
			}
			return wrong("operations", fmt.Sprintf("Scripts can't run for %s: the machines may not answer, and %s.", k.Text(), why),
				"Call a webhook instead, with send_to.")
		}
		if h.Script != "" && k == app.OperationAcceptPartial { // it would never run: an accepted partial result has the scripts of what it continues with
			return wrong("operations", "Scripts can't run for accept_partial: the scripts that run after creation or the resize run when it ends.",
				"Leave accept_partial out, and name create and resize.")
		}
	}
	if len(h.Services) > maxHookServices {
		return wrong("services", fmt.Sprintf("At most %d services are allowed.", maxHookServices), "")
	}
	switch {
	case !HookName(h.Name):
		return wrong("name", "Name must be 1 to 63 lowercase letters, digits, '-' or '_'.", "For example \"warm-cache\".")
	case h.When != HookBefore && h.When != HookAfter && h.When != HookFailure:
		return wrong("when", fmt.Sprintf("Unknown value %q for when.", humanize.Clip(string(h.When))), "Use before, after or failure.")
	case (h.SendTo == "") == (h.Script == ""):
		return wrong("run", "A hook needs exactly one of send_to (the name of one of the tenant's webhooks) and run (a script).", "")
	case h.Script != "" && h.When == HookFailure:
		return wrong("when", "Scripts can run before and after an operation, but not when it fails.", "Call a webhook instead, with send_to.")
	case len(h.Script) > MaxHookScript || !utf8.ValidString(h.Script) || strings.ContainsRune(h.Script, 0):
		return wrong("run", fmt.Sprintf("The script must be text of at most %s.", humanize.Bytes(MaxHookScript)), "")
	case h.Script == "" && len(h.Services) > 0:
		return wrong("services", "Services apply only to scripts; a webhook doesn't run on nodes.", "")
	case h.Timeout < 0 || h.Timeout > MaxHookTimeout || h.Timeout > 0 && h.Timeout < time.Second:
		return wrong("timeout", "Timeout must be from 1 s to 24 h.", "")
	case h.OnTimeout != "" && h.OnTimeout != HookVeto && h.OnTimeout != HookContinue:
		return wrong("on_timeout", fmt.Sprintf("Unknown value %q for on_timeout.", humanize.Clip(string(h.OnTimeout))), "Use veto or continue.")
	case h.OnTimeout != "" && (h.When != HookBefore || h.Script != ""):
		return wrong("on_timeout", "on_timeout applies only to webhooks called before an operation.", "")
	}
	return nil
}

// patience is how long an operation waits for an answer.
func (h OperationHook) patience() time.Duration {
	if h.Timeout == 0 {
		return DefaultHookTimeout
	}
	return h.Timeout
}

// Deadline is until when an operation waits for the answer of a hook that is asked now.
func (h OperationHook) Deadline(now time.Time) time.Time { return now.Add(h.patience()) }

// OperationNews is what an operation hook is sent, as things were at that moment.
type OperationNews struct {
	At        time.Time     `json:"at"`
	Hook      string        `json:"hook"`
	When      HookPhase     `json:"when"`
	Operation app.Operation `json:"operation"`
	Cluster   app.Cluster   `json:"cluster"`
	Nodes     []app.Node    `json:"nodes"`       // the first MaxNewsNodes
	NodeCount int           `json:"nodes_total"` // all
	Plan      NewsOfPlan    `json:"plan"`
	Until     time.Time     `json:"answer_until,omitzero"` // while the operation waits for an answer
	OnTimeout HookChoice    `json:"on_timeout,omitempty"`
	Duration  time.Duration `json:"duration,omitempty"` // of one that has ended
}

// NewsOfPlan is a plan in short.
type NewsOfPlan struct {
	Hash     string         `json:"hash"`
	Steps    int            `json:"steps"`
	Actions  map[string]int `json:"actions"`  // how many steps of each action, those of services as "nginx.start"
	Expected time.Duration  `json:"expected"` // estimate, on unlimited workers
}
