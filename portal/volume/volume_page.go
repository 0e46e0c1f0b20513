package volume

import (
	"time"

	"muster/app"
	"muster/app/volume"
)

// List is the page of volumes.
type List struct {
	Now       time.Time
	Volumes   []volume.Volume
	Snapshots []volume.Snapshot
	Wrong     *app.Error
}

// stateMark is the mark and word of a volume's state.
func stateMark(v volume.Volume) (mark, word string) {
	switch v.State {
	case volume.StateAttached:
		return string(app.StepSucceeded), "Attached"
	case volume.StateKept:
		return string(app.StepReady), "Kept"
	case volume.StateDeleting:
		if v.Error != "" {
			return string(app.StepFailed), "Not deleted yet"
		}
		return string(app.StepRunning), "Deleting"
	case volume.StatePlanned:
		return string(app.StepRunning), "Being created"
	case volume.StateDetached:
		return string(app.StepReady), "Detached"
	}
	return string(app.StepDropped), "Deleted"
}

// whose says where a volume belongs.
func whose(v volume.Volume) string {
	if v.Cluster == "" {
		return "From cluster " + v.From + ", node " + v.Node + ", service " + v.Service
	}
	return "Service " + v.Service
}

// soon reports whether a kept volume expires so soon that its owner was notified.
func (l List) soon(v volume.Volume) bool {
	return v.State == volume.StateKept && !v.ExpiresAt.IsZero() && v.ExpiresAt.Before(l.Now.Add(volume.ExpiryNotice))
}

// until says until when a kept volume is kept.
func (l List) until(v volume.Volume) string {
	switch {
	case v.State != volume.StateKept:
		return "—"
	case v.ExpiresAt.IsZero():
		return "Never"
	}
	return v.ExpiresAt.UTC().Format(time.DateOnly)
}

// fate says what happens to a volume that a node has.
func fate(v volume.Volume) string {
	if v.OnDelete == "keep" {
		return "Kept"
	}
	return "Deleted"
}

// copyable reports whether a snapshot of a volume can be made.
func copyable(v volume.Volume) bool {
	return v.External != "" && (v.State == volume.StateAttached || v.State == volume.StateDetached || v.State == volume.StateKept)
}

// snapshotMark is the mark and word of a snapshot's state.
func snapshotMark(s volume.Snapshot) (mark, word string) {
	switch {
	case s.Error != "":
		return string(app.StepFailed), map[bool]string{true: "Not created yet", false: "Not deleted yet"}[s.State == volume.SnapshotCreating]
	case s.State == volume.SnapshotReady:
		return string(app.StepSucceeded), "Ready"
	case s.State == volume.SnapshotCreating:
		return string(app.StepRunning), "Being created"
	}
	return string(app.StepRunning), "Deleting"
}
