package solvertest

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"

	"muster/app/layout"
	"muster/app/template"
)

// Small makes a random question. Groups may name services that are not asked for.
func Small(r *rand.Rand) (*template.Catalog, layout.Request) {
	c := template.NewCatalog()
	c.Providers["p"] = &template.ProviderSpec{About: template.About{Name: "p"}}
	for i := range 1 + r.Intn(3) {
		c.Hardware[fmt.Sprint("h", i)] = &template.HardwareType{Providers: map[string]template.Flavor{"p": {Flavor: "f", CostPerHour: 0.5}}}
	}
	for i := range 1 + r.Intn(3) {
		c.Images[fmt.Sprint("i", i)] = &template.ImageType{Providers: map[string]template.Image{"p": {Image: "m"}}}
	}
	var all []string
	for i := range 1 + r.Intn(6) {
		all = append(all, fmt.Sprint("s", i))
		c.Services[all[i]] = &template.Service{About: template.About{Name: all[i]}}
	}
	t := &template.Template{About: template.About{Name: "t"}, Defaults: template.Defaults{Provider: "p"}}
	t.Constraints = template.Constraints{Services: map[string]template.ServiceConstraint{}, Size: template.SizeRange{Min: 1, Max: 99}}
	pick := func(names []string, least, most int) []string {
		var out []string
		for _, i := range r.Perm(len(names))[:min(len(names), least+r.Intn(most-least+1))] {
			out = append(out, names[i])
		}
		return out
	}
	if r.Intn(3) == 0 {
		for range 1 + r.Intn(2) {
			t.Constraints.MustCoexist = append(t.Constraints.MustCoexist, pick(all, 1, 3))
		}
	}
	for range r.Intn(5) {
		t.Constraints.CantCoexist = append(t.Constraints.CantCoexist, pick(all, 2, 4))
	}
	size := 1 + r.Intn(8)
	typed := r.Intn(3) == 0
	for _, s := range all {
		if r.Intn(4) == 0 {
			continue
		}
		sc := template.ServiceConstraint{Max: template.Unlimited}
		if r.Intn(2) == 0 {
			sc.Min, sc.MinSet = r.Intn(4), true
		}
		if r.Intn(2) == 0 {
			sc.Max = max(sc.Min, r.Intn(size+1))
		}
		if typed {
			sc.Hardware = pick([]string{"h0", "h1", "h2"}, 0, 2)
			sc.Images = pick([]string{"i0", "i1", "i2"}, 0, 2)
		}
		t.Constraints.Services[s] = sc
	}
	c.Templates["t"] = t
	return c, layout.Request{Template: "t", Size: size, Services: pick(all, len(all)-r.Intn(2), len(all))}
}

// Tight makes a random question of many pairs on few nodes, where rings and cliques leave little choice.
func Tight(r *rand.Rand) (*template.Catalog, layout.Request) {
	c, t := New(7 + r.Intn(3))
	services := t.Defaults.Services
	c.Hardware = map[string]*template.HardwareType{"h0": c.Hardware["small"], "h1": c.Hardware["large"]}
	c.Images = map[string]*template.ImageType{"i0": c.Images["debian"]}
	for i := range services {
		if r.Intn(2) == 0 {
			t.Constraints.CantCoexist = append(t.Constraints.CantCoexist, []string{services[i], services[(i+1)%len(services)]})
		}
		t.Constraints.Services[services[i]] = Between(1+r.Intn(2), 2+r.Intn(6))
	}
	for range r.Intn(len(services)) {
		t.Constraints.CantCoexist = append(t.Constraints.CantCoexist, Some(r, services, 2+r.Intn(5)/4))
	}
	if r.Intn(3) == 0 {
		sc := Between(1, 5)
		sc.Hardware = []string{"h1"}
		t.Constraints.Services[services[r.Intn(len(services))]] = sc
	}
	return c, layout.Request{Template: "t", Size: 2 + r.Intn(5), Services: services}
}

// Rich makes a random question with all kinds of constraints and preferences.
func Rich(r *rand.Rand) (*template.Catalog, layout.Request) {
	c, q := Small(r)
	t := c.Templates["t"]
	services := slices.Sorted(maps.Keys(c.Services))
	some := func(n int) []string { return Some(r, services, min(n, len(services))) }
	if r.Intn(3) == 0 {
		t.Constraints.CantCoexistPairs = append(t.Constraints.CantCoexistPairs, some(2+r.Intn(2)))
	}
	for r.Intn(5) < 2 && len(t.Constraints.Ratios) < 4 {
		if s := some(2); len(s) == 2 {
			t.Constraints.Ratios = append(t.Constraints.Ratios, template.Ratio{Service: s[0], Per: 1 + r.Intn(3), Of: s[1]})
		}
	}
	prices := []float64{0, 0.1, 0.15, 0.25, 0.4}
	heavy := r.Intn(3) == 0
	for _, h := range slices.Sorted(maps.Keys(c.Hardware)) {
		f := template.Flavor{Flavor: "f", CostPerHour: prices[r.Intn(5)]}
		if heavy && r.Intn(4) > 0 {
			f.CPU = float64(1 + r.Intn(4))
		}
		if heavy && r.Intn(3) == 0 {
			f.MemoryGB = float64(2 + r.Intn(6))
		}
		if heavy && r.Intn(3) > 0 {
			f.GPUs = 1 + r.Intn(4)
		}
		c.Hardware[h].Providers["p"] = f
		if r.Intn(4) == 0 {
			if t.Constraints.Hardware == nil {
				t.Constraints.Hardware = map[string]int{}
			}
			t.Constraints.Hardware[h] = r.Intn(5)
		}
	}
	for _, s := range services {
		if heavy {
			c.Services[s].Needs = template.Requirements{CPU: float64(r.Intn(5)) / 2, MemoryGB: float64(r.Intn(4)), GPUs: max(0, r.Intn(6)-3)}
		}
	}
	t.Constraints.MixedHardware = r.Intn(2) == 0
	if r.Intn(4) == 0 {
		c.Providers["p"].Zones = []string{"za", "zb", "zc"}[:1+r.Intn(3)]
		t.Constraints.Zones = &template.ZoneRule{MaxSkew: 1 + r.Intn(4)/3}
		if r.Intn(3) > 0 {
			t.Constraints.Zones.Services = some(1 + r.Intn(3))
		}
	}
	q.Prefer = []template.Preference{template.PreferPacked, template.PreferCheapest, template.PreferSpread}[r.Intn(3)]
	return c, q
}

// Hosted is a rich problem on a pool of few hosts.
func Hosted(r *rand.Rand) (*template.Catalog, layout.Request) {
	c, q := Rich(r)
	t := c.Templates["t"]
	services, hardware := slices.Sorted(maps.Keys(c.Services)), slices.Sorted(maps.Keys(c.Hardware))
	some := func(n int) []string { return Some(r, services, min(n, len(services))) }
	q.Pool = &layout.HostPool{Provider: "p"}
	for i := range 2 + r.Intn(4) {
		h := layout.Host{Name: fmt.Sprint("r", i), Hardware: hardware[r.Intn(len(hardware))], Nodes: 6 - r.Intn(7)}
		if r.Intn(3) > 0 {
			h.Zone = []string{"za", "zb", "zc"}[r.Intn(3)]
		}
		if r.Intn(3) == 0 {
			free := float64(r.Intn(9))
			h.Free.CPU = &free
		}
		for r.Intn(3) == 0 {
			other := layout.HostedNode{Cluster: "other", Services: some(1 + r.Intn(2)), Alone: r.Intn(6) == 0}
			if r.Intn(4) == 0 {
				other.Apart = some(1)
			}
			h.Has = append(h.Has, other)
		}
		q.Pool.Hosts = append(q.Pool.Hosts, h)
	}
	if r.Intn(2) > 0 {
		rule := &template.HostRule{}
		if r.Intn(3) == 0 {
			rule.Alone = some(1 + r.Intn(2))
		}
		if r.Intn(3) == 0 {
			rule.Apart = []template.HostApart{{Service: some(1)[0], From: some(1 + r.Intn(2))}}
		}
		if r.Intn(3) == 0 {
			rule.Separate = some(1 + r.Intn(2))
		}
		if r.Intn(5) == 0 {
			rule.MaxNodes = 1 + r.Intn(3)
		}
		t.Constraints.Hosts = rule
	}
	q.Size = max(1, q.Size-r.Intn(5))
	return c, q
}
