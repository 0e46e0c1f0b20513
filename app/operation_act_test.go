package app

import (
	"strings"
	"testing"
	"time"
)

// The table in the comment of Act says the same.
func TestWhatIsPossibleInEachState(t *testing.T) {
	table := `
		waiting cancel
		running pause cancel retry
		paused resume cancel retry
		cancelling
		succeeded
		failed resume retry roll_back
		cancelled roll_back`
	for line := range strings.Lines(strings.TrimSpace(table)) {
		words := strings.Fields(line)
		o := Operation{Kind: OperationCreate, Status: OperationStatus(words[0])}
		if o.Status != OperationWaiting {
			o.StartedAt = time.Unix(1, 0)
		}
		var got []string
		for _, a := range o.Acts(true) {
			got = append(got, string(a))
		}
		if strings.Join(got, " ") != strings.Join(words[1:], " ") {
			t.Errorf("a create that %s allows %v, want %v", States[o.Status], got, words[1:])
		}
		if o.Status.Ended() && len(o.Acts(false)) > 0 {
			t.Errorf("one that is %s and was followed allows %v", o.Status, o.Acts(false))
		}
		for _, kind := range []OperationKind{OperationDelete, OperationRollBack, OperationRepair} {
			o.Kind = kind
			if o.Allows(ActRollBack, true) == nil {
				t.Errorf("a %s that is %s can be rolled back", kind, o.Status)
			}
		}
	}
}

func TestARefusalSaysWhatIsPossible(t *testing.T) {
	for _, tt := range []struct {
		kind   OperationKind
		status OperationStatus
		act    Act
		latest bool
		says   string
	}{
		{OperationCreate, OperationPaused, ActPause, true, "Creation is paused, so you can't pause it. You can resume it or cancel it."},
		{OperationCreate, OperationSucceeded, ActCancel, true, "Creation has succeeded, so you can't cancel it. "},
		{OperationCreate, OperationSucceeded, ActRollBack, true, "Creation has succeeded, so you can't roll it back. Delete the cluster instead."},
		{OperationCreate, OperationRunning, ActRollBack, true, "so you can't roll it back. Cancel it, then roll it back."},
		{OperationCreate, OperationCancelling, ActResume, true, "Wait until it has been cancelled, then roll it back."},
		{OperationCreate, OperationFailed, ActPause, true, "You can resume it, retry one of its nodes or roll it back."},
		{OperationCreate, OperationFailed, ActResume, false, "A later operation has changed the cluster. See that operation."},
		{OperationCreate, OperationCancelled, ActResume, true, "Creation was cancelled, so you can't resume it. You can roll it back."},
		{OperationDelete, OperationCancelled, ActResume, true, "You can delete the cluster."},
		{OperationDelete, OperationFailed, ActRollBack, true, "Deletion can't be rolled back because deleted machines can't be restored. You can resume it"},
		{OperationRun, OperationRunning, ActRetryNode, true,
			"A command can't be retried on one of its nodes. Wait until it has ended, or cancel it. Then run it again"},
		{OperationRun, OperationPaused, ActRetryNode, true, "A command can't be retried on one of its nodes."},
		{OperationRun, OperationRunning, ActResume, true, "so you can't resume it. You can pause it or cancel it."},
		{OperationRun, OperationFailed, ActRetryNode, true, "Run the command again, on the nodes where it failed."},
		{OperationRollBack, OperationRunning, ActResume, true, "The rollback is running, so you can't resume it. You can pause it or cancel it."},
	} {
		err := Operation{Kind: tt.kind, Status: tt.status, StartedAt: time.Unix(1, 0)}.Allows(tt.act, tt.latest)
		e := AsError(err)
		if err == nil || e.Code != EConflict || !strings.Contains(e.Message+" "+e.Hint, tt.says) {
			t.Errorf("%s of a %s %s: %q, want %q", tt.act, tt.status, tt.kind, e.Message+" "+e.Hint, tt.says)
		}
	}
	if acts := (Operation{Kind: OperationCreate, Status: OperationCancelled}).Acts(true); len(acts) > 0 {
		t.Errorf("of one that was cancelled before it began nothing was done, but it allows %v", acts)
	}
}
