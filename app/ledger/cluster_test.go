package ledger

import (
	"testing"
	"time"

	"muster/app"
)

func TestClusterStatusAfterOperations(t *testing.T) {
	for _, c := range []struct {
		name   string
		kind   app.OperationKind
		undone app.OperationKind
		left   int
		status app.OperationStatus
		want   app.ClusterStatus
		text   string
	}{
		{"created", app.OperationCreate, "", 0, app.OperationSucceeded, app.ClusterActive, ""},
		{"not created", app.OperationCreate, "", 0, app.OperationFailed, app.ClusterFailed, "why"},
		{"deleted", app.OperationDelete, "", 0, app.OperationSucceeded, app.ClusterDeleted, ""},
		{"not deleted", app.OperationDelete, "", 0, app.OperationFailed, app.ClusterFailed, "why Deletion is retried automatically."},
		{"a creation undone", app.OperationRollBack, app.OperationCreate, 0, app.OperationSucceeded, app.ClusterDeleted, ""},
		{"a creation undone that leaves machines", app.OperationRollBack, app.OperationCreate, 2, app.OperationSucceeded, app.ClusterActive, ""},
		{"a growth undone", app.OperationRollBack, app.OperationResize, 3, app.OperationSucceeded, app.ClusterActive, ""},
		{"the repair of an only node undone", app.OperationRollBack, app.OperationRepair, 0, app.OperationSucceeded, app.ClusterActive, ""},
		{"not undone", app.OperationRollBack, app.OperationUpgrade, 3, app.OperationFailed, app.ClusterFailed, "why The rollback is retried automatically."},
	} {
		o := &Operation{Operation: app.Operation{Kind: c.kind, Status: c.status, Message: "why", StartedAt: time.Unix(1, 0)}}
		got, moved := ClusterAfter(o, c.undone, c.left)
		if !moved || got != (After{c.want, c.text}) {
			t.Errorf("%s: %+v (%v), want %s %q", c.name, got, moved, c.want, c.text)
		}
	}
	for _, kind := range app.Updates {
		for status, want := range map[app.OperationStatus]app.ClusterStatus{app.OperationSucceeded: app.ClusterActive, app.OperationFailed: app.ClusterFailed,
			app.OperationCancelled: app.ClusterFailed} {
			if kind == app.OperationRun {
				want = app.ClusterActive // whatever the command said
			}
			o := &Operation{Operation: app.Operation{Kind: kind, Status: status, StartedAt: time.Unix(1, 0)}}
			if got, moved := ClusterAfter(o, "", 0); !moved || got.Status != want {
				t.Errorf("%s %s: %+v (%v), want %s", kind, status, got, moved, want)
			}
			o.StartedAt = time.Time{}
			if got, moved := ClusterAfter(o, "", 0); moved {
				t.Errorf("%s %s that never began: %+v", kind, status, got)
			}
		}
	}
}
