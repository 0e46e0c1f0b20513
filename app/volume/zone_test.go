package volume_test

import (
	"strings"
	"testing"

	"muster/app"
	"muster/app/volume"
)

func TestCheckZones(t *testing.T) {
	t.Parallel()
	a, b, any := volume.Claim{Volume: "v1", Node: "n1", Zone: "a"}, volume.Claim{Volume: "v2", Node: "n1", Zone: "b"}, volume.Claim{Volume: "v3", Node: "n1"}
	other := volume.Claim{Volume: "v4", Node: "n2", Zone: "b"}
	for name, c := range map[string]struct {
		claims []volume.Claim
		zone   string
		says   string
	}{
		"no zone is asked for":        {[]volume.Claim{a, any, other}, "", ""},
		"the volume's zone":           {[]volume.Claim{a, any}, "a", ""},
		"a volume of every zone":      {[]volume.Claim{any}, "b", ""},
		"another zone":                {[]volume.Claim{any, a}, "b", "Volume v1 is in zone a, and the cluster would be in b."},
		"two zones for one node":      {[]volume.Claim{a, b}, "", "v1 is in a, and v2 in b"},
		"two zones, and one is asked": {[]volume.Claim{a, other}, "a", "Volume v4 is in zone b"},
	} {
		err := volume.CheckZones(c.claims, c.zone)
		if c.says == "" && err != nil || c.says != "" && (app.CodeOf(err) != app.EInvalid || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := volume.ZoneOf([]volume.Claim{any, a, other}, "n1"); got != "a" {
		t.Errorf("n1 has to be in %q", got)
	}
}
