package plan

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/template"
)

// Run is a command that a plan runs on nodes. It is kept with its operation, and seen by all who see that.
type Run struct {
	// Command is the text of a shell script.
	Command string `json:"command"`
	// Action is the template's action that it is the script of, with the values of its parameters; "" is a command that a person typed.
	Action     string         `json:"action,omitempty"`
	Parameters map[string]any `json:"parameters,omitempty"`
	Timeout    time.Duration  `json:"timeout,omitempty"` // of each node; 0 is RunTimeout
}

// Bounds of a command.
const (
	MostCommand    = 16 << 10 // bytes
	RunTimeout     = 30 * time.Minute
	LeastRun       = time.Second
	MostRunTimeout = 24 * time.Hour
)

// Title is the command in one short line.
func (r *Run) Title() string {
	return humanize.CutText(strings.Join(strings.Fields(r.Command), " "), 60)
}

// Detail is what the audit log says of it.
func (r *Run) Detail() string {
	if r.Action == "" {
		return humanize.CutText(r.Command, 1000)
	}
	return humanize.CutText("action "+r.Action+" "+r.Values(), 1000)
}

// Values are those of the action's parameters, as "keep=3, name=shop".
func (r *Run) Values() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(r.Parameters)) {
		all = append(all, name+"="+template.ParameterValueText(r.Parameters[name]))
	}
	return strings.Join(all, ", ")
}

// Limit is how long it may take on a node.
func (r *Run) Limit() time.Duration {
	if r.Timeout == 0 {
		return RunTimeout
	}
	return r.Timeout
}

// NoRun is the reason of an error about an operation that runs no command.
const NoRun = "no_run"

// RunResult is how a command ended on a node.
type RunResult struct {
	Node  string        `json:"node"`
	State app.StepState `json:"state"`
	// Exit is the command's exit code; -1 where it hasn't ended, or ended without one, as where the node could not be reached.
	Exit  int    `json:"exit"`
	Error string `json:"error,omitempty"`
	// Cut says that lines of its output were left out, since they were too many.
	Cut bool `json:"cut,omitempty"`
	// StartedAt and EndedAt are those of the latest attempt.
	StartedAt time.Time `json:"started_at,omitzero"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
}

// RunExit is what is kept of how a command ended on a node.
type RunExit struct {
	Code int // NoExit where it has none
	Cut  bool
}

// NoExit is the exit code of what has none.
const NoExit = -1

// Words says how it ended: "exit code 3", "running".
func (r RunResult) Words() string {
	switch {
	case r.Exit == 0 && r.State == app.StepSucceeded:
		return "OK"
	case r.State == app.StepDropped && !r.StartedAt.IsZero():
		return "cancelled"
	case r.Exit > 0:
		return "exit code " + strconv.Itoa(r.Exit)
	}
	return r.State.Words()
}

// RunResults are how the steps of a command ended, in the order of the plan. Exits are by index of the step.
func RunResults(steps []app.Step, exits map[int]RunExit) []RunResult {
	all := []RunResult{}
	for _, st := range steps {
		if st.Action != app.ActionRun || st.Join {
			continue
		}
		r := RunResult{Node: st.Node, State: st.State, Exit: NoExit, Error: st.Error, StartedAt: st.StartedAt, EndedAt: st.EndedAt}
		if exit, known := exits[st.Index]; known && st.State.Ended() {
			r.Exit, r.Cut = exit.Code, exit.Cut
		}
		all = append(all, r)
	}
	return all
}

// WorstExit is the exit code of the node where it is worst: the greatest, and 1 where a node has none although it failed.
func WorstExit(all []RunResult) int {
	worst := 0
	for _, r := range all {
		exit := r.Exit
		if exit == NoExit && r.State != app.StepSucceeded {
			exit = 1
		}
		worst = max(worst, exit)
	}
	return worst
}
