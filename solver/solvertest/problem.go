package solvertest

import (
	"fmt"
	"math"
	"math/rand"

	"muster/app/template"
)

// Template is the name of the one template of every catalog.
const Template = "t"

// New returns a catalog of a provider, three types of hardware and of image, and services that nothing constrains yet.
func New(services int) (*template.Catalog, *template.Template) {
	c := template.NewCatalog()
	c.Providers["p"] = &template.ProviderSpec{About: template.About{Name: "p"}, Type: "fake"}
	for _, h := range []string{"large", "medium", "small"} {
		c.Hardware[h] = &template.HardwareType{About: template.About{Name: h}, Providers: map[string]template.Flavor{"p": {Flavor: h, CostPerHour: 0.25}}}
	}
	for _, i := range []string{"centos", "debian", "ubuntu"} {
		c.Images[i] = &template.ImageType{About: template.About{Name: i}, Providers: map[string]template.Image{"p": {Image: i}}}
	}
	t := &template.Template{About: template.About{Name: Template}, Defaults: template.Defaults{Provider: "p"}}
	t.Constraints = template.Constraints{Services: map[string]template.ServiceConstraint{}, Size: template.SizeRange{Min: 1, Max: template.Unlimited}}
	for i := range services {
		name := fmt.Sprintf("s%03d", i)
		c.Services[name] = &template.Service{About: template.About{Name: name}}
		t.Defaults.Services = append(t.Defaults.Services, name)
	}
	c.Templates[Template] = t
	return c, t
}

// MinAvailable bounds a service from below.
func MinAvailable(n int) template.ServiceConstraint { return Between(n, template.Unlimited) }

// Between bounds a service from both sides.
func Between(low, high int) template.ServiceConstraint {
	return template.ServiceConstraint{Min: low, MinSet: true, Max: high}
}

// Loose returns services each with a minimum or a maximum, some of which exclude another or want a type.
func Loose(services int) *template.Catalog {
	c, t := New(services)
	r := rand.New(rand.NewSource(1))
	for i, s := range t.Defaults.Services {
		sc := MinAvailable(1 + r.Intn(3))
		if i%3 == 0 {
			sc.Max = 5 + r.Intn(900)
		}
		if i%7 == 0 {
			sc.Hardware = []string{"medium", "small"}
		}
		t.Constraints.Services[s] = sc
	}
	for range services / 5 {
		t.Constraints.CantCoexist = append(t.Constraints.CantCoexist, Some(r, t.Defaults.Services, 2))
	}
	return c
}

// Grouped returns services in groups of two to five that can't coexist, or in pairs that must.
func Grouped(services, groups int, cant bool) *template.Catalog {
	c, t := New(services)
	r := rand.New(rand.NewSource(2))
	for range groups {
		g := Some(r, t.Defaults.Services, 2+r.Intn(4))
		if cant {
			t.Constraints.CantCoexist = append(t.Constraints.CantCoexist, g)
		} else {
			t.Constraints.MustCoexist = append(t.Constraints.MustCoexist, g[:2])
		}
	}
	for i, s := range t.Defaults.Services {
		if i%2 == 0 {
			t.Constraints.Services[s] = Between(1+r.Intn(5), 100+r.Intn(900))
		}
	}
	return c
}

// Pairs returns services in random pairs that can't coexist, each with bounds that bound draws.
func Pairs(services, pairs int, seed int64, bound func(*rand.Rand) template.ServiceConstraint) *template.Catalog {
	c, t := New(services)
	r := rand.New(rand.NewSource(seed))
	for range pairs {
		t.Constraints.CantCoexist = append(t.Constraints.CantCoexist, Some(r, t.Defaults.Services, 2))
	}
	for _, s := range t.Defaults.Services {
		t.Constraints.Services[s] = bound(r)
	}
	return c
}

// Bounds draws a minimum of low or up to spread more, and for every second service a maximum of high or up to highSpread
// more; high 0 means no maxima.
func Bounds(low, spread, high, highSpread int) func(*rand.Rand) template.ServiceConstraint {
	return func(r *rand.Rand) template.ServiceConstraint {
		sc := MinAvailable(low + r.Intn(spread))
		if high > 0 && r.Intn(2) == 0 {
			sc.Max = high + r.Intn(highSpread)
		}
		return sc
	}
}

// Exclusive returns services of which no two may share a node, each on at least so many.
func Exclusive(services, least int) *template.Catalog {
	c, t := New(services)
	for i, a := range t.Defaults.Services {
		t.Constraints.Services[a] = MinAvailable(least)
		for _, b := range t.Defaults.Services[:i] {
			t.Constraints.CantCoexist = append(t.Constraints.CantCoexist, []string{a, b})
		}
	}
	return c
}

// OneShort is Pairs with, among them, three services that exclude each other and need one node more than there is.
func OneShort() *template.Catalog {
	c := Pairs(100, 197, 7, Bounds(1, 5, 0, 0))
	t := c.Templates[Template]
	for i, least := range []int{3333, 3333, 3335} {
		a, b := t.Defaults.Services[10*i], t.Defaults.Services[10*((i+1)%3)]
		t.Constraints.Services[a] = MinAvailable(least)
		t.Constraints.CantCoexist = append(t.Constraints.CantCoexist, []string{a, b})
	}
	return c
}

// Ring is an odd ring of neighbours that exclude each other: no clique shows how many nodes it needs.
func Ring(services, least int) *template.Catalog {
	c, t := New(services)
	for i, a := range t.Defaults.Services {
		t.Constraints.Services[a] = MinAvailable(least)
		t.Constraints.CantCoexist = append(t.Constraints.CantCoexist, []string{a, t.Defaults.Services[(i+1)%services]})
	}
	return c
}

// Priced returns services with minima, each of which may be on about half of many types of hardware, all with prices of
// their own. A few pairs exclude each other.
func Priced(services, hardware int, seed int64) *template.Catalog {
	c, t := New(services)
	r := rand.New(rand.NewSource(seed))
	clear(c.Hardware)
	var types []string
	for i := range hardware {
		cpu := float64(int(2) << (i % 5))
		memory := cpu * float64(1+i%4)
		name := fmt.Sprintf("h%02d", i)
		types = append(types, name)
		c.Hardware[name] = &template.HardwareType{About: template.About{Name: name}, Providers: map[string]template.Flavor{
			"p": {Flavor: name, CostPerHour: cents(2*cpu + 0.4*memory + float64(r.Intn(5))), CPU: cpu, MemoryGB: memory},
		}}
	}
	for _, s := range t.Defaults.Services {
		sc := MinAvailable(1 + r.Intn(60))
		sc.Hardware = Some(r, types, hardware/3+r.Intn(hardware/3))
		t.Constraints.Services[s] = sc
	}
	for range services / 3 {
		t.Constraints.CantCoexist = append(t.Constraints.CantCoexist, Some(r, t.Defaults.Services, 2))
	}
	return c
}

// Needing is Priced where the services need cores and memory as well, and may be on any hardware that has them.
func Needing(services, hardware int, seed int64) *template.Catalog {
	c := Priced(services, hardware, seed)
	t := c.Templates[Template]
	r := rand.New(rand.NewSource(seed))
	for _, s := range t.Defaults.Services {
		c.Services[s].Needs = template.Requirements{CPU: 0.5 * float64(1+r.Intn(4)), MemoryGB: float64(1 + r.Intn(4))}
		sc := t.Constraints.Services[s]
		sc.Hardware = nil
		t.Constraints.Services[s] = sc
	}
	return c
}

func cents(x float64) float64 { return math.Round(x) / 100 }

// Some draws n of the names.
func Some(r *rand.Rand, names []string, n int) []string {
	var out []string
	for _, i := range r.Perm(len(names))[:n] {
		out = append(out, names[i])
	}
	return out
}
