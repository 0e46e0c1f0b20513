package portal

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/fleet"
)

// fakeReceipts is a fake Muster with receipts, an orphaned machine due for deletion and an unknown one.
type fakeReceipts struct {
	fake    *fake
	decided map[string]fleet.OrphanDecision
	mode    fleet.OrphanMode
	proof   fleet.Proof
}

func (f *fakeReceipts) Receipt(ctx context.Context, a app.Actor, cluster string) (fleet.Receipt, error) {
	v, err := f.fake.Cluster(ctx, a, cluster)
	if err != nil {
		return fleet.Receipt{}, err
	}
	f.fake.mu.Lock()
	defer f.fake.mu.Unlock()
	now := f.fake.now()
	r := fleet.NewReceipt(v.Cluster, []fleet.CloudResource{
		{Provider: "sandbox", Kind: fleet.ResourceMachine, ID: "m-1", Node: "n1", Price: 0.5, CreatedAt: now.Add(-2 * time.Hour), DeletedAt: now.Add(-time.Hour)},
		{Provider: "sandbox", Kind: fleet.ResourceMachine, ID: "<m-2>", Node: "n2", CreatedAt: now.Add(-time.Hour), Zone: "b"},
	}, f.proof, now)
	return r, nil
}

func (f *fakeReceipts) Orphans(_ context.Context, a app.Actor, gone bool) (fleet.OrphanReport, error) {
	if a.Role != app.RoleSuperadmin && !strings.HasPrefix(a.User, "boss") {
		return fleet.OrphanReport{}, app.Errorf(app.EForbidden, "Only admins can manage orphaned machines.")
	}
	now := f.fake.now()
	r := fleet.OrphanReport{Mode: fleet.OrphansDelete, Cost: 1.5, Accounts: []app.Account{{Provider: "sandbox", Machines: 7, Orphans: 2, HeldBack: 3, EndedAt: now.Add(-time.Minute)}},
		Orphans: []fleet.Orphan{
			{ID: "aa", Provider: "sandbox", Machine: "m-9", Cluster: "c01", Node: "n1", Kind: fleet.OrphanEnded, State: fleet.OrphanDue, FirstSeen: now,
				CreatedAt: now.Add(-3 * time.Hour), Price: 0.5, Cost: 1.5, DeleteAt: now.Add(5 * time.Minute)},
			{ID: "bb", Provider: "sandbox", Machine: "m-8", Kind: fleet.OrphanUnknown, State: fleet.OrphanReported, FirstSeen: now.Add(-48 * time.Hour)},
		}}
	if gone {
		r.Orphans = append(r.Orphans, fleet.Orphan{ID: "cc", Provider: "sandbox", Machine: "m-7", Kind: fleet.OrphanDuplicate, State: fleet.OrphanGone, DeletedAt: now})
	}
	return r, nil
}

func (f *fakeReceipts) DecideOrphan(_ context.Context, a app.Actor, id string, d fleet.OrphanDecision) (fleet.Orphan, error) {
	if id != "aa" && id != "bb" {
		return fleet.Orphan{}, app.Errorf(app.ENotFound, "Orphaned machine %q doesn't exist.", id)
	}
	f.decided[id] = d
	return fleet.Orphan{ID: id, Machine: "m-9", Provider: "sandbox", State: fleet.OrphanDue, Decision: d, Decided: a.User}, nil
}

func (f *fakeReceipts) SetOrphanMode(_ context.Context, _ app.Actor, m fleet.OrphanMode) error {
	f.mode = m
	return nil
}

// accounts signs a user in to a portal with accounting.
func accounts(t *testing.T, user string) (*testSite, *fakeReceipts) {
	t.Helper()
	var f *fakeReceipts
	s := visit(t, func(c *Config) {
		f = &fakeReceipts{fake: fakeOf(c), decided: map[string]fleet.OrphanDecision{}}
		c.UseCases = useCases(f.fake, f)
	})
	s.signIn(user)
	return s, f
}

func TestReceiptPage(t *testing.T) {
	s, _ := accounts(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 2)
	if a := s.get("/clusters/" + id + "/history"); !strings.Contains(a.body, `href="/clusters/`+id+`/receipt"`) {
		t.Error("the cluster's history doesn't link to its receipt")
	}
	s.get("/clusters/"+id+"/receipt").reads(http.StatusOK, "Receipt for lake", "1 of 2 machines in use.", "Machines 2 Remaining 1 Total lifetime 2 h Total cost 0.50",
		"The price of 1 machine is unknown", "m-1 machine n1", "1 h 0.50 0.50", "<m-2> machine b n2", "Created Deleted Lifetime")
	s.get("/clusters/nothing/receipt").reads(http.StatusNotFound)
	for _, a := range []string{"/orphans", "/clusters"} {
		if strings.Contains(s.get(a).body, `href="/orphans"`) {
			t.Error("a user sees a link to orphaned machines")
		}
	}
	s.get("/orphans").reads(http.StatusForbidden, "Only admins")
}

// A receipt's page shows the proof that nothing is left, live.
func TestAReceiptIsLive(t *testing.T) {
	s, f := accounts(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 2)
	now := f.fake.now()
	to := func(p fleet.Proof) {
		f.fake.mu.Lock()
		defer f.fake.mu.Unlock()
		c := f.fake.find(id)
		c.Status, c.DeletedAt, f.proof = app.ClusterDeleted, now, p
		f.fake.tell(id, app.Event{Kind: app.EventCluster})
	}
	to(fleet.Proof{})
	at := "/clusters/" + id + "/receipt"
	s.get(at).reads(http.StatusOK, "Proof pending: provider sandbox will be checked for remaining machines by ")
	r := s.follow("/live?page=" + url.QueryEscape(at))
	defer r.close()
	r.until("change", "provider sandbox will be checked")
	to(fleet.Proof{CheckedAt: now, How: "Account sandbox cannot be listed from here: no route to host"})
	r.until("change", "no route to host. Last checked ")
	s.get(at).reads(http.StatusOK, "Proof pending: Account sandbox cannot be listed from here: no route to host. Last checked ", "next check by")
	to(fleet.Proof{CheckedAt: now, At: now, How: "None listed."})
	if e := r.until("change", "None listed."); strings.Contains(e.data, "pending") {
		t.Errorf("after the proof, the page receives %s", e.data)
	}
}

func TestOrphanPage(t *testing.T) {
	s, f := accounts(t, "root")
	a := s.get("/orphans")
	a.reads(http.StatusOK, "2 orphaned machines. Cost so far: 1.50.", "m-9 sandbox c01 n1 node was deleted 3 h 1.50 deletion in 5 min",
		"m-8 sandbox no cluster unknown to Muster over 2 d – waiting for your decision", "sandbox 1 min ago 7 2 orphaned machines, 0 deleted 3 deletions held back: too many at once")
	a.lacks("m-7")
	s.get("/orphans?gone=true").reads(http.StatusOK, "m-7", "deleted just now", "Hide deleted machines")
	if a := s.post("/orphans/aa/delete", nil); a.status != http.StatusSeeOther || f.decided["aa"] != fleet.DecideDelete {
		t.Errorf("delete: %d, %v", a.status, f.decided)
	}
	if a := s.post("/orphans/bb/keep", nil); a.status != http.StatusSeeOther || f.decided["bb"] != fleet.DecideKeep {
		t.Errorf("keep: %d, %v", a.status, f.decided)
	}
	s.post("/orphans/zz/keep", nil).reads(http.StatusNotFound, "doesn't exist")
	if a := s.post("/orphans/mode", url.Values{"mode": {"report"}}); a.status != http.StatusSeeOther || f.mode != fleet.OrphansReport {
		t.Errorf("mode: %d, %s", a.status, f.mode)
	}
}

func TestMachinesAPI(t *testing.T) {
	s, f := accounts(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 2)
	api := func(method, path, body, user string) seen {
		r := s.request(method, "/api/v1"+path, body, "Authorization", "Bearer token-of-"+user)
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		return s.do(r)
	}
	a := api(http.MethodGet, "/clusters/"+id+"/receipt", "", "ada")
	var r fleet.Receipt
	if err := json.Unmarshal([]byte(a.body), &r); err != nil || a.status != http.StatusOK || len(r.Lines) != 2 || r.Remaining != 1 || r.Cost != 0.5 || r.Lines[0].Lifetime != time.Hour {
		t.Errorf("%d %v: %+v", a.status, err, r)
	}
	if a := api(http.MethodGet, "/orphans", "", "ada"); a.status != http.StatusForbidden {
		t.Errorf("orphans for a user: %d", a.status)
	}
	if a := api(http.MethodGet, "/orphans?gone=true", "", "boss"); a.status != http.StatusOK || !strings.Contains(a.body, `"state":"gone"`) || !strings.Contains(a.body, `"held_back":3`) {
		t.Errorf("orphans: %d %s", a.status, a.body)
	}
	if a := api(http.MethodPost, "/orphans/aa", `{"decision":"delete"}`, "boss"); a.status != http.StatusAccepted || f.decided["aa"] != fleet.DecideDelete {
		t.Errorf("delete: %d %s", a.status, a.body)
	}
	if a := api(http.MethodPost, "/orphans/aa", `{"decision":"burn"}`, "boss"); a.status != http.StatusUnprocessableEntity {
		t.Errorf("a decision that does not exist: %d %s", a.status, a.body)
	}
	if a := api(http.MethodPut, "/orphans-mode", `{"mode":"off"}`, "boss"); a.status != http.StatusOK || f.mode != fleet.OrphansOff {
		t.Errorf("mode: %d %s", a.status, a.body)
	}
}
