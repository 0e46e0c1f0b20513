package portal

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	appoperation "muster/app/operation"
	"muster/app/plan"
)

// shortage is a Muster that accepts partial results. Its plan changes whenever a cluster fails.
type shortage struct {
	*fake
	lost   []appoperation.LostMachine
	noRoom bool // what came is too little
	wentOn []string
	orders []appoperation.TopUpOrder
}

func (f *shortage) hash() string { return fmt.Sprintf("%064d", len(f.lost)) }

func (f *shortage) PreviewGoOn(_ context.Context, a app.Actor, id string, _ int64) (appoperation.GoOnPreview, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v, err := f.view(id)
	if err != nil {
		return appoperation.GoOnPreview{}, err
	}
	if !a.MayIn("PreviewGoOn", shownTo(v.Cluster, a)) {
		return appoperation.GoOnPreview{}, app.Errorf(app.EForbidden, "Only its owner and admins may do that.")
	}
	if f.noRoom {
		return appoperation.GoOnPreview{}, &app.Error{Code: app.EConflict, Reason: "no_go_on", Message: "No machine was created.", Hint: "Resume the operation, or delete the cluster."}
	}
	p := appoperation.GoOnPreview{Operation: v.Operations[0], Wanted: v.Size, GivesBack: f.lost, Before: cluster.ClusterFigures{Nodes: v.Size, CostPerHour: 1},
		After: cluster.ClusterFigures{CostPerHour: 0.5}, PlanHash: f.hash(), Duration: time.Minute, TopsUp: true, Notes: []string{"The load balancer is reconfigured."}}
	for _, n := range v.Nodes[:v.Size-len(f.lost)] {
		p.Nodes = append(p.Nodes, cluster.AmendedNode{Name: n.Name})
	}
	for _, l := range f.lost {
		p.Plan.Steps = append(p.Plan.Steps, plan.PlanStep{ID: l.Node + ".delete", Node: l.Node, Action: app.ActionDelete})
	}
	return p, nil
}

func (f *shortage) GoOn(_ context.Context, a app.Actor, id string, _ int64, hash string, noTopUp bool) (cluster.ClusterView, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v, err := f.view(id)
	switch {
	case err != nil:
		return v, err
	case !a.MayIn("GoOn", shownTo(v.Cluster, a)):
		return v, app.Errorf(app.EForbidden, "Only its owner and admins may do that.")
	case hash != "" && hash != f.hash():
		return v, &app.Error{Code: app.EConflict, Reason: "plan_changed", Message: "The plan is another one by now."}
	}
	f.wentOn = append(f.wentOn, fmt.Sprint(hash != "", noTopUp))
	return v, nil
}

func (f *shortage) SetTopUp(_ context.Context, a app.Actor, id string, o appoperation.TopUpOrder) (cluster.ClusterView, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v, err := f.view(id)
	if err == nil && !a.MayIn("SetTopUp", shownTo(v.Cluster, a)) {
		err = app.Errorf(app.EForbidden, "Only its owner and admins may do that.")
	}
	if err == nil {
		f.orders = append(f.orders, o)
	}
	return v, err
}

// short is a site with a cluster "lake" of which n3 did not come.
func short(t *testing.T, user string) (*testSite, *shortage, string) {
	t.Helper()
	w := &shortage{lost: []appoperation.LostMachine{{Node: "n3", Error: "No room in <zone b>."}}}
	s := visit(t, func(c *Config) {
		w.fake = fakeOf(c)
		c.UseCases = useCases(w)
	})
	s.signIn(user)
	id := s.cluster(ada, "lake", "hadoop", 3)
	s.f.mu.Lock()
	op := s.f.find(id).Operations[0].ID
	for i := range s.f.steps[op] {
		if st := &s.f.steps[op][i]; st.Action.OnMachine() && st.Node != "n3" {
			st.State = app.StepSucceeded
		}
	}
	s.f.mu.Unlock()
	s.f.failStep(id, "n3.create", "No room in <zone b>.")
	s.f.mu.Lock()
	s.f.find(id).Operations[0].EndedAt = s.f.now().Add(-time.Minute)
	s.f.mu.Unlock()
	return s, w, id
}

func TestGoOnShowsItsPlanFirst(t *testing.T) {
	s, w, id := short(t, "ada")
	if a := s.get("/clusters/" + id); attr(a.find("go-on"), "href") != "/clusters/"+id+"/go-on" {
		t.Fatalf("the cluster's page does not lead there: %s", a.text())
	}
	a := s.get("/clusters/" + id + "/go-on")
	a.reads(http.StatusOK, "Accept 2 of 3 nodes?", "1 machine was not created.", "n3 No room in <zone b>.", "The load balancer is reconfigured.", "2 of 3",
		"Backfill missing nodes automatically", "Cancel Accept partial result")
	in := a.fields()
	if in.Get("plan_hash") != w.hash() || in.Get("top_up") != "true" {
		t.Fatalf("the form begins with %v", in)
	}
	// Another machine is lost meanwhile: what was shown is not what would run.
	w.lost = append(w.lost, appoperation.LostMachine{Node: "n2", Error: "It never answered."})
	a = s.post("/clusters/"+id+"/go-on", in)
	a.reads(http.StatusConflict, "The cluster has changed since you opened this page", "Accept 1 of 3 nodes?", "2 machines were not created.")
	if len(w.wentOn) != 0 {
		t.Fatalf("it was gone on with: %v", w.wentOn)
	}
	in = a.fields()
	if a := s.post("/clusters/"+id+"/go-on", in); a.status != http.StatusSeeOther || a.header.Get("Location") != "/clusters/"+id {
		t.Errorf("a go-on answers %d and leads to %q", a.status, a.header.Get("Location"))
	}
	in.Del("top_up") // the box is not ticked
	s.post("/clusters/"+id+"/go-on", in)
	if got := strings.Join(w.wentOn, ", "); got != "true false, true true" {
		t.Errorf("asked was (plan named, no top-up) %s", got)
	}
}

func TestGoOnThatCannotBe(t *testing.T) {
	s, w, id := short(t, "ada")
	w.noRoom = true
	s.get("/clusters/"+id+"/go-on").reads(http.StatusConflict, "No machine was created. Resume the operation, or delete the cluster.")
	s.get("/clusters/none/go-on").reads(http.StatusNotFound)
	s, w, id = short(t, "vera")
	if a := s.get("/clusters/" + id); a.find("go-on") != nil {
		t.Error("who may only look is led to it")
	}
	if a := s.post("/clusters/"+id+"/go-on", url.Values{}); a.status != http.StatusForbidden || len(w.wentOn) > 0 {
		t.Errorf("who may only look is answered %d", a.status)
	}
}

func TestWhatAClusterLacks(t *testing.T) {
	s, w, id := short(t, "ada")
	tell := func(u cluster.TopUp) {
		s.f.mu.Lock()
		defer s.f.mu.Unlock()
		s.f.find(id).TopUp = &u
	}
	tell(cluster.TopUp{Wanted: 5, NextAt: s.f.now().Add(20 * time.Minute), Note: "no room in <b>"})
	s.get("/clusters/"+id).reads(http.StatusOK, "3 of 5 nodes; next backfill in 20 min; last attempt: no room in <b>.", "Backfill now Stop backfill")
	tell(cluster.TopUp{Wanted: 5, Off: true})
	s.get("/clusters/"+id).reads(http.StatusOK, "3 of 5 nodes; no backfill.", "Backfill now Resume backfill")
	tell(cluster.TopUp{Wanted: 5})
	a := s.get("/clusters/" + id)
	a.reads(http.StatusOK, "3 of 5 nodes; backfill pending.")
	a.lacks("Ask now")
	for _, do := range []string{"now", "off", "on"} {
		if a := s.post("/clusters/"+id+"/top-up", url.Values{"do": {do}}); a.status != http.StatusSeeOther {
			t.Errorf("%s answers %d", do, a.status)
		}
	}
	if fmt.Sprint(w.orders) != "[{false true} {true false} {false false}]" {
		t.Errorf("ordered was %+v", w.orders)
	}
	s.post("/clusters/"+id+"/top-up", url.Values{"do": {"dance"}}).reads(http.StatusUnprocessableEntity, "Unknown action.")
}

// How many are enough is typed with the request, kept in a preview, and complained about beside the field.
func TestHowManyAreEnoughIsChosenWhenAsking(t *testing.T) {
	s := signedIn(t, "ada")
	in := url.Values{"template": {"hadoop"}, "options_of": {"hadoop"}, "name": {"lake"}, "size": {"3"}, "services": {"namenode", "datanode", "nodemanager"},
		"on_failure": {"go_on"}, "at_least": {" 60% "}}
	out := s.post("/clusters/preview", in).fields()
	if out.Get("on_failure") != "go_on" || out.Get("at_least") != "60%" {
		t.Errorf("after a preview the choice is %q, at least %q", out.Get("on_failure"), out.Get("at_least"))
	}
	in.Set("plan_hash", out.Get("plan_hash"))
	if a := s.post("/clusters", in); a.status != http.StatusSeeOther || s.f.asked[0].OnFailure != app.FailureGoOn || s.f.asked[0].AtLeast != "60%" {
		t.Errorf("the create answers %d and asks for %+v", a.status, s.f.asked)
	}
	in.Set("at_least", "most")
	if got := s.post("/clusters/preview", in).at("err-at_least"); !strings.Contains(got, `Invalid number or share of nodes "most".`) {
		t.Errorf("the field has the error %q", got)
	}
}
