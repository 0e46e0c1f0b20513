package ledger

import (
	"testing"

	"muster/app"
)

// From every state there is a way to an end, and from ends that are not good ones a person can continue.
func TestEveryStateCanBeLeft(t *testing.T) {
	for from := range stepTable {
		if !leads(from, map[app.StepState]bool{}) {
			t.Errorf("a step that is %s never ends", from)
		}
	}
	if len(stepTable[app.StepFailed]) == 0 {
		t.Error("a failed step cannot be resumed")
	}
	for from := range operationTable {
		if !operationLeads(from, map[app.OperationStatus]bool{}) {
			t.Errorf("an operation that is %s never ends", from)
		}
	}
	for _, act := range []operationEvent{resume, resumeNode} {
		if operationTable[app.OperationFailed][act] != app.OperationRunning {
			t.Errorf("a failed operation cannot be %s", act)
		}
	}
	for _, act := range []operationEvent{resume, cancel} {
		if operationTable[app.OperationPaused][act] == "" {
			t.Errorf("a paused operation cannot be %s", act)
		}
	}
}

func leads(s app.StepState, seen map[app.StepState]bool) bool {
	if s.Ended() {
		return true
	}
	seen[s] = true
	for _, to := range stepTable[s] {
		if !seen[to] && leads(to, seen) {
			return true
		}
	}
	return false
}

func operationLeads(s app.OperationStatus, seen map[app.OperationStatus]bool) bool {
	if s.Ended() {
		return true
	}
	seen[s] = true
	for _, to := range operationTable[s] {
		if !seen[to] && operationLeads(to, seen) {
			return true
		}
	}
	return false
}

// States that the tables lead to are in the tables, and what is done for good stays so.
func TestTransitionTablesAreComplete(t *testing.T) {
	for from, events := range stepTable {
		for e, to := range events {
			if stepTable[to] == nil {
				t.Errorf("%s, %s leads to %q, which the table does not know", from, e, to)
			}
		}
	}
	for from, events := range operationTable {
		for e, to := range events {
			if operationTable[to] == nil {
				t.Errorf("%s, %s leads to %q, which the table does not know", from, e, to)
			}
		}
	}
	for _, s := range []app.StepState{app.StepSucceeded, app.StepDropped} {
		if len(stepTable[s]) != 0 {
			t.Errorf("a step that is %s can change", s)
		}
	}
	for _, s := range []app.OperationStatus{app.OperationSucceeded, app.OperationCancelled} {
		if len(operationTable[s]) != 0 {
			t.Errorf("an operation that is %s can change", s)
		}
	}
}

func TestBulkLeavesRunningStepsToTheirWorkers(t *testing.T) {
	if _, ok := Bulk(cancelled)[app.StepRunning]; ok {
		t.Error("a cancel moves running steps at once")
	}
	want := map[app.StepState]app.StepState{app.StepWaiting: app.StepDropped, app.StepReady: app.StepDropped, app.StepQueued: app.StepDropped,
		app.StepAsked: app.StepDropped}
	got := Bulk(cancelled)
	for from, to := range want {
		if got[from] != to {
			t.Errorf("a cancel makes %s %q, want %s", from, got[from], to)
		}
	}
	if got := Bulk(paused); len(got) != 2 || got[app.StepQueued] != app.StepReady || got[app.StepAsked] != app.StepReady {
		t.Errorf("a pause moves %v, want queued and asked to ready alone", got)
	}
}

func TestShare(t *testing.T) {
	op := func(running, queued int) *Operation {
		return &Operation{Operation: app.Operation{Status: app.OperationRunning}, Running: running, Queued: queued}
	}
	for _, c := range []struct {
		name  string
		ops   []*Operation
		slots int
		want  []int
	}{
		{"nothing to do", nil, 3, []int{}},
		{"one has it all", []*Operation{op(5, 9)}, 3, []int{3}},
		{"no more than there is", []*Operation{op(0, 2), op(1, 1)}, 9, []int{2, 1}},
		{"the one with the fewest running first", []*Operation{op(60, 900), op(0, 4)}, 3, []int{0, 3}},
		{"up to the same level, then by turns", []*Operation{op(3, 9), op(1, 9)}, 5, []int{1, 4}},
		{"among equals the first", []*Operation{op(2, 9), op(2, 9), op(2, 9)}, 4, []int{2, 1, 1}},
		{"high ones are skipped over", []*Operation{op(0, 1), op(1000000, 5), op(2000000, 5)}, 3, []int{1, 2, 0}},
		{"one that is paused gets none", []*Operation{{Operation: app.Operation{Status: app.OperationPaused}, Queued: 3}, op(7, 1)}, 2, []int{0, 1}},
	} {
		got := Share(c.ops, c.slots)
		for i := range c.want {
			if len(got) != len(c.want) || got[i] != c.want[i] {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
				break
			}
		}
	}
}
