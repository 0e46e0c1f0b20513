package jobs

import (
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/volume"
)

// A failed volume that was ever mounted, or that a machine has, is never deleted: the error says what to do.
func TestFailedVolumesWithDataStay(t *testing.T) {
	t.Parallel()
	w := &volumeWork{report: &execution.Report{}} // no provider: nothing may be asked of it
	for name, c := range map[string]struct {
		mounted time.Time
		machine string
	}{
		"mounted before":   {mounted: time.Unix(1, 0)},
		"a machine has it": {machine: "m-1"},
	} {
		want := volume.ForStep{Volume: volume.Volume{ID: "vol-1", MountedAt: c.mounted}}
		_, err := w.withoutFailed(t.Context(), want, []family.Volume{{ID: "disk-1", Failed: true, Machine: c.machine}})
		e := app.AsError(err)
		if e.Code != app.EConflict || e.Reason != "volume_failed" || strings.Contains(e.Hint, "muster volume forget vol-1") != (c.machine == "") {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if len(w.report.Volumes) != 1 || w.report.Volumes[0].Machine != "" { // else it couldn't be forgotten
		t.Errorf("noted is %+v", w.report.Volumes)
	}
	whole, err := w.withoutFailed(t.Context(), volume.ForStep{}, []family.Volume{{ID: "disk-1"}})
	if err != nil || len(whole) != 1 {
		t.Errorf("%+v, %v", whole, err)
	}
}
