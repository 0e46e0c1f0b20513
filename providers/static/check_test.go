package static

import (
	"testing"

	"muster/app/family"
	"muster/app/template"
	"muster/providers/providertest"
)

// That all machines of a flavor are in use is wrong where some are wanted now, and worth knowing where a catalog is looked at.
func TestAllMachinesInUse(t *testing.T) {
	t.Parallel()
	f := newFarm(t, 1)
	p := f.open(t, f.settings("flavor=big image=debian-12", "wipe", "true"), t.TempDir())
	f.boxes[0].put(t, `{"token":"a","state":"ready","intent":"i","hostname":"h","tags":{},"keys":[],"made_at":"2026-01-02T03:04:05Z"}`)
	for _, each := range []bool{false, true} {
		found, err := p.CheckAccount(t.Context(), family.AccountNeeds{Each: each, Machines: []family.MachineNeed{{Count: 1, Flavor: template.Flavor{Flavor: "big"}}}})
		if err != nil {
			t.Fatal(err)
		}
		warned, wrong := providertest.Lacking(found)
		if (len(warned) == 1) != each || (len(wrong) == 0) != each {
			t.Errorf("each for itself: %v: warned of %v, wrong is %q", each, warned, wrong)
		}
	}
}
