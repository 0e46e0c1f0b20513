package digitalocean

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster/app/family"
	"muster/app/template"
	"muster/providers/providertest"
)

// A catalog is no request: each of its sizes is looked at for itself.
func TestCatalogLargerThanTheLimits(t *testing.T) {
	const size, disk = "s-1vcpu-1gb", "s-2vcpu-2gb"
	for name, c := range map[string]struct {
		droplets, volumes int
		flavors           []template.Flavor
		warned            []string
		wrong             string
	}{
		"more sizes than droplets":             {droplets: 4, volumes: 4},
		"one droplet left":                     {droplets: 1, volumes: 1},
		"none left":                            {droplets: 0, volumes: 4, wrong: "each kind needs at least 1 droplet (0 of 2 available)"},
		"no volumes left for those with disks": {droplets: 4, volumes: 0, flavors: []template.Flavor{{Flavor: disk, Extra: map[string]string{"data_disk_gb": "10"}}}, warned: []string{"size " + disk}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.account["droplet_limit"], w.account["volume_limit"] = c.droplets+2, c.volumes+1
			for i := range 2 {
				w.droplets[i+1] = &simDroplet{id: i + 1, name: "n", status: "active", region: "fra1", size: size}
			}
			w.volumes["v"] = &simVolume{id: "v"}
			if c.droplets == 0 {
				w.account["droplet_limit"] = 2
			}
			needs := family.AccountNeeds{Each: true, Machines: []family.MachineNeed{{Count: 1, Image: template.Image{Image: "debian-12-x64"}}}}
			for i := range 20 {
				slug := fmt.Sprint("g-", i, "vcpu")
				w.sizes[slug] = w.sizes[size]
				c.flavors = append(c.flavors, template.Flavor{Flavor: slug})
			}
			for _, f := range c.flavors {
				needs.Machines = append(needs.Machines, family.MachineNeed{Count: 1, Flavor: f})
			}
			found, err := w.open(t).CheckAccount(t.Context(), needs)
			if err != nil {
				t.Fatal(err)
			}
			warned, wrong := providertest.Lacking(found)
			if !slices.Equal(warned, c.warned) || (len(wrong) == 0) != (c.wrong == "") || !strings.Contains(strings.Join(wrong, " "), c.wrong) {
				t.Errorf("warned of %v, want %v; wrong is %q, want %q", warned, c.warned, wrong, c.wrong)
			}
			if left := fmt.Sprintf("%d more available", c.droplets); !slices.ContainsFunc(found, func(f family.Finding) bool { return f.OK && strings.Contains(f.Message, left) }) {
				t.Errorf("the rest isn't reported: %+v", found)
			}
		})
	}
}
