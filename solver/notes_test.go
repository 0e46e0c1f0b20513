package solver

import (
	"strings"
	"testing"

	"muster/app"
	"muster/app/layout"
	apptemplate "muster/app/template"
)

func TestNotes(t *testing.T) {
	apart := func(t *apptemplate.Template, groups ...string) {
		for _, g := range groups {
			t.Constraints.CantCoexist = append(t.Constraints.CantCoexist, strings.Fields(g))
		}
	}
	for name, tc := range map[string]struct {
		services int
		size     int
		prefer   apptemplate.Preference
		Set      func(c *apptemplate.Catalog, t *apptemplate.Template)
		want     []string
		lacks    []string
	}{
		"nothing forbids it": {2, 3, "", func(*apptemplate.Catalog, *apptemplate.Template) {},
			[]string{"all services run together, since no constraint separates them"}, []string{"packed", "kept apart"}},
		"pairs are listed as one group": {3, 5, "", func(_ *apptemplate.Catalog, t *apptemplate.Template) {
			apart(t, "s000 s001", "s001 s002", "s000 s002")
			t.Constraints.Services["s001"] = between(2, 2)
			t.Constraints.Services["s002"] = between(1, 1)
		}, []string{
			"packed: as many nodes as possible run s000, then",
			"kept apart (can't coexist): s000, s001 and s002",
			"s001 is on 2 nodes, exactly as required (min and max)",
			"s002 is on 1 node, exactly as required (min and max)",
		}, nil},
		"bounds": {4, 9, "", func(_ *apptemplate.Catalog, t *apptemplate.Template) {
			t.Constraints.Services["s001"] = between(1, 4)
			t.Constraints.Services["s002"] = atLeast(3)
			t.Constraints.Services["s003"] = between(0, 9)
			apart(t, "s000 s002", "s000 s003", "s002 s003")
		}, []string{"s001 is on 4 nodes, the most allowed (max 4)", "s002 is on 3 nodes, the fewest allowed (min 3)", "s003 is on no node, since it's optional (min 0)",
			"kept apart (can't coexist): s000 and s002"}, nil},
		"a ratio": {2, 12, "", func(_ *apptemplate.Catalog, t *apptemplate.Template) {
			apart(t, "s000 s001")
			t.Constraints.Ratios = []apptemplate.Ratio{{Service: "s001", Per: 5, Of: "s000"}}
		}, []string{"s001 is on 2 nodes: 1 for every 5 with s000, out of 10"}, nil},
		"hardware": {2, 4, "", func(c *apptemplate.Catalog, t *apptemplate.Template) {
			c.Hardware["small"].Providers["p"] = apptemplate.Flavor{Flavor: "small", CostPerHour: 0.1, CPU: 2}
			c.Hardware["medium"].Providers["p"] = apptemplate.Flavor{Flavor: "medium", CostPerHour: 0.2, CPU: 2}
			c.Services["s000"].Needs.CPU = 4
			t.Constraints.MixedHardware = true
			t.Constraints.Hardware = map[string]int{"large": 2}
			apart(t, "s000 s001")
		}, []string{"s000 can only be on hardware large", "hardware large is on 2 nodes, its limit", "hardware is the first by name that fits, whatever its price"}, nil},
		"GPUs": {2, 4, "", func(c *apptemplate.Catalog, t *apptemplate.Template) {
			c.Hardware["large"].Providers["p"] = apptemplate.Flavor{Flavor: "large", CostPerHour: 2, GPUs: 1}
			c.Services["s000"].Needs.GPUs = 1
			t.Constraints.MixedHardware = true
			apart(t, "s000 s001")
		}, []string{"s000 can only be on hardware large"}, nil},
		"cheapest": {1, 4, apptemplate.PreferCheapest, func(c *apptemplate.Catalog, _ *apptemplate.Template) {
			c.Hardware["small"].Providers["p"] = apptemplate.Flavor{Flavor: "small", CostPerHour: 0.1}
		}, []string{"cheapest: no other layout costs less per hour"}, []string{"whatever its price"}},
		"spread": {4, 2, apptemplate.PreferSpread, func(_ *apptemplate.Catalog, t *apptemplate.Template) {
			for _, s := range t.Defaults.Services {
				t.Constraints.Services[s] = atLeast(1)
			}
		}, []string{"spread: no node has more than 2 services, the lowest possible"}, nil},
		"zones": {1, 5, "", func(c *apptemplate.Catalog, t *apptemplate.Template) {
			c.Providers["p"].Zones = []string{"a", "b"}
			t.Constraints.Zones = &apptemplate.ZoneRule{MaxSkew: 1}
		}, []string{"nodes over zones: 3 in a and 2 in b (differing by at most 1)"}, nil},
		"many are not listed one by one": {20, 40, "", func(_ *apptemplate.Catalog, t *apptemplate.Template) {
			for i, a := range t.Defaults.Services {
				t.Constraints.Services[a] = between(1, 1+i)
				if i > 0 && i%2 == 0 {
					apart(t, "s000 "+a)
				}
			}
		}, []string{"9 groups of services are kept apart (can't coexist)", "15 more services are at their minimum or maximum"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c, template := big(tc.services)
			tc.Set(c, template)
			l, err := WithNotes(New()).Solve(t.Context(), c, layout.Request{Template: "t", Size: tc.size, Prefer: tc.prefer})
			if err != nil {
				t.Fatal(err)
			}
			notes := "\n" + strings.Join(l.Notes, "\n")
			for _, w := range tc.want {
				if !strings.Contains(notes, "\n"+w) {
					t.Errorf("%q is not among:%s", w, notes)
				}
			}
			for _, w := range tc.lacks {
				if strings.Contains(notes, w) {
					t.Errorf("%q is among:%s", w, notes)
				}
			}
		})
	}
	t.Run("an error stays as it is", func(t *testing.T) {
		c, _ := big(1)
		if _, err := WithNotes(New()).Solve(t.Context(), c, layout.Request{Template: "x", Size: 1}); app.CodeOf(err) != app.ENotFound {
			t.Error(err)
		}
	})
}
