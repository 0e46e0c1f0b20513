package openstack

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster/app/family"
	"muster/app/template"
	fake "muster/providers/internal/openstacktest"
	"muster/providers/providertest"
)

// A catalog is no request: each of its flavors is looked at for itself.
func TestCatalogLargerThanTheQuotas(t *testing.T) {
	for name, c := range map[string]struct {
		limits   func(*fake.Cloud)
		settings map[string]any
		warned   int // of twenty flavors, of one CPU and one GB more each
		wrong    string
		left     string
	}{
		"four CPUs":             {limits: func(c *fake.Cloud) { c.Limits.Cores = 4 }, warned: 16, left: "The quota allows 4 CPUs: 0 used, 4 available."},
		"one CPU of four":       {limits: func(c *fake.Cloud) { c.Limits.Cores, c.Used.Cores = 4, 3 }, warned: 19, left: "3 used, 1 available"},
		"memory for seven":      {limits: func(c *fake.Cloud) { c.Limits.MemoryMB = 7 * 1024 }, warned: 13},
		"CPUs and memory":       {limits: func(c *fake.Cloud) { c.Limits.Cores, c.Limits.MemoryMB = 4, 2048 }, warned: 18},
		"one server":            {limits: func(c *fake.Cloud) { c.Limits.Servers = 1 }},
		"no server":             {limits: func(c *fake.Cloud) { c.Used.Servers = 20 }, wrong: "each kind needs at least 1 server (0 of 20 available)"},
		"no CPU":                {limits: func(c *fake.Cloud) { c.Used.Cores = 40 }, wrong: "each kind needs at least 1 CPU (0 of 40 available)"},
		"no limits":             {limits: func(c *fake.Cloud) { c.Limits.Cores, c.Limits.MemoryMB, c.Limits.Servers = -1, -1, -1 }, left: "doesn't limit CPUs"},
		"one floating IP":       {limits: func(c *fake.Cloud) { c.Limits.Floating = 1 }},
		"no floating IP":        {limits: func(c *fake.Cloud) { c.Used.Floating = 20 }, wrong: "1 floating IP (0 of 20 available)"},
		"one volume":            {limits: func(c *fake.Cloud) { c.Limits.Volumes = 1 }, settings: map[string]any{"boot_volume_gb": 600}},
		"not so large a volume": {limits: func(c *fake.Cloud) {}, settings: map[string]any{"boot_volume_gb": 1100}, wrong: "1100 GB of volumes (1000 of 1000 available)"},
		"one port":              {limits: func(c *fake.Cloud) { c.Limits.Ports = 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			s := simulate(t)
			needs := family.AccountNeeds{Each: true, Machines: []family.MachineNeed{{Count: 1, Image: template.Image{Image: "debian-12"}}}}
			s.With(func(cloud *fake.Cloud) {
				for n := 1; n <= 20; n++ {
					name := fmt.Sprint("c", n)
					cloud.Flavors = append(cloud.Flavors, fake.Flavor{ID: "9" + name, Name: name, CPU: n, RAM: n * 1024, Disk: 20})
					needs.Machines = append(needs.Machines, family.MachineNeed{Count: 1, Flavor: template.Flavor{Flavor: name}})
				}
				c.limits(cloud)
			})
			found, err := s.open(t, c.settings).CheckAccount(t.Context(), needs)
			if err != nil {
				t.Fatal(err)
			}
			warned, wrong := providertest.Lacking(found)
			if len(warned) != c.warned || slices.Contains(warned, "flavor c1") || (len(wrong) == 0) != (c.wrong == "") || !strings.Contains(strings.Join(wrong, " "), c.wrong) {
				t.Errorf("warned of %v, want %d; wrong is %q, want %q", warned, c.warned, wrong, c.wrong)
			}
			if !slices.ContainsFunc(found, func(f family.Finding) bool { return f.OK && strings.Contains(f.Message, c.left) }) {
				t.Errorf("the rest isn't reported: %+v", found)
			}
		})
	}
}
