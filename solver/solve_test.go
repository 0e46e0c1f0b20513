package solver

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/app"
	"muster/app/layout"
	apptemplate "muster/app/template"
	"muster/solver/internal/request"
	"muster/solver/solvertest"
)

// tiny is two services that exclude each other, on one provider.
func tiny() (*apptemplate.Catalog, *apptemplate.Template) {
	c, t := big(2)
	t.Constraints.CantCoexist = [][]string{{"s000", "s001"}}
	return c, t
}

func TestRefusals(t *testing.T) {
	two := layout.Request{Template: "t", Size: 2}
	tests := []struct {
		name    string
		model   func(c *apptemplate.Catalog, t *apptemplate.Template, r *layout.Request)
		code    app.Code
		kind    string
		message string
	}{
		{"unknown provider", func(_ *apptemplate.Catalog, _ *apptemplate.Template, r *layout.Request) { r.Provider = "x" },
			app.ENotFound, request.MissingProvider, "provider x doesn't exist."},
		{"no provider", func(_ *apptemplate.Catalog, t *apptemplate.Template, _ *layout.Request) {
			t.Defaults.Provider = ""
		},
			app.EInvalid, request.MissingProvider, "template t has no default provider; name one in the request."},
		{"no services", func(_ *apptemplate.Catalog, t *apptemplate.Template, _ *layout.Request) {
			t.Defaults.Services = nil
		},
			app.EInvalid, request.BadRequest, "a cluster needs at least one service"},
		{"unknown service", func(_ *apptemplate.Catalog, _ *apptemplate.Template, r *layout.Request) {
			r.Services = []string{"s000", "x"}
		},
			app.ENotFound, request.MissingService, "service x doesn't exist"},
		{"conflict", func(c *apptemplate.Catalog, _ *apptemplate.Template, _ *layout.Request) {
			c.Services["s001"].Conflicts = []string{"s000", "x"}
		},
			app.EInvalid, request.ConflictingServices, "s001 conflicts with s000."},
		{"provided dependency is there, another is not", func(c *apptemplate.Catalog, _ *apptemplate.Template, _ *layout.Request) {
			c.Services["s000"].Install.Requires = []string{"db", "web"}
			c.Services["s001"].Provides = []string{"db"}
		}, app.EInvalid, request.MissingDependency, "s000 requires web, which isn't on the cluster."},
		{"too few nodes", func(_ *apptemplate.Catalog, _ *apptemplate.Template, r *layout.Request) { r.Size = 1 }, app.ENoLayout, request.NoSolution,
			"2 services can't be placed on 1 node: s000 and s001 can't share nodes, and their minimums add up to 2 nodes."},
		{"too many nodes", func(_ *apptemplate.Catalog, t *apptemplate.Template, r *layout.Request) {
			t.Constraints.Services["s000"], t.Constraints.Services["s001"] = between(1, 3), between(1, 4)
			r.Size = 8
		}, app.ENoLayout, request.NoSolution, "2 services can't be placed on 8 nodes: the maximums of all services add up to 7 nodes, and every node must run a service."},
		{"no hardware for a service", func(_ *apptemplate.Catalog, t *apptemplate.Template, _ *layout.Request) {
			t.Constraints.Services["s001"] = apptemplate.ServiceConstraint{Max: 9, Hardware: []string{"gpu"}}
		}, app.ENoLayout, request.NoSolution, "2 services can't be placed on 2 nodes: no allowed hardware (large, medium and small) is accepted by s001."},
		{"minimum over maximum", func(_ *apptemplate.Catalog, t *apptemplate.Template, _ *layout.Request) {
			t.Constraints.Services["s001"] = between(2, 1)
		}, app.ENoLayout, request.NoSolution, "2 services can't be placed on 2 nodes: s001 must be on at least 2 nodes, but can be on at most 1."},
		{"must and can't", func(_ *apptemplate.Catalog, t *apptemplate.Template, _ *layout.Request) {
			t.Constraints.MustCoexist = t.Constraints.CantCoexist
		}, app.ENoLayout, request.NoSolution, "2 services can't be placed on 2 nodes: s000 and s001 must coexist and can't coexist."},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, template := tiny()
			r := two
			test.model(c, template, &r)
			_, err := New().Solve(context.Background(), c, r)
			if err == nil {
				t.Fatal("no error")
			}
			if e := app.AsError(err); e.Code != test.code || e.Reason != test.kind || e.Message != test.message {
				t.Errorf("got %s, %s, %q\nwant %s, %s, %q", e.Code, e.Reason, e.Message, test.code, test.kind, test.message)
			}
		})
	}
}

func TestUnconstrainedServicesRunEverywhere(t *testing.T) {
	c, template := big(4)
	template.Constraints.CantCoexist = [][]string{{"s000", "s001"}}
	template.Constraints.Services["s000"] = between(1, 1)
	template.Constraints.Services["s001"] = between(1, 2)
	l, err := New().Solve(context.Background(), c, layout.Request{Template: "t", Size: 5})
	if err != nil {
		t.Fatal(err)
	}
	want := "1 large centos s000 s002 s003\n2 large centos s001 s002 s003\n2 large centos s002 s003\n"
	if got := inWords(l.Groups); got != want || l.CostPerHour != 5*0.25 || l.Groups[1].CostPerHour != 2*0.25 {
		t.Errorf("got %v per hour\n%s\nwant\n%s", l.CostPerHour, got, want)
	}
}

// hopeless is a hundred services in random pairs on so few nodes that proving which node is best takes very long.
func hopeless() (*apptemplate.Catalog, layout.Request) {
	return pairs(150, 520, 11, random(1, 1, 0, 0))(), layout.Request{Template: "t", Size: 5}
}

func TestDeadlineIsKept(t *testing.T) {
	c, r := hopeless()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := New().Solve(ctx, c, r)
	if app.CodeOf(err) != app.ETimeout || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want a timeout", err)
	}
	if took := time.Since(start); took > 2*time.Minute {
		t.Errorf("stopped only after %v", took)
	}
}

// TestDeadlineOfPreferences takes a problem that is too much for a short time: what is known by then is said, with how far it
// may be off.
func TestDeadlineOfPreferences(t *testing.T) {
	c := solvertest.Needing(30, 20, 6)
	for _, limit := range []time.Duration{time.Millisecond, 20 * time.Millisecond, 200 * time.Millisecond} {
		r := layout.Request{Template: "t", Size: 500, Prefer: apptemplate.PreferCheapest}
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		start := time.Now()
		got, err := New().Solve(ctx, c, r)
		cancel()
		if took := time.Since(start); took > limit+2*time.Minute {
			t.Errorf("%v: stopped only after %v", limit, took)
		}
		if err != nil {
			if app.CodeOf(err) != app.ETimeout {
				t.Errorf("%v: %v", limit, err)
			}
			continue
		}
		if wrong := solvertest.Check(c, r, got); len(wrong) > 0 || got.Gap < 0 || got.Gap >= 1 {
			t.Errorf("%v: gap %v, %s", limit, got.Gap, wrong)
		}
	}
}

func TestCancelledBeforeItStarts(t *testing.T) {
	c, _ := tiny()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := New().Solve(ctx, c, layout.Request{Template: "t", Size: 2})
	if app.CodeOf(err) != app.ETimeout || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "2 services on 2 nodes") {
		t.Errorf("got %v", err)
	}
}

// TestSameAnswerForEveryone asks the same question from several goroutines at once, of one solver and one catalog.
func TestSameAnswerForEveryone(t *testing.T) {
	c, r := loose(), layout.Request{Template: "t", Size: 300}
	s := New()
	answers := make([]string, 16)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() {
			l, err := s.Solve(context.Background(), c, r)
			if err != nil {
				t.Error(err)
			}
			answers[i] = inWords(l.Groups)
		})
	}
	wg.Wait()
	for _, a := range answers {
		if a != answers[0] {
			t.Fatalf("got\n%s\nand\n%s", a, answers[0])
		}
	}
}

// TestHints looks at what a refused request's hint says beside what is wrong first.
func TestHints(t *testing.T) {
	tests := []struct {
		name  string
		model func(c *apptemplate.Catalog, t *apptemplate.Template, r *layout.Request)
		field string
		hints []string
	}{
		{"a near name, and what else is wrong", func(_ *apptemplate.Catalog, _ *apptemplate.Template, r *layout.Request) {
			r.Services, r.Prefer = []string{"s00", "s001"}, "cheap"
		}, "services", []string{"s000", "Besides: Preference cheap doesn't exist."}},
		{"a preference that there is not", func(_ *apptemplate.Catalog, _ *apptemplate.Template, r *layout.Request) { r.Prefer = "cheap" },
			"prefer", []string{"packed, cheapest or spread"}},
		{"what would provide a dependency", func(c *apptemplate.Catalog, _ *apptemplate.Template, r *layout.Request) {
			c.Services["s000"].Install.Requires = []string{"db"}
			c.Services["s001"].Provides = []string{"db"}
			r.Services = []string{"s000"}
		}, "services", []string{"s001"}},
		{"zones where there are none", func(_ *apptemplate.Catalog, t *apptemplate.Template, _ *layout.Request) {
			t.Constraints.Zones = &apptemplate.ZoneRule{MaxSkew: 1}
		}, "provider", []string{"zones"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, template := tiny()
			r := layout.Request{Template: "t", Size: 2}
			test.model(c, template, &r)
			_, err := New().Solve(context.Background(), c, r)
			e := app.AsError(err)
			if err == nil || e.Field != test.field {
				t.Fatalf("got field %q: %v", e.Field, err)
			}
			for _, h := range test.hints {
				if !strings.Contains(e.Hint, h) {
					t.Errorf("%q is not in hint %q of %q", h, e.Hint, e.Message)
				}
			}
		})
	}
}
