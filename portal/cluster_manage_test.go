package portal

import (
	"context"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	appschedule "muster/app/schedule"
	"muster/portal/site"
)

// fakeSchedules is a Muster that also has schedules, renames and compares. Of the other powers of Life it has none.
type fakeSchedules struct {
	site.Ownership
	site.Specs
	fake     *fake
	schedule appschedule.Schedule
	set      []appschedule.Schedule
	compared [][2]string
}

func (k *fakeSchedules) Schedule(_ context.Context, _ app.Actor, id string) (appschedule.ClusterSchedule, error) {
	s := appschedule.ClusterSchedule{Schedule: k.schedule, Cluster: id}
	if !s.None() {
		at := time.Date(2026, 3, 2, 19, 0, 0, 0, time.UTC)
		s.Next = []appschedule.ScheduledTime{{Kind: app.OperationSleep, At: at}, {Kind: app.OperationWake, At: at.Add(12 * time.Hour)}}
	}
	return s, nil
}

func (k *fakeSchedules) SetSchedule(ctx context.Context, a app.Actor, id string, s appschedule.Schedule) (appschedule.ClusterSchedule, error) {
	if strings.HasPrefix(s.Sleep, "61") {
		return appschedule.ClusterSchedule{}, &app.Error{Code: app.EInvalid, Field: "sleep", Message: "61 is no minute.", Hint: "A minute is from 0 to 59."}
	}
	k.schedule, k.set = s, append(k.set, s)
	return k.Schedule(ctx, a, id)
}

func (k *fakeSchedules) RenameCluster(_ context.Context, a app.Actor, id, name string) (cluster.View, error) {
	k.fake.mu.Lock()
	defer k.fake.mu.Unlock()
	k.fake.find(id).Name = name
	return k.fake.view(id)
}

func (k *fakeSchedules) DiffClusters(_ context.Context, _ app.Actor, first, second string) (cluster.Diff, error) {
	if first == "nothing" || first == "" {
		return cluster.Diff{}, app.Errorf(app.ENotFound, "There is no cluster %s.", first)
	}
	k.compared = append(k.compared, [2]string{first, second})
	return cluster.Diff{Changes: []app.ValueChange{{Path: "config.port", Before: "80", After: "<b>81"}}}, nil
}

// keeping is a site whose visitor, signed in, sees a keeper with a running cluster.
func keeping(t *testing.T, user string) (*testSite, *fakeSchedules, string) {
	t.Helper()
	k := &fakeSchedules{}
	s := visit(t, func(c *Config) {
		k.fake = fakeOf(c)
		c.UseCases = useCases(k.fake, k)
	})
	s.signIn(user)
	id := s.cluster(ada, "lake", "hadoop", 3)
	s.rest(id)
	return s, k, id
}

// A cluster that is asleep can be woken from its overview, by those who may.
func TestOverviewOffersToWake(t *testing.T) {
	for user, may := range map[string]bool{"ada": true, "vera": false} {
		s, k, id := keeping(t, user)
		button := `href="/clusters/` + id + `/wake"`
		if strings.Contains(s.get("/clusters/"+id).body, button) {
			t.Errorf("%s can wake a cluster that is awake", user)
		}
		k.fake.mu.Lock()
		k.fake.find(id).Status = app.ClusterAsleep
		k.fake.mu.Unlock()
		if got := strings.Contains(s.get("/clusters/"+id).body, button); got != may {
			t.Errorf("%s can wake: %v, want %v", user, got, may)
		}
	}
}

// A refused form comes again only on a page of this site: elsewhere, and where the address is a stream, a download or nothing, the error is a page of its own.
func TestRefusedFormsComeFromPages(t *testing.T) {
	s, _, id := keeping(t, "ada")
	in := func(from string) url.Values { return url.Values{"sleep": {"61 * * * *"}, "_page": {from}} }
	manage := "/clusters/" + id + "/manage"
	a := s.post("/clusters/"+id+"/schedule", in(manage))
	a.reads(http.StatusUnprocessableEntity, "61 is no minute. A minute is from 0 to 59.", "Manage lake")
	if sleep := a.find("sleep-at"); attr(sleep, "value") != "61 * * * *" || attr(sleep, "aria-invalid") != "true" || attr(sleep, "aria-describedby") != "form-error" {
		t.Errorf("the field is %+v", sleep.Attr)
	}
	for _, from := range []string{"", "/", "//evil.example" + manage, "https://evil.example" + manage, "/nothing", "/clusters", "/api/v1/openapi.json", "/clusters/" + id + "/live",
		"/signout", "/clusters/" + id + "/manage?" + strings.Repeat("x", maxNext)} {
		a := s.post("/clusters/"+id+"/schedule", in(from), "Referer", "https://evil.example"+manage)
		a.reads(http.StatusUnprocessableEntity, "61 is no minute.", "View clusters")
	}
}

func TestManagePageOffersWhatOneMayDo(t *testing.T) {
	s, _, id := keeping(t, "ada")
	s.get("/clusters/"+id+"/manage").reads(http.StatusOK, "Manage lake", "Rename", "New owner", "Put cluster to sleep", "No schedule.",
		"Preview clone", "Download spec", "Or compare with its state after an earlier operation:")
	r := s.post("/clusters/"+id+"/rename", url.Values{"name": {"pond"}})
	if r.status != http.StatusSeeOther {
		t.Fatalf("renaming answers %d: %s", r.status, r.text())
	}
	s.get("/clusters/"+id+"/manage").reads(http.StatusOK, "Manage pond")
	s.get("/clusters/nothing/manage").reads(http.StatusNotFound, "There is no cluster nothing.")

	viewer, _, id := keeping(t, "vera")
	a := viewer.get("/clusters/" + id + "/manage")
	a.reads(http.StatusOK, "Manage lake")
	a.lacks("Rename", "New owner", "Put cluster to sleep", "Schedule", "Download spec", "Compare")
}

func TestScheduleIsSetAndTakenAwayOnThePage(t *testing.T) {
	s, k, id := keeping(t, "ada")
	at := "/clusters/" + id
	want := appschedule.Schedule{Sleep: "0 19 * * 1-5", Wake: "0 7 * * 1-5", Zone: "Europe/Berlin"}
	r := s.post(at+"/schedule", url.Values{"sleep": {want.Sleep}, "wake": {want.Wake}, "zone": {want.Zone}})
	if r.status != http.StatusSeeOther || r.header.Get("Location") != at+"/manage#schedule" {
		t.Fatalf("setting it answers %d at %q", r.status, r.header.Get("Location"))
	}
	a := s.get(at + "/manage")
	a.reads(http.StatusOK, ": sleep", ": wake", "Remove schedule")
	if in := a.fields(); in.Get("sleep") != want.Sleep || in.Get("wake") != want.Wake || in.Get("zone") != want.Zone {
		t.Errorf("the form shows %v", in)
	}
	s.post(at+"/schedule", url.Values{"sleep": {"61 19 * * *"}}).reads(http.StatusUnprocessableEntity, "61 is no minute.", "A minute is from 0 to 59.")
	// The button to remove the schedule wins over the fields.
	s.post(at+"/schedule", url.Values{"sleep": {want.Sleep}, "wake": {want.Wake}, "clear": {"yes"}})
	if !reflect.DeepEqual(k.set, []appschedule.Schedule{want, {}}) {
		t.Errorf("it was set to %+v", k.set)
	}
	s.get(at+"/manage").reads(http.StatusOK, "No schedule.")
}

func TestClustersAreComparedOnThePage(t *testing.T) {
	s, k, id := keeping(t, "ada")
	a := s.get("/clusters/" + id + "/diff?with=lake@1")
	a.reads(http.StatusOK, "config.port", "80", "<b>81")
	if strings.Contains(a.body, "<b>81") {
		t.Error("a value is written into the page as it is")
	}
	if len(k.compared) != 1 || k.compared[0] != [2]string{"lake@1", id} {
		t.Errorf("compared: %v", k.compared)
	}
	latest, err := s.f.Cluster(t.Context(), ada, id)
	if err != nil {
		t.Fatal(err)
	}
	// Without its query the page offers the choice, and says what is missing where a form was sent without it.
	op := strconv.FormatInt(latest.Operations[0].ID, 10)
	choice := s.get("/clusters/" + id + "/diff")
	choice.reads(http.StatusOK, "Compare lake", "Compare with cluster")
	if link := `href="/clusters/` + id + "/diff?with=" + id + "@" + op + `"`; !strings.Contains(choice.body, link) {
		t.Errorf("the page has no %s", link)
	}
	for _, with := range []string{"", "%20"} {
		s.get("/clusters/"+id+"/diff?with="+with).reads(http.StatusUnprocessableEntity, "Enter the cluster to compare lake with.", "Compare with cluster")
	}
	if len(k.compared) != 1 {
		t.Errorf("compared: %v", k.compared)
	}
	s.get("/clusters/"+id+"/diff?with=nothing").reads(http.StatusNotFound, "There is no cluster nothing.")
}
