package portal

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	"muster/app"
	"muster/app/scaling"
	"muster/app/template"
)

// fakeScaling is a Muster whose clusters are scaled.
type fakeScaling struct {
	view    scaling.View
	set     *scaling.Setting
	resumed bool
}

func (k *fakeScaling) ClusterScaling(_ context.Context, _ app.Actor, id string) (scaling.View, error) {
	v := k.view
	v.Cluster = id
	return v, nil
}

func (k *fakeScaling) SetClusterScaling(ctx context.Context, a app.Actor, id string, s scaling.Setting) (scaling.View, error) {
	if s.Rules != nil {
		p, err := scaling.Resolve(s.Rules, k.view.Template)
		if err == nil {
			err = scaling.Check(p, time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
		}
		if err != nil {
			return scaling.View{}, err
		}
	}
	k.set = &s
	return k.ClusterScaling(ctx, a, id)
}

func (k *fakeScaling) ResumeScaling(ctx context.Context, a app.Actor, id string) (scaling.View, error) {
	k.resumed = true
	return k.ClusterScaling(ctx, a, id)
}

// The page shows rules, measurements and decisions; its form keeps what was typed, says what is wrong, and sets rules of the cluster.
func TestScalingIsShownAndSet(t *testing.T) {
	above, value := 10.0, 12.0
	p := &template.ScalingPolicy{Min: 1, Max: 5, Schedule: []template.ScalingTime{{At: "Mon-Fri 08:00", Min: 3}},
		Metrics: []template.ScalingMetric{{Name: "queue", Script: "wc -l", Above: &above}}}
	at := time.Date(2030, 1, 1, 8, 0, 0, 0, time.UTC)
	k := &fakeScaling{view: scaling.View{Name: "lake", Nodes: 3, State: "paused", Source: "template", Rules: p, Template: p,
		Min: 1, Max: 5, Failures: 3, MaySet: true,
		Points: []scaling.Point{{At: at, Nodes: 3, Values: map[string]scaling.Value{"queue": {Number: 4}}},
			{At: at.Add(time.Minute), Nodes: 3, Values: map[string]scaling.Value{"queue": {Number: 12}}}},
		History: []scaling.Entry{{At: at, Rule: "queue", Value: &value, From: 3, To: 4, Outcome: scaling.Failed, Note: "<b>No machines.", Operation: 7}}}}
	s := visit(t, func(c *Config) {
		f := fakeOf(c)
		c.UseCases = useCases(f, k, newFakeQuotas(f))
	})
	s.signIn("ada")
	id := s.cluster(ada, "lake", "hadoop", 3)
	s.rest(id)
	s.get("/clusters/"+id+"/scaling").reads(http.StatusOK, "These are the template's scaling rules.", "Scaling is paused after 3 failures", "Resume scaling",
		"Mon-Fri 08:00 (UTC): at least 3 nodes", "above 10: grow; now 12", "Queue is 12: 3 → 4 nodes, failed. <b>No machines.", "View operation", "Turn off scaling")
	if r := s.post("/clusters/"+id+"/scaling/resume", nil); r.status != http.StatusSeeOther || !k.resumed {
		t.Errorf("resuming answers %d", r.status)
	}
	in := s.get("/clusters/" + id + "/scaling").fields()
	if in.Get("min") != "1" || in.Get("at") != "Mon-Fri 08:00" || in.Get("above") != "10" {
		t.Errorf("the form shows %v", in)
	}
	in = url.Values{"min": {"2"}, "max": {"8"}, "dry_run": {"yes"}, "at": {"daily 07:00", ""}, "zone": {"Europe/Berlin", ""}, "what": {"nodes", "nodes"},
		"nodes": {"4", ""}, "metric": {"queue", "load", ""}, "above": {"20", "", ""}, "below": {"", "", ""}, "target": {"", "2.5", ""}, "samples": {"3", "", ""},
		"url": {"", "https://prometheus.example.com", ""}, "query": {"", "sum(up)", ""}}
	if r := s.post("/clusters/"+id+"/scaling", in); r.status != http.StatusSeeOther {
		t.Fatalf("saving answers %d: %s", r.status, r.text())
	}
	r := k.set.Rules
	if r == nil || r.Min != 2 || r.Max != 8 || !r.DryRun || len(r.Schedule) != 1 || r.Schedule[0].Nodes != 4 || len(r.Metrics) != 2 || *r.Metrics[0].Above != 20 ||
		r.Metrics[0].Samples != 3 || *r.Metrics[1].Target != 2.5 {
		t.Errorf("saved %+v", r)
	}
	in.Set("max", "many")
	s.post("/clusters/"+id+"/scaling", in).reads(http.StatusUnprocessableEntity, `Maximum: "many" isn't a number.`)
	in.Set("max", "1")
	s.post("/clusters/"+id+"/scaling", in).reads(http.StatusUnprocessableEntity, "must be from min")
	if s.post("/clusters/"+id+"/scaling", url.Values{"do": {"off"}}); !k.set.Off {
		t.Error("it isn't turned off")
	}
	if s.post("/clusters/"+id+"/scaling", url.Values{"do": {"inherit"}}); k.set.Off || k.set.Rules != nil {
		t.Errorf("the template's rules: %+v", k.set)
	}
}
