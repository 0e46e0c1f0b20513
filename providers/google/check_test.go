package google

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster/app/family"
	"muster/app/template"
	"muster/providers/google/internal/gcp"
	"muster/providers/providertest"
)

// A catalog is no request: each of its machine types is looked at for itself. Of each quota one is used, of CPUs everywhere four.
func TestCatalogLargerThanTheQuotas(t *testing.T) {
	for name, c := range map[string]struct {
		quotas     map[string]float64
		everywhere float64
		settings   map[string]any
		warned     int // of twenty types, of one CPU more each, the even ones of a series with a quota of its own
		wrong      string
		left       string
	}{
		"plenty":                   {everywhere: 64},
		"four CPUs left":           {quotas: map[string]float64{"CPUS": 5}, everywhere: 64, warned: 8, left: "Quota CPUS in europe-west3: 4 of 5 available."},
		"of a series":              {quotas: map[string]float64{"N2_CPUS": 5}, everywhere: 64, warned: 8},
		"of both":                  {quotas: map[string]float64{"CPUS": 5, "N2_CPUS": 5}, everywhere: 64, warned: 16},
		"no quota for the series":  {quotas: map[string]float64{"CPUS": 5, "N2_CPUS": 0}, everywhere: 64, warned: 16},
		"four everywhere":          {everywhere: 8, warned: 16, left: "Quota CPUS_ALL_REGIONS in all regions: 4 of 8 available."},
		"none everywhere":          {everywhere: 4, wrong: "at least 1 CPUS_ALL_REGIONS in all regions (0 of 4 available)"},
		"one instance left":        {quotas: map[string]float64{"INSTANCES": 2}, everywhere: 64},
		"no instance left":         {quotas: map[string]float64{"INSTANCES": 1}, everywhere: 64, wrong: "1 INSTANCES in europe-west3 (0 of 1 available)"},
		"one address left":         {quotas: map[string]float64{"IN_USE_ADDRESSES": 2}, everywhere: 64},
		"one disk's worth of disk": {quotas: map[string]float64{"SSD_TOTAL_GB": 41}, everywhere: 64, settings: map[string]any{"root_disk_gb": 40}},
		"spot machines":            {quotas: map[string]float64{"PREEMPTIBLE_CPUS": 5}, everywhere: 64, settings: map[string]any{"spot": true}, warned: 16},
	} {
		t.Run(name, func(t *testing.T) {
			cloud := newCloud(t, nil)
			for metric, n := range c.quotas {
				cloud.quotas[metric] = n
			}
			cloud.everywhere = c.everywhere
			needs := family.AccountNeeds{Each: true, Machines: []family.MachineNeed{{Count: 1, Image: template.Image{Image: "debian-12"}}}}
			for n := 1; n <= 20; n++ {
				name := fmt.Sprint([]string{"n2", "e2"}[n%2], "-custom-", n)
				cloud.types[name] = &gcp.MachineType{Name: name, GuestCPUs: int64(n), MemoryMB: 4096, Architecture: "X86_64"}
				needs.Machines = append(needs.Machines, family.MachineNeed{Count: 1, Flavor: template.Flavor{Flavor: name}})
			}
			found, err := cloud.open(t, c.settings).CheckAccount(t.Context(), needs)
			if err != nil {
				t.Fatal(err)
			}
			warned, wrong := providertest.Lacking(found)
			if len(warned) != c.warned || (len(wrong) == 0) != (c.wrong == "") || !strings.Contains(strings.Join(wrong, " "), c.wrong) {
				t.Errorf("warned of %v, want %d; wrong is %q, want %q", warned, c.warned, wrong, c.wrong)
			}
			if !slices.ContainsFunc(found, func(f family.Finding) bool { return f.OK && strings.Contains(f.Message, c.left) }) {
				t.Errorf("the rest isn't reported: %+v", found)
			}
		})
	}
}
