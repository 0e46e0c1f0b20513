package portal

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
	appoperation "muster/app/operation"
)

func TestPauseAndResume(t *testing.T) {
	s := signedIn(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 3)
	s.f.advance(id, 5)
	a := s.get("/clusters/" + id)
	a.reads(http.StatusOK, "Creating: 5 of 25 steps done", "Pause operation Cancel operation Delete cluster", "Why it's waiting", "nodemanager.start: waits for n1.namenode.start, which is running.")
	a.lacks("Resume", "Roll back")
	if a := s.post("/clusters/"+id+"/pause", nil); a.status != http.StatusSeeOther || a.header.Get("Location") != "/clusters/"+id {
		t.Errorf("a pause answers %d and leads to %q", a.status, a.header.Get("Location"))
	}
	a = s.get("/clusters/" + id)
	a.reads(http.StatusOK, "lake paused", "Paused after 5 of 25 steps.", "Resume operation Cancel operation Delete cluster")
	if attr(a.find("live"), "data-live") == "" {
		t.Error("the page of a paused cluster doesn't notice when someone else resumes it")
	}
	s.post("/clusters/"+id+"/pause", nil).reads(http.StatusConflict, "Creation is paused.")
	s.post("/clusters/"+id+"/resume", nil)
	s.get("/clusters/"+id).reads(http.StatusOK, "Creating: 5 of 25 steps done")
	s.get("/clusters").reads(http.StatusOK, "lake creating")
}

func TestCancelAsksWhatThen(t *testing.T) {
	s := signedIn(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 3)
	s.get("/clusters/"+id+"/cancel").reads(http.StatusOK, "Cancel operation on lake?", "No machines have been requested yet.", "Roll back", "Keep machines")
	s.f.advance(id, 9)
	a := s.get("/clusters/" + id + "/cancel")
	a.reads(http.StatusOK, "3 machines have been requested so far: n1, n2 and n3.", "Keep running Cancel operation")
	if in := a.fields(); in.Get("then") != "roll_back" {
		t.Errorf("the form begins with %v", in)
	}
	s.post("/clusters/"+id+"/cancel", url.Values{"then": {"explode"}}).reads(http.StatusUnprocessableEntity, "Unknown choice.")
	s.post("/clusters/"+id+"/cancel", url.Values{"then": {"roll_back"}})
	s.get("/clusters/"+id).reads(http.StatusOK, "lake stopping", "Cancelling. No new steps start, and running steps are asked to stop. Then Muster rolls back.")
	if a := s.get("/clusters/" + id + "/cancel"); a.status != http.StatusSeeOther {
		t.Errorf("what is being stopped can be cancelled again: %d", a.status)
	}
	s.f.letGo(id)
	a = s.get("/clusters/" + id)
	a.reads(http.StatusOK, "Creation stopped after 9 of 25 steps and will be rolled back.")
	if attr(a.find("live"), "data-live") == "" {
		t.Error("the page does not wait for the rollback that is about to begin")
	}
}

func TestWhatHappensOnAFailureIsChosenWhenAsking(t *testing.T) {
	s := signedIn(t, "ada")
	in := url.Values{"template": {"hadoop"}, "options_of": {"hadoop"}, "name": {"lake"}, "size": {"3"}, "services": {"namenode", "datanode", "nodemanager"}, "on_failure": {"roll_back"}}
	out := s.post("/clusters/preview", in).fields()
	if out.Get("on_failure") != "roll_back" {
		t.Errorf("the choice is %q after a preview", out.Get("on_failure"))
	}
	in.Set("plan_hash", out.Get("plan_hash"))
	if a := s.post("/clusters", in); a.status != http.StatusSeeOther || s.f.asked[0].OnFailure != app.FailureRollBack {
		t.Errorf("creation answers %d and asks for %+v", a.status, s.f.asked)
	}
	in.Set("on_failure", "explode")
	if got := s.post("/clusters/preview", in).at("err-on_failure"); got != "Unknown choice. Choose one from the list." {
		t.Errorf("the choice has the error %q", got)
	}
}

func TestRollBackShowsItsPlanFirst(t *testing.T) {
	s := signedIn(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 6)
	s.f.advance(id, 9)
	s.f.failStep(id, "n2.datanode.start", "The script ended with 1.")
	s.get("/clusters/"+id).reads(http.StatusOK, "Creation failed after 9 of 52 steps.", "Retry n2", "Resume operation Retries the failed steps", "Roll back operation Deletes the machines created so far.", "Change configuration", "Delete cluster")
	a := s.get("/clusters/" + id + "/roll-back")
	a.reads(http.StatusOK, "Roll back operation on lake?", "5 machines will be deleted, with all data on them: n1, n2, n3, n4 and n5. 1 other was never requested.",
		"The cluster will be deleted. This can't be undone.", "Estimated time 15 s")
	hash := a.fields().Get("plan_hash")
	if len(hash) != 64 {
		t.Fatalf("the plan that is shown is not named: %q", hash)
	}

	// Someone resumes and it fails again, further on: what was shown is not what would run.
	s.post("/clusters/"+id+"/resume", nil)
	s.f.advance(id, 25)
	s.f.failStep(id, "n6.nodemanager.start", "It does not start.")
	a = s.post("/clusters/"+id+"/roll-back", url.Values{"plan_hash": {hash}})
	a.reads(http.StatusConflict, "The cluster has changed since you opened this page, and nothing was done. This is the current plan.", "6 machines will be deleted")
	a = s.post("/clusters/"+id+"/roll-back", url.Values{"plan_hash": {a.fields().Get("plan_hash")}})
	if a.status != http.StatusSeeOther {
		t.Fatalf("the rollback answers %d: %s", a.status, a.text())
	}
	s.get("/clusters/"+id).reads(http.StatusOK, "lake rolling back", "Rolling back: 0 of 6 steps done", "Plan to roll back, requested by ada", "rollback running, 0 of 6 steps")
}

func TestRetryOfOneNode(t *testing.T) {
	s := signedIn(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 3)
	s.f.advance(id, 9)
	s.f.failStep(id, "n2.datanode.start", "The script ended with 1.")
	if a := s.get("/clusters/" + id); a.find("retry-n2") == nil || a.find("retry-n1") != nil {
		t.Error("the button to try a node again is not where it failed")
	}
	s.post("/clusters/"+id+"/nodes/n2/retry", nil)
	s.get("/clusters/"+id).reads(http.StatusOK, "Creating")
}

func TestWhyItWaits(t *testing.T) {
	s := signedIn(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 20)
	s.f.advance(id, 30)
	s.get("/clusters/"+id+"/waiting").reads(http.StatusOK, "Why lake is waiting", "Reasons", "All of the tenant's slots are busy (4 of 4).", "Steps", "Show more")
	a := s.get("/clusters/" + id + "/waiting?node=n7")
	a.reads(http.StatusOK, "Steps of n7", "All nodes")
	a.lacks("on n8")
	s.get("/clusters/nope/waiting").reads(http.StatusNotFound, "There is no cluster nope.")
	for s.f.advance(id, 1000) {
	}
	s.get("/clusters/"+id+"/waiting").reads(http.StatusOK, "Nothing waits.")
	if a := s.get("/clusters/" + id); a.at("waiting") != "" {
		t.Errorf("nothing waits, and it says %q", a.at("waiting"))
	}
}

func TestQueueIsForAdmins(t *testing.T) {
	s := signedIn(t, "ada")
	id := s.cluster(ada, "lake", "hadoop", 5)
	s.f.advance(id, 8)
	s.get("/queue").reads(http.StatusForbidden, "Only admins see the whole queue.")
	s.get("/clusters").lacks("Queue")

	s = visit(t)
	s.signIn("root")
	s.get("/queue").reads(http.StatusOK, "No operations in progress or queued.")
	id = s.cluster(ada, "lake", "hadoop", 5)
	s.f.advance(id, 8)
	a := s.get("/queue")
	a.reads(http.StatusOK, "1 operations in progress", "Waiting steps by reason", "Waiting for other steps of the plan.", "lake creation running, by ada just now", "8 of 43")
	if !strings.Contains(a.body, `/list.`) || !strings.Contains(a.body, `<noscript><meta http-equiv="refresh" content="5">`) {
		t.Error("a queue in which something moves does not move by itself")
	}
}

func TestAPIControls(t *testing.T) {
	s := visit(t)
	id := s.cluster(ada, "lake", "hadoop", 3)
	s.f.advance(id, 9)
	op := "/clusters/" + id + "/operations/1"
	w := as[execution.Waiting](s.call("GET", "/clusters/"+id+"/waiting?limit=3", ""), 200)
	if len(w.Steps) != 3 || w.Next == 0 || w.Total < 4 || w.Groups[0].Reason != execution.WaitSteps {
		t.Errorf("waiting: %+v", w)
	}
	if v := as[cluster.View](s.call("POST", op+"/pause", ""), 202); v.Operations[0].Status != app.OperationPaused {
		t.Errorf("after a pause it is %s", v.Operations[0].Status)
	}
	if v := as[cluster.View](s.call("POST", op+"/resume", ""), 202); v.Operations[0].Status != app.OperationRunning {
		t.Errorf("after a resume it is %s", v.Operations[0].Status)
	}
	s.f.failStep(id, "n2.datanode.start", "The script ended with 1.")
	if v := as[cluster.View](s.call("POST", "/clusters/"+id+"/nodes/n2/retry", ""), 202); v.Operations[0].Status != app.OperationRunning {
		t.Errorf("after a retry of n2 it is %s", v.Operations[0].Status)
	}
	if v := as[cluster.View](s.call("POST", op+"/cancel", `{"roll_back": true}`), 202); v.Operations[0].Status != app.OperationCancelling ||
		v.Operations[0].OnFailure != app.FailureRollBack {
		t.Errorf("after a cancel it is %+v", v.Operations[0])
	}
	s.f.letGo(id)
	p := as[appoperation.RollBackPreview](s.call("GET", op+"/roll-back", ""), 200)
	if len(p.Deletes) != 3 || !p.DeletesCluster || p.PlanHash != p.Plan.Hash() {
		t.Errorf("the preview: %+v", p)
	}
	if a := s.call("POST", op+"/roll-back", `{"plan_hash": "0000"}`); a.status != 409 || !strings.Contains(a.body, `"plan_changed"`) {
		t.Errorf("another plan than was shown: %d %s", a.status, a.body)
	}
	if v := as[cluster.View](s.call("POST", op+"/roll-back", `{"plan_hash": "`+p.PlanHash+`"}`), 202); v.Operations[0].Kind != app.OperationRollBack {
		t.Errorf("after a rollback it is %s", v.Operations[0].Kind)
	}
	for _, tt := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/clusters/" + id + "/operations/x/pause", "", 422},
		{"POST", "/clusters/" + id + "/operations/-1/pause", "", 422},
		{"POST", "/clusters/nope/operations/0/pause", "", 404},
		{"POST", "/clusters/" + id + "/operations/0/cancel", `{"rollback": true}`, 422},
		{"GET", "/clusters/" + id + "/waiting?limit=501", "", 422},
		{"GET", "/clusters/" + id + "/waiting?wat=1", "", 422},
		{"GET", "/queue", "", 403},
	} {
		if a := s.call(tt.method, tt.path, tt.body); a.status != tt.status {
			t.Errorf("%s %s %s answers %d, not %d: %s", tt.method, tt.path, tt.body, a.status, tt.status, a.body)
		}
	}
}
