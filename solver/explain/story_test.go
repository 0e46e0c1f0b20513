package explain

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/layout"
	apptemplate "muster/app/template"
	"muster/solver"
	"muster/solver/solvertest"
)

// testdata/stories.txt holds what people read, story by story; -update writes it, to be looked through.
const storiesFile = "testdata/stories.txt"

var update = flag.Bool("update", false, "write "+storiesFile)

// shop is the catalog of the stories: a web shop on two providers.
func shop() (*apptemplate.Catalog, *apptemplate.Template) {
	c := apptemplate.NewCatalog()
	c.Providers["cloud"] = &apptemplate.ProviderSpec{About: apptemplate.About{Name: "cloud"}, Zones: []string{"east", "north", "west"}}
	c.Providers["cellar"] = &apptemplate.ProviderSpec{About: apptemplate.About{Name: "cellar"}}
	flavor := func(cpu, memory float64) apptemplate.Flavor {
		return apptemplate.Flavor{Flavor: "f", CPU: cpu, MemoryGB: memory, CostPerHour: cpu / 10}
	}
	for name, f := range map[string]apptemplate.Flavor{"small": flavor(2, 4), "medium": flavor(4, 8), "large": flavor(8, 32)} {
		c.Hardware[name] = &apptemplate.HardwareType{About: apptemplate.About{Name: name}, Providers: map[string]apptemplate.Flavor{"cloud": f}}
	}
	c.Hardware["rack"] = &apptemplate.HardwareType{About: apptemplate.About{Name: "rack"}, Providers: map[string]apptemplate.Flavor{"cellar": flavor(64, 512)}}
	for _, name := range []string{"debian", "ubuntu"} {
		c.Images[name] = &apptemplate.ImageType{About: apptemplate.About{Name: name}, Providers: map[string]apptemplate.Image{"cloud": {Image: "i"}, "cellar": {Image: "i"}}}
	}
	for _, name := range []string{"app", "audit", "cache", "lb", "mail", "mysql", "postgres", "store"} {
		c.Services[name] = &apptemplate.Service{About: apptemplate.About{Name: name, Origin: apptemplate.Origin{File: name + ".yaml", Line: 2}}}
	}
	c.Services["mysql"].Provides = []string{"database"}
	c.Services["postgres"].Provides = []string{"database"}
	c.Services["mail"].Runtime.Requires = []string{"database", "lb"}
	c.Services["cache"].Conflicts = []string{"audit"}
	t := &apptemplate.Template{About: apptemplate.About{Name: "web", Origin: apptemplate.Origin{File: "web.yaml", Line: 3}}}
	t.Defaults = apptemplate.Defaults{Provider: "cloud", Services: []string{"lb", "app", "store"}}
	t.Constraints = apptemplate.Constraints{
		Size:        apptemplate.SizeRange{Min: 2, Max: 12},
		Services:    map[string]apptemplate.ServiceConstraint{"lb": solvertest.Between(1, 1), "app": solvertest.MinAvailable(1), "store": solvertest.Between(1, 2)},
		CantCoexist: [][]string{{"lb", "app"}, {"lb", "store"}, {"app", "store"}},
	}
	c.Templates["web"] = t
	other := *t
	other.Name = "tiny"
	c.Templates["tiny"] = &other
	return c, t
}

type story struct {
	name string
	tell func(c *apptemplate.Catalog, t *apptemplate.Template, r *layout.Request)
}

// only returns a template these constraints and no others but the size.
func only(t *apptemplate.Template, c apptemplate.Constraints) {
	c.Size = t.Constraints.Size
	if c.Services == nil {
		c.Services = map[string]apptemplate.ServiceConstraint{}
	}
	t.Constraints = c
}

var stories = []story{
	{"a layout exists", func(_ *apptemplate.Catalog, _ *apptemplate.Template, _ *layout.Request) {}},
	{"too few nodes for three that keep apart", func(_ *apptemplate.Catalog, _ *apptemplate.Template, r *layout.Request) { r.Size = 2 }},
	{"too many nodes for the maxima", func(_ *apptemplate.Catalog, t *apptemplate.Template, r *layout.Request) {
		t.Constraints.Services["app"] = solvertest.Between(1, 3)
		r.Size = 8
	}},
	{"as many as are needed, but the template allows fewer", func(_ *apptemplate.Catalog, t *apptemplate.Template, r *layout.Request) {
		t.Constraints.Size.Max = 2
		r.Size = 2
	}},
	{"minimum over maximum", func(_ *apptemplate.Catalog, t *apptemplate.Template, _ *layout.Request) {
		t.Constraints.Services["lb"] = solvertest.Between(3, 1)
	}},
	{"together and never together", func(_ *apptemplate.Catalog, t *apptemplate.Template, _ *layout.Request) {
		t.Constraints.MustCoexist = [][]string{{"app", "store"}}
	}},
	{"a group of three on too few nodes", func(_ *apptemplate.Catalog, t *apptemplate.Template, r *layout.Request) {
		only(t, apptemplate.Constraints{CantCoexist: [][]string{{"lb", "app", "store"}}, Services: map[string]apptemplate.ServiceConstraint{
			"lb": solvertest.MinAvailable(3), "app": solvertest.MinAvailable(3), "store": solvertest.MinAvailable(3)}})
		r.Size = 3
	}},
	{"two reasons at once", func(_ *apptemplate.Catalog, t *apptemplate.Template, r *layout.Request) {
		t.Constraints.Services["lb"] = solvertest.Between(2, 1)
		t.Constraints.Services["store"] = solvertest.Between(5, 4)
		r.Size = 12
	}},
	{"hardware that the provider does not have", func(_ *apptemplate.Catalog, t *apptemplate.Template, _ *layout.Request) {
		t.Constraints.Services["store"] = apptemplate.ServiceConstraint{Max: 2, Hardware: []string{"rack"}}
	}},
	{"hardware asked for that one service does not accept", func(_ *apptemplate.Catalog, t *apptemplate.Template, r *layout.Request) {
		t.Constraints.Services["store"] = apptemplate.ServiceConstraint{Max: 2, Hardware: []string{"large", "medium"}}
		r.Hardware = "small"
	}},
	{"the template's own image is not accepted", func(_ *apptemplate.Catalog, t *apptemplate.Template, _ *layout.Request) {
		t.Constraints.Services["store"] = apptemplate.ServiceConstraint{Max: 2, Images: []string{"ubuntu"}}
		t.Defaults.Image = "debian"
	}},
	{"the template allows only what a service does not accept", func(_ *apptemplate.Catalog, t *apptemplate.Template, _ *layout.Request) {
		t.Constraints.Services["store"] = apptemplate.ServiceConstraint{Max: 2, Hardware: []string{"large"}}
		t.Compatibility.Hardware = []string{"small", "medium"}
	}},
	{"leaving out a service takes others with it", func(_ *apptemplate.Catalog, t *apptemplate.Template, r *layout.Request) {
		r.Services = []string{"app", "lb", "mail", "mysql"}
		t.Constraints.Services["mysql"] = apptemplate.ServiceConstraint{Max: 0}
	}},
	{"pairs group", func(_ *apptemplate.Catalog, t *apptemplate.Template, r *layout.Request) {
		only(t, apptemplate.Constraints{CantCoexistPairs: [][]string{{"lb", "app", "store", "cache"}}})
		r.Size = 2
	}},
	{"ratio over a maximum", func(_ *apptemplate.Catalog, t *apptemplate.Template, r *layout.Request) {
		t.Constraints.Ratios = []apptemplate.Ratio{{Service: "lb", Per: 4, Of: "app"}}
		t.Constraints.Services["app"] = solvertest.MinAvailable(6)
		r.Size = 9
	}},
	{"zones, and a provider that has none", func(_ *apptemplate.Catalog, t *apptemplate.Template, r *layout.Request) {
		only(t, apptemplate.Constraints{Zones: &apptemplate.ZoneRule{MaxSkew: 1, Services: []string{"app"}}, Services: map[string]apptemplate.ServiceConstraint{
			"app": solvertest.Between(1, 6), "lb": solvertest.MinAvailable(1), "store": solvertest.MinAvailable(1)}})
		t.Defaults.Provider = "cellar"
	}},
	{"more memory than any machine has", func(c *apptemplate.Catalog, _ *apptemplate.Template, _ *layout.Request) {
		c.Services["store"].Needs = apptemplate.Requirements{MemoryGB: 48}
	}},
	{"a GPU, which no machine has", func(c *apptemplate.Catalog, _ *apptemplate.Template, _ *layout.Request) {
		c.Services["store"].Needs = apptemplate.Requirements{GPUs: 1}
	}},
	{"more GPUs than one machine has", func(c *apptemplate.Catalog, t *apptemplate.Template, _ *layout.Request) {
		f := c.Hardware["large"].Providers[t.Defaults.Provider]
		f.GPUs = 2
		c.Hardware["large"].Providers[t.Defaults.Provider] = f
		c.Services["store"].Needs = apptemplate.Requirements{GPUs: 4}
	}},
	{"together more than the hardware has", func(c *apptemplate.Catalog, t *apptemplate.Template, r *layout.Request) {
		c.Services["app"].Needs = apptemplate.Requirements{CPU: 1, MemoryGB: 3}
		c.Services["store"].Needs = apptemplate.Requirements{MemoryGB: 2}
		only(t, apptemplate.Constraints{MustCoexist: [][]string{{"app", "store"}}})
		r.Hardware = "small"
	}},
	{"too few machines of a kind", func(_ *apptemplate.Catalog, t *apptemplate.Template, _ *layout.Request) {
		t.Constraints.Hardware = map[string]int{"large": 1}
		t.Constraints.MixedHardware = true
		t.Constraints.Services["store"] = apptemplate.ServiceConstraint{Min: 2, MinSet: true, Max: 2, Hardware: []string{"large"}}
	}},
	{"too few machines of each kind", func(_ *apptemplate.Catalog, t *apptemplate.Template, _ *layout.Request) {
		t.Constraints.Hardware = map[string]int{"medium": 1, "small": 1}
		t.Constraints.Services["store"] = apptemplate.ServiceConstraint{Min: 2, MinSet: true, Max: 2, Hardware: []string{"medium", "small"}}
	}},
	{"everything wrong at once", func(c *apptemplate.Catalog, t *apptemplate.Template, r *layout.Request) {
		*r = layout.Request{Template: "web", Size: 20, Provider: "clod", Hardware: "smal", Services: []string{"ap", "lb", "mail", "cache", "audit"}}
	}},
	{"no such template", func(_ *apptemplate.Catalog, _ *apptemplate.Template, r *layout.Request) { r.Template = "wbe" }},
	{"no such template, nor anything like it", func(_ *apptemplate.Catalog, _ *apptemplate.Template, r *layout.Request) { r.Template = "hadoop" }},
	{"a dependency that two services provide", func(_ *apptemplate.Catalog, _ *apptemplate.Template, r *layout.Request) {
		r.Services = []string{"app", "lb", "mail"}
	}},
	{"a dependency that the template does not allow", func(_ *apptemplate.Catalog, t *apptemplate.Template, r *layout.Request) {
		t.Compatibility.Services = []string{"app", "lb", "mail"}
		r.Services = []string{"app", "lb", "mail"}
	}},
	{"size below the range", func(_ *apptemplate.Catalog, _ *apptemplate.Template, r *layout.Request) { r.Size = 1 }},
	{"no size", func(_ *apptemplate.Catalog, _ *apptemplate.Template, r *layout.Request) { r.Size = 0 }},
	{"a conflict", func(_ *apptemplate.Catalog, _ *apptemplate.Template, r *layout.Request) {
		r.Services = []string{"lb", "cache", "audit"}
	}},
	{"not compatible", func(_ *apptemplate.Catalog, t *apptemplate.Template, r *layout.Request) {
		t.Compatibility.Services = []string{"app", "lb", "store"}
		r.Services = []string{"app", "cache", "lb"}
	}},
	{"hardware of another provider", func(_ *apptemplate.Catalog, _ *apptemplate.Template, r *layout.Request) { r.Hardware = "rack" }},
	{"hardware that the template does not allow", func(_ *apptemplate.Catalog, t *apptemplate.Template, r *layout.Request) {
		t.Compatibility.Hardware = []string{"medium", "small"}
		r.Hardware = "large"
	}},
	{"no hardware at all", func(_ *apptemplate.Catalog, t *apptemplate.Template, r *layout.Request) {
		t.Compatibility.Hardware = []string{"rack"}
	}},
	{"no provider", func(_ *apptemplate.Catalog, t *apptemplate.Template, _ *layout.Request) {
		t.Defaults.Provider = ""
	}},
}

func TestStories(t *testing.T) {
	var all strings.Builder
	want := map[string]string{}
	if text, err := os.ReadFile(storiesFile); err == nil {
		for _, part := range strings.Split(string(text), "# ")[1:] {
			name, body, _ := strings.Cut(part, "\n")
			want[name] = strings.TrimSpace(body)
		}
	} else if !*update {
		t.Fatal(err)
	}
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			c, template := shop()
			r := layout.Request{Template: "web", Size: 5}
			s.tell(c, template, &r)
			before := fmt.Sprintf("%+v", *template)
			e, err := New(solver.New()).Explain(context.Background(), c, r)
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprintf("%+v", *template) != before {
				t.Error("the template was changed")
			}
			var b bytes.Buffer
			if err := Text(&b, e); err != nil {
				t.Fatal(err)
			}
			for _, f := range e.Fixes {
				if f.Request == nil {
					continue
				}
				if _, err := solver.New().Solve(context.Background(), c, *f.Request); err != nil {
					t.Errorf("%s does not work: %v", f.Text, err)
				}
			}
			fmt.Fprintf(&all, "# %s\n%s\n", s.name, b.String())
			if got := strings.TrimSpace(b.String()); !*update && got != want[s.name] {
				t.Errorf("got\n%s\nwant\n%s", got, want[s.name])
			}
		})
	}
	if *update {
		if err := os.WriteFile(storiesFile, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestClausesHavePositions checks what faces read besides the texts.
func TestClausesHavePositions(t *testing.T) {
	c, template := shop()
	c.Services["store"].Needs = apptemplate.Requirements{CPU: 99}
	template.Constraints.Services["lb"] = solvertest.Between(3, 1)
	for _, test := range []struct {
		services []string
		want     []string
	}{
		{[]string{"lb", "app"}, []string{"min lb web.yaml:3", "max lb web.yaml:3"}},
		{[]string{"store", "app"}, []string{"min store web.yaml:3", "resources store store.yaml:2"}},
	} {
		e, err := New(solver.New()).Explain(context.Background(), c, layout.Request{Template: "web", Size: 6, Services: test.services})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, k := range e.Conflict {
			got = append(got, fmt.Sprintf("%s %s %s", k.Kind, strings.Join(k.Services, ","), k.Origin))
		}
		if !slices.Equal(got, test.want) || !e.Minimal {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestExplainStopsInTime(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c, _ := shop()
	if _, err := New(solver.New()).Explain(ctx, c, layout.Request{Template: "web", Size: 2}); app.CodeOf(err) != app.ETimeout {
		t.Errorf("got %v, want a timeout", err)
	}
}

// patient answers a number of questions; then the time is over.
type patient struct{ questions int }

func (p *patient) Solve(ctx context.Context, c *apptemplate.Catalog, r layout.Request) (layout.Layout, error) {
	if p.questions--; p.questions < 0 {
		return layout.Layout{}, app.Errorf(app.ETimeout, "too late: %w", context.DeadlineExceeded)
	}
	return solver.New().Solve(ctx, c, r)
}

// TestExplainReturnsPartialResults lets the time be over after ever more questions: what is given is a conflict at any time,
// and it gets no larger.
func TestExplainReturnsPartialResults(t *testing.T) {
	c := solvertest.Exclusive(4, 2)
	r := layout.Request{Template: "t", Size: 7}
	last := 1 << 30
	for questions := 1; ; questions++ {
		e, err := New(&patient{questions}).explain(context.Background(), c, r)
		if err != nil || len(e.Conflict) == 0 || len(e.Conflict) > last {
			t.Fatalf("after %d questions: %d clauses, then %d, %v", questions, last, len(e.Conflict), err)
		}
		last = len(e.Conflict)
		if e.Minimal {
			if last != 1+4+6 {
				t.Errorf("%d clauses", last)
			}
			return
		}
		if len(e.Fixes) > 0 {
			t.Errorf("a fix without time to find it: %v", e.Fixes)
		}
	}
}

// TestSameExplanationForEveryone asks one explainer from several goroutines.
func TestSameExplanationForEveryone(t *testing.T) {
	c, _ := shop()
	x := New(solver.New())
	texts := make(chan string)
	for range 8 {
		go func() {
			e, _ := x.Explain(context.Background(), c, layout.Request{Template: "web", Size: 2})
			texts <- fmt.Sprintf("%+v", e.Conflict) + fmt.Sprint(len(e.Fixes))
		}()
	}
	first := <-texts
	for range 7 {
		if other := <-texts; other != first {
			t.Errorf("got %s and %s", first, other)
		}
	}
}
