package rackspace

import (
	"fmt"
	"strings"
	"testing"

	"muster/app/family"
	"muster/app/template"
	fake "muster/providers/internal/openstacktest"
	"muster/providers/providertest"
)

// A catalog is no request: each of its flavors is looked at for itself.
func TestCatalogLargerThanTheLimits(t *testing.T) {
	for name, c := range map[string]struct {
		used   int // MB of 131072
		warned int // of twenty flavors, of eight GB more each
		wrong  string
	}{
		"nothing is used":    {0, 4, ""},
		"room for the least": {131072 - 8192, 19, ""},
		"no room":            {131072 - 8191, 0, "each kind needs at least 8192 MB of memory (8191 of 131072 available)"},
	} {
		t.Run(name, func(t *testing.T) {
			s := simulate(t)
			needs := family.AccountNeeds{Each: true}
			s.With(func(cloud *fake.Cloud) {
				cloud.Used.MemoryMB = c.used
				for n := 1; n <= 20; n++ {
					name := fmt.Sprint("general-", n)
					cloud.Flavors = append(cloud.Flavors, fake.Flavor{ID: name, Name: name, CPU: n, RAM: n * 8192, Disk: 40})
					needs.Machines = append(needs.Machines, family.MachineNeed{Count: 1, Flavor: template.Flavor{Flavor: name}})
				}
			})
			found, err := s.open(t, nil).CheckAccount(t.Context(), needs)
			if err != nil {
				t.Fatal(err)
			}
			warned, wrong := providertest.Lacking(found)
			if len(warned) != c.warned || (len(wrong) == 0) != (c.wrong == "") || !strings.Contains(strings.Join(wrong, " "), c.wrong) {
				t.Errorf("warned of %v, want %d; wrong is %q, want %q", warned, c.warned, wrong, c.wrong)
			}
		})
	}
}
