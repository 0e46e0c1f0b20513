package solver

import (
	"context"
	"fmt"
	"testing"
	"time"

	"muster/app"
	"muster/app/layout"
	"muster/app/template"
	"muster/solver/solvertest"
)

// dice makes choices out of bytes; when they are used up all are 0.
type dice []byte

func (d *dice) roll(n int) int {
	if len(*d) == 0 || n <= 0 {
		return 0
	}
	b := int((*d)[0])
	*d = (*d)[1:]
	return b % n
}

func (d *dice) some(names []string, most int) []string {
	var out []string
	for range d.roll(most + 1) {
		out = append(out, names[d.roll(len(names))])
	}
	return out
}

// fuzzProblem builds a catalog and a request, which may be nonsense.
func fuzzProblem(bytes []byte) (*template.Catalog, layout.Request) {
	d := dice(bytes)
	c := template.NewCatalog()
	names := []string{"a", "b", "c", "d", "e", "f", "g", "none"}
	hardware, images := []string{"h0", "h1", "h2", "none"}, []string{"i0", "i1", "none"}
	amounts := []float64{0, 0.5, 1, 2, 3, 0.1, -1, 1e300}
	c.Providers["p"] = &template.ProviderSpec{About: template.About{Name: "p"}, Zones: []string{"x", "y", "z"}[:d.roll(4)]}
	for _, h := range hardware[:1+d.roll(3)] {
		c.Hardware[h] = &template.HardwareType{Providers: map[string]template.Flavor{"p": {Flavor: h, CostPerHour: amounts[d.roll(8)],
			CPU: amounts[d.roll(8)], MemoryGB: amounts[d.roll(8)], GPUs: d.roll(4) - 1}}}
	}
	for _, i := range images[:1+d.roll(2)] {
		c.Images[i] = &template.ImageType{Providers: map[string]template.Image{"p": {Image: i}}}
	}
	for _, s := range names[:1+d.roll(7)] {
		c.Services[s] = &template.Service{About: template.About{Name: s}, Needs: template.Requirements{CPU: amounts[d.roll(8)], MemoryGB: amounts[d.roll(8)],
			GPUs: d.roll(4) - 2}}
		if d.roll(16) == 1 {
			c.Services[s].Install.Requires = d.some(names, 2)
		}
		if d.roll(16) == 1 {
			c.Services[s].Conflicts = d.some(names, 2)
		}
	}
	t := &template.Template{About: template.About{Name: "t"}, Defaults: template.Defaults{Provider: "p"}}
	t.Constraints = template.Constraints{Services: map[string]template.ServiceConstraint{}, Size: template.SizeRange{Min: 1, Max: d.roll(20)}}
	for range d.roll(3) {
		t.Constraints.MustCoexist = append(t.Constraints.MustCoexist, d.some(names, 3))
	}
	for range d.roll(4) {
		t.Constraints.CantCoexist = append(t.Constraints.CantCoexist, d.some(names, 4))
	}
	for range d.roll(3) {
		t.Constraints.CantCoexistPairs = append(t.Constraints.CantCoexistPairs, d.some(names, 4))
	}
	for range d.roll(3) {
		t.Constraints.Ratios = append(t.Constraints.Ratios, template.Ratio{Service: names[d.roll(8)], Per: d.roll(5), Of: names[d.roll(8)]})
	}
	for range d.roll(7) {
		t.Constraints.Services[names[d.roll(8)]] = template.ServiceConstraint{Min: d.roll(5) - 1, MinSet: d.roll(2) == 0,
			Max: []int{template.Unlimited, d.roll(9) - 1}[d.roll(2)], Hardware: d.some(hardware, 2), Images: d.some(images, 2)}
	}
	if d.roll(3) == 1 {
		t.Constraints.Zones = &template.ZoneRule{MaxSkew: d.roll(4) - 1, Services: d.some(names, 3)}
	}
	if d.roll(3) == 1 {
		t.Constraints.Hardware = map[string]int{hardware[d.roll(4)]: d.roll(8) - 1, hardware[d.roll(4)]: d.roll(8)}
	}
	t.Constraints.MixedHardware = d.roll(2) == 1
	c.Templates["t"] = t
	r := layout.Request{Template: "t", Size: d.roll(16), Services: d.some(names, 7),
		Prefer: []template.Preference{"", template.PreferPacked, template.PreferCheapest, template.PreferSpread, "odd"}[d.roll(5)]}
	if len(r.Services) == 0 {
		t.Defaults.Services = d.some(names, 7)
	}
	return c, r
}

// FuzzSolve asks odd questions: no answer may break a constraint, every refusal has a code and words, the same
// question gets the same answer, and nothing panics.
func FuzzSolve(f *testing.F) {
	for i := range 24 {
		seed := make([]byte, 160)
		for j := range seed {
			seed[j] = byte((j*j*7 + i*31 + j*i) % 251)
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, bytes []byte) {
		c, r := fuzzProblem(bytes)
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		got, err := New().Solve(ctx, c, r)
		if err != nil {
			e := app.AsError(err)
			if e.Code == app.EInternal || e.Reason == "" && e.Code != app.ETimeout || e.Message == "" {
				t.Fatalf("%s %s %q", e.Code, e.Reason, e.Message)
			}
			if e.Code == app.ETimeout && time.Since(deadlineOf(ctx)) > time.Minute {
				t.Fatal("the deadline was not kept")
			}
			return
		}
		if wrong := solvertest.Check(c, r, got); len(wrong) > 0 {
			t.Fatalf("%s\n%s\n%+v\n%+v", wrong, inWords(got.Groups), c.Templates["t"].Constraints, r)
		}
		again, err := New().Solve(ctx, c, r)
		if got.Gap == 0 && ctx.Err() == nil && (err != nil || fmt.Sprint(again) != fmt.Sprint(got)) {
			t.Fatalf("another answer: %v %v\n%v", err, again, got)
		}
	})
}

func deadlineOf(ctx context.Context) time.Time {
	at, _ := ctx.Deadline()
	return at
}
