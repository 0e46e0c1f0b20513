package portal

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	"muster/app"
	"muster/app/idle"
	"muster/app/template"
)

// fakeIdle is a Muster whose clusters are idle.
type fakeIdle struct {
	view   idle.View
	id     string
	kept   time.Duration
	policy *template.IdlePolicy
}

func (k *fakeIdle) ClusterIdle(_ context.Context, _ app.Actor, id string) (idle.View, error) {
	v := k.view
	v.Cluster = id
	return v, nil
}

func (k *fakeIdle) KeepCluster(ctx context.Context, a app.Actor, id string, by time.Duration) (idle.View, error) {
	k.kept = by
	return k.ClusterIdle(ctx, a, id)
}

func (k *fakeIdle) SetClusterIdle(ctx context.Context, a app.Actor, id string, off bool) (idle.View, error) {
	if k.view.State = "in_use"; off {
		k.view.State = "off"
	}
	return k.ClusterIdle(ctx, a, id)
}

func (k *fakeIdle) IdleWarnings(ctx context.Context, a app.Actor) ([]idle.View, error) {
	v, err := k.ClusterIdle(ctx, a, k.id)
	return []idle.View{v}, err
}

func (k *fakeIdle) IdleSavings(context.Context, app.Actor, time.Time, time.Time) (idle.Savings, error) {
	return idle.Savings{Hours: 3, Saved: 6, Currency: "USD", Lines: []idle.Saving{{Cluster: "web", Name: "<b>lake", PerHour: 2,
		From: time.Now().Add(-3 * time.Hour), Hours: 3, Saved: 6}}}, nil
}

func (k *fakeIdle) IdlePolicy(context.Context, app.Actor) (*template.IdlePolicy, error) {
	return k.policy, nil
}

func (k *fakeIdle) SetIdlePolicy(_ context.Context, _ app.Actor, p *template.IdlePolicy) error {
	if p != nil {
		if err := p.Check(); err != nil {
			return err
		}
	}
	k.policy = p
	return nil
}

// A cluster that is about to sleep has a banner on its page and a line in the list, with a button that keeps it; its own page says why and when.
func TestIdleClusterIsShownAndKept(t *testing.T) {
	p := template.IdlePolicy{After: 2 * time.Hour, If: template.IdleConditions{NoSSH: true, LoadBelow: 0.1}}
	k := &fakeIdle{view: idle.View{Name: "lake", Status: "active", State: "warned", Policy: idle.ViewOf(p), MayKeep: true, MayTurnOff: true, KeepSeconds: 7200,
		Saved: idle.Savings{Currency: "USD"}, Reasons: []string{}}}
	s := visit(t, func(c *Config) {
		f := fakeOf(c)
		now := c.Now()
		k.view.IdleSince, k.view.ActAt = now.Add(-2*time.Hour), now.Add(30*time.Minute)
		c.UseCases = useCases(f, k, newFakeQuotas(f))
	})
	s.signIn("ada")
	id := s.cluster(ada, "lake", "hadoop", 3)
	s.rest(id)
	k.id = id
	s.get("/clusters/"+id).reads(http.StatusOK, "Idle. It will go to sleep in", "Keep 2 h more")
	s.get("/clusters").reads(http.StatusOK, "Idle. It will go to sleep in", "Keep or see details")
	s.get("/clusters/"+id+"/idle").reads(http.StatusOK, "Use of lake", "No SSH connections", "Load below 0.1 per core",
		"30m later, the cluster goes to sleep.", "Turn off idle policy")
	if r := s.post("/clusters/"+id+"/keep", url.Values{"for": {"2h"}}); r.status != http.StatusSeeOther || k.kept != 2*time.Hour {
		t.Errorf("keeping answers %d, and keeps for %s", r.status, k.kept)
	}
	s.post("/clusters/"+id+"/keep", url.Values{"for": {"soon"}}).reads(http.StatusUnprocessableEntity, "Invalid duration")
	if r := s.post("/clusters/"+id+"/idle", url.Values{"off": {"yes"}}); r.status != http.StatusSeeOther {
		t.Errorf("turning it off answers %d", r.status)
	}
	a := s.get("/clusters/" + id + "/idle")
	a.reads(http.StatusOK, "The idle policy is turned off for this cluster.", "Turn on idle policy")
	s.get("/usage").reads(http.StatusOK, "Saved by idle policies", "$6.00 in 3.0 h", "<b>lake")
}

func TestIdlePolicyIsSetOnThePage(t *testing.T) {
	k := &fakeIdle{view: idle.View{State: "none", Reasons: []string{}}}
	s := visit(t, func(c *Config) { c.UseCases = useCases(fakeOf(c), k) })
	s.signIn("root")
	s.get("/admin/idle").reads(http.StatusOK, "Idle clusters", "Save idle policy")
	in := url.Values{"then": {"sleep"}, "no_ssh": {"yes"}, "ports": {"8080, 8443"}, "load": {"0.2"}, "after": {"3h"}, "grace": {"1h"},
		"owner": {"turn_off"}, "max": {"8h"}}
	if r := s.post("/admin/idle", in); r.status != http.StatusSeeOther {
		t.Fatalf("saving answers %d: %s", r.status, r.text())
	}
	if p := k.policy; p == nil || !p.If.NoSSH || p.If.LoadBelow != 0.2 || len(p.If.NoConnections) != 2 || p.After != 3*time.Hour || p.Grace != time.Hour ||
		!p.MayTurnOff() {
		t.Errorf("saved %+v", k.policy)
	}
	if got := s.get("/admin/idle").fields(); got.Get("ports") != "8080, 8443" || got.Get("after") != "3h" {
		t.Errorf("the form shows %v", got)
	}
	in.Set("load", "low")
	s.post("/admin/idle", in).reads(http.StatusUnprocessableEntity, "Enter a number, such as 0.1.")
	in.Set("load", "")
	in.Set("after", "")
	s.post("/admin/idle", in).reads(http.StatusUnprocessableEntity, "is required")
	in.Set("then", "")
	if s.post("/admin/idle", in); k.policy != nil {
		t.Errorf("left %+v", k.policy)
	}
}
