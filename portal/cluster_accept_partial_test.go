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
	"muster/app/template"
)

// fakePartial is a Muster that accepts partial results. Its plan changes whenever a cluster fails.
type fakePartial struct {
	fake   *fake
	lost   []appoperation.LostMachine
	noRoom bool // what came is too little
	wentOn []string
	orders []appoperation.BackfillOrder
}

func (f *fakePartial) hash() string { return fmt.Sprintf("%064d", len(f.lost)) }

func (f *fakePartial) PreviewAcceptPartial(_ context.Context, a app.Actor, id string, _ int64, _ template.KeepTime) (appoperation.AcceptPartialPreview, error) {
	f.fake.mu.Lock()
	defer f.fake.mu.Unlock()
	v, err := f.fake.view(id)
	if err != nil {
		return appoperation.AcceptPartialPreview{}, err
	}
	if !a.MayIn("PreviewAcceptPartial", shownTo(v.Cluster, a)) {
		return appoperation.AcceptPartialPreview{}, app.Errorf(app.EForbidden, "Only its owner and admins may do that.")
	}
	if f.noRoom {
		return appoperation.AcceptPartialPreview{}, &app.Error{Code: app.EConflict, Reason: "partial_unacceptable", Message: "No machine was created.", Hint: "Resume the operation, or delete the cluster."}
	}
	p := appoperation.AcceptPartialPreview{Operation: v.Operations[0], Target: v.Size, Deletes: f.lost, Before: cluster.Figures{Nodes: v.Size, CostPerHour: 1},
		After: cluster.Figures{CostPerHour: 0.5}, PlanHash: f.hash(), Duration: time.Minute, Backfills: true, Notes: []string{"The load balancer is reconfigured."}}
	for _, n := range v.Nodes[:v.Size-len(f.lost)] {
		p.Nodes = append(p.Nodes, cluster.UpdatedNode{Name: n.Name})
	}
	for _, l := range f.lost {
		p.Plan.Steps = append(p.Plan.Steps, plan.Step{ID: l.Node + ".delete", Node: l.Node, Action: app.ActionDelete})
	}
	return p, nil
}

func (f *fakePartial) AcceptPartial(_ context.Context, a app.Actor, id string, _ int64, hash string, how template.PartialOverride) (cluster.View, error) {
	f.fake.mu.Lock()
	defer f.fake.mu.Unlock()
	v, err := f.fake.view(id)
	switch {
	case err != nil:
		return v, err
	case !a.MayIn("AcceptPartial", shownTo(v.Cluster, a)):
		return v, app.Errorf(app.EForbidden, "Only its owner and admins may do that.")
	case hash != "" && hash != f.hash():
		return v, &app.Error{Code: app.EConflict, Reason: "plan_changed", Message: "The plan is another one by now."}
	}
	f.wentOn = append(f.wentOn, fmt.Sprint(hash != "", how.NoBackfill))
	return v, nil
}

func (f *fakePartial) SetBackfill(_ context.Context, a app.Actor, id string, o appoperation.BackfillOrder) (cluster.View, error) {
	f.fake.mu.Lock()
	defer f.fake.mu.Unlock()
	v, err := f.fake.view(id)
	if err == nil && !a.MayIn("SetBackfill", shownTo(v.Cluster, a)) {
		err = app.Errorf(app.EForbidden, "Only its owner and admins may do that.")
	}
	if err == nil {
		f.orders = append(f.orders, o)
	}
	return v, err
}

// short is a site with a cluster "lake" of which n3 did not come.
func short(t *testing.T, user string) (*testSite, *fakePartial, string) {
	t.Helper()
	w := &fakePartial{lost: []appoperation.LostMachine{{Node: "n3", Error: "No room in <zone b>."}}}
	s := visit(t, func(c *Config) {
		w.fake = fakeOf(c)
		c.UseCases = useCases(w.fake, w)
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

func TestPartialResultShowsItsPlanFirst(t *testing.T) {
	s, w, id := short(t, "ada")
	if a := s.get("/clusters/" + id); attr(a.find("accept-partial"), "href") != "/clusters/"+id+"/accept-partial" {
		t.Fatalf("the cluster's page does not lead there: %s", a.text())
	}
	a := s.get("/clusters/" + id + "/accept-partial")
	a.reads(http.StatusOK, "Accept 2 of 3 nodes?", "1 machine was not created.", "n3 No room in <zone b>.", "The load balancer is reconfigured.", "2 of 3",
		"Backfill missing nodes automatically", "Cancel Accept partial result")
	in := a.fields()
	if in.Get("plan_hash") != w.hash() || in.Get("backfill") != "true" {
		t.Fatalf("the form begins with %v", in)
	}
	// Another machine is lost meanwhile: what was shown is not what would run.
	w.lost = append(w.lost, appoperation.LostMachine{Node: "n2", Error: "It never answered."})
	a = s.post("/clusters/"+id+"/accept-partial", in)
	a.reads(http.StatusConflict, "The cluster has changed since you opened this page", "Accept 1 of 3 nodes?", "2 machines were not created.")
	if len(w.wentOn) != 0 {
		t.Fatalf("it was gone on with: %v", w.wentOn)
	}
	in = a.fields()
	if a := s.post("/clusters/"+id+"/accept-partial", in); a.status != http.StatusSeeOther || a.header.Get("Location") != "/clusters/"+id {
		t.Errorf("an accepted partial result answers %d and leads to %q", a.status, a.header.Get("Location"))
	}
	in.Del("backfill") // the box is not ticked
	s.post("/clusters/"+id+"/accept-partial", in)
	if got := strings.Join(w.wentOn, ", "); got != "true false, true true" {
		t.Errorf("asked was (plan named, no backfill) %s", got)
	}
}

func TestUnacceptablePartialResults(t *testing.T) {
	s, w, id := short(t, "ada")
	w.noRoom = true
	s.get("/clusters/"+id+"/accept-partial").reads(http.StatusConflict, "No machine was created. Resume the operation, or delete the cluster.")
	s.get("/clusters/none/accept-partial").reads(http.StatusNotFound)
	s, w, id = short(t, "vera")
	if a := s.get("/clusters/" + id); a.find("accept-partial") != nil {
		t.Error("who may only look is led to it")
	}
	if a := s.post("/clusters/"+id+"/accept-partial", url.Values{}); a.status != http.StatusForbidden || len(w.wentOn) > 0 {
		t.Errorf("who may only look is answered %d", a.status)
	}
}

func TestWhatAClusterLacks(t *testing.T) {
	s, w, id := short(t, "ada")
	tell := func(u cluster.Backfill) {
		s.f.mu.Lock()
		defer s.f.mu.Unlock()
		s.f.find(id).Backfill = &u
	}
	tell(cluster.Backfill{Target: 5, NextAt: s.f.now().Add(20 * time.Minute), Note: "no room in <b>"})
	s.get("/clusters/"+id).reads(http.StatusOK, "3 of 5 nodes; next backfill in 20 min; last attempt: no room in <b>.", "Backfill now Stop backfill")
	tell(cluster.Backfill{Target: 5, Off: true})
	s.get("/clusters/"+id).reads(http.StatusOK, "3 of 5 nodes; no backfill.", "Backfill now Resume backfill")
	tell(cluster.Backfill{Target: 5})
	a := s.get("/clusters/" + id)
	a.reads(http.StatusOK, "3 of 5 nodes; backfill pending.")
	a.lacks("Ask now")
	for _, do := range []string{"now", "off", "on"} {
		if a := s.post("/clusters/"+id+"/backfill", url.Values{"do": {do}}); a.status != http.StatusSeeOther {
			t.Errorf("%s answers %d", do, a.status)
		}
	}
	if fmt.Sprint(w.orders) != "[{false true} {true false} {false false}]" {
		t.Errorf("ordered was %+v", w.orders)
	}
	s.post("/clusters/"+id+"/backfill", url.Values{"do": {"dance"}}).reads(http.StatusUnprocessableEntity, "Unknown action.")
}

// How many are enough is typed with the request, kept in a preview, and complained about beside the field.
func TestHowManyAreEnoughIsChosenWhenAsking(t *testing.T) {
	s := signedIn(t, "ada")
	in := url.Values{"template": {"hadoop"}, "options_of": {"hadoop"}, "name": {"lake"}, "size": {"3"}, "services": {"namenode", "datanode", "nodemanager"},
		"on_failure": {"accept_partial"}, "min_available": {" 60% "}}
	out := s.post("/clusters/preview", in).fields()
	if out.Get("on_failure") != "accept_partial" || out.Get("min_available") != "60%" {
		t.Errorf("after a preview the choice is %q, at least %q", out.Get("on_failure"), out.Get("min_available"))
	}
	in.Set("plan_hash", out.Get("plan_hash"))
	if a := s.post("/clusters", in); a.status != http.StatusSeeOther || s.f.asked[0].OnFailure != app.FailureAcceptPartial || s.f.asked[0].MinAvailable != "60%" {
		t.Errorf("creation answers %d and asks for %+v", a.status, s.f.asked)
	}
	in.Set("min_available", "most")
	if got := s.post("/clusters/preview", in).at("err-min_available"); !strings.Contains(got, `Invalid number or share of nodes "most".`) {
		t.Errorf("the field has the error %q", got)
	}
}
