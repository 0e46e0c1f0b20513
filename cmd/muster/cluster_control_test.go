package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
	appoperation "muster/app/operation"
	"muster/app/plan"
	"muster/cmd/muster/cli"
)

// controlRoutes are the parts of the contract by which people steer operations.
func (s *fakeServer) controlRoutes(m *http.ServeMux) {
	m.HandleFunc("POST /api/v1/clusters/{id}/operations/0/pause", s.with(func(_ *http.Request, v *cluster.View) any {
		v.Operations[0].Status = app.OperationPaused
		return v
	}))
	m.HandleFunc("POST /api/v1/clusters/{id}/operations/0/cancel", s.with(func(r *http.Request, v *cluster.View) any {
		var in struct {
			RollBack bool `json:"roll_back"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			s.t.Error(err)
		}
		v.Operations[0].Status = app.OperationCancelling
		if s.cancel != nil {
			go s.cancel(in.RollBack)
		}
		return v
	}))
	m.HandleFunc("GET /api/v1/clusters/{id}/operations/0/roll-back", s.with(func(*http.Request, *cluster.View) any { return s.preview }))
	m.HandleFunc("POST /api/v1/clusters/{id}/operations/7/roll-back", s.with(func(r *http.Request, v *cluster.View) any {
		var in struct {
			PlanHash string `json:"plan_hash"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.PlanHash != s.preview.PlanHash {
			s.t.Errorf("rollback %q was requested (%v), but %q was shown", in.PlanHash, err, s.preview.PlanHash)
		}
		s.rollBack(v)
		return v
	}))
	m.HandleFunc("POST /api/v1/clusters/{id}/nodes/{node}/retry", s.with(func(*http.Request, *cluster.View) any {
		go s.resume()
		return s.views["c1"]
	}))
	m.HandleFunc("GET /api/v1/clusters/{id}/waiting", s.with(func(*http.Request, *cluster.View) any { return s.waits }))
	m.HandleFunc("GET /api/v1/queue", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, s.queue) })
}

// rollBack starts rolling back a cluster, which is soon deleted. The lock is held.
func (s *fakeServer) rollBack(v *cluster.View) {
	op := app.Operation{ID: 8, Cluster: v.ID, Kind: app.OperationRollBack, RollsBack: 7, Status: app.OperationRunning, Total: 1}
	v.Operations = slices.Insert(v.Operations, 0, op)
	v.Status = app.ClusterPending
	go s.tell(func() {
		v.Operations[0].Status, v.Operations[0].Done, v.Status = app.OperationSucceeded, 1, app.ClusterDeleted
	}, operationEvent(8, app.OperationSucceeded))
}

// failed is a server with a cluster whose create has failed.
func failed(t *testing.T) *fakeServer {
	home(t)
	s := newFakeServer(t)
	v := testCluster("c1", "shop")
	v.Status, v.Operations[0].Status = app.ClusterFailed, app.OperationFailed
	s.views["c1"] = v
	p := plan.Plan{Kind: app.OperationRollBack, Steps: []plan.Step{{ID: "n1.delete", Node: "n1", Action: app.ActionDelete, Rank: 20 * time.Second}}}
	s.preview = appoperation.RollBackPreview{Operation: v.Operations[0], Plan: p, PlanHash: p.Hash(), Deletes: []string{"n1"}, Unchanged: 1, DeletesCluster: true}
	return s
}

func TestPause(t *testing.T) {
	home(t)
	s := newFakeServer(t)
	s.views["c1"] = testCluster("c1", "shop")
	wantResult(t, s.muster("cluster", "pause", "shop"), cli.ExitDone, "shop (c1): creation is paused, 0 of 4 steps done\nResume:  muster cluster resume c1\n", "")
	wantResult(t, s.muster("cluster", "show", "shop"), cli.ExitDone, "shop (c1) is pending: creation paused, 0 of 4 steps done", "")
	s.refuse["POST /clusters/c1/operations/0/pause"] = &app.Error{Code: app.EConflict, Message: "Creation is paused, so you can't pause it.", Hint: "You can resume it or cancel it."}
	s.status = http.StatusConflict
	wantResult(t, s.muster("cluster", "pause", "shop"), cli.ExitFailed, "", "muster: Creation is paused, so you can't pause it.\n  You can resume it or cancel it.\n")
}

func TestCancelWaitsUntilItHasStopped(t *testing.T) {
	home(t)
	s := newFakeServer(t)
	s.views["c1"] = testCluster("c1", "shop")
	s.cancel = func(bool) {
		s.tell(func() {
			v := s.views["c1"]
			v.Status, v.Operations[0].Status, v.Operations[0].Done = app.ClusterFailed, app.OperationCancelled, 2
			v.Operations[0].StartedAt = v.Operations[0].CreatedAt.Add(time.Second)
			v.Problem = cluster.TroubleOf(*v, cluster.Definition{}, cluster.Unfinished{})
		}, operationEvent(7, app.OperationCancelled))
	}
	got := s.muster("cluster", "cancel", "shop", "--wait")
	wantResult(t, got, cli.ExitDone, "shop (c1): creation was cancelled after 2 of 4 steps\nRepair cluster:  muster cluster repair shop\nRoll back operation:  muster cluster roll-back shop\n", "")
}

func TestCancelAndRollBackWaitsUntilAllIsGivenBack(t *testing.T) {
	home(t)
	s := newFakeServer(t)
	s.views["c1"] = testCluster("c1", "shop")
	s.cancel = func(rollBack bool) {
		s.tell(func() {
			v := s.views["c1"]
			v.Status, v.Operations[0].Status = app.ClusterFailed, app.OperationCancelled
			if rollBack {
				v.Operations[0].OnFailure = app.FailureRollBack
			}
		}, operationEvent(7, app.OperationCancelled))
		for s.wasAsked("GET /clusters/c1") < 2 { // it looks whether the rollback has begun
			time.Sleep(time.Millisecond)
		}
		s.mu.Lock()
		s.rollBack(s.views["c1"])
		s.mu.Unlock()
	}
	wantResult(t, s.muster("cluster", "cancel", "shop", "--roll-back", "--wait"), cli.ExitDone, "shop (c1) is deleted: all machines are deleted", "")
}

func TestRollBackShowsAndAsks(t *testing.T) {
	s := failed(t)
	got := s.muster("cluster", "roll-back", "shop", "--dry-run")
	wantResult(t, got, cli.ExitDone, "shop (c1): rollback of creation: 1 machine is deleted; the cluster is deleted\n", "")
	wantResult(t, got, cli.ExitDone, "rollback: 1 step on 1 node, about 20 s", "")
	wantResult(t, s.muster("cluster", "roll-back", "shop"), cli.ExitUsage, "", "--yes is required without a terminal to confirm on\n  To see the plan first, use --dry-run.")
	wantResult(t, s.muster("cluster", "roll-back", "shop", "--yes", "--dry-run"), cli.ExitUsage, "", "--yes and --dry-run can't be combined")
	if n := s.wasAsked("POST"); n > 0 {
		t.Fatalf("%d things were changed by looking", n)
	}
	wantResult(t, s.muster("cluster", "roll-back", "shop", "--yes", "--wait"), cli.ExitDone, "shop (c1) is deleted: all machines are deleted", "")
}

func TestRetryNode(t *testing.T) {
	s := failed(t)
	s.resume = func() { s.goesWell(cluster.CreateRequest{}) }
	wantResult(t, s.muster("cluster", "retry-node", "shop"), cli.ExitUsage, "", "NODE is required")
	wantResult(t, s.muster("cluster", "retry-node", "shop", "n2", "--wait"), cli.ExitDone, "shop (c1) is active", "")
	if s.wasAsked("POST /clusters/c1/nodes/n2/retry") != 1 {
		t.Errorf("asked: %v", s.asked)
	}
}

func TestWhy(t *testing.T) {
	home(t)
	s := newFakeServer(t)
	s.views["c1"] = testCluster("c1", "shop")
	s.waits = execution.Waiting{Cluster: "c1", Text: "Creation is running: 1 step in progress, 2 waiting.", Total: 2, Next: 12,
		Groups: []execution.WaitGroup{{Count: 2, Text: "app.start: waits for n1.db.start, which is running."}},
		Steps: []execution.Wait{{Step: "n1.app.start", State: app.StepWaiting, Text: "Waits for n1.db.start, which is running."},
			{Step: "n2.create", State: app.StepQueued, Position: 3, Text: "2 steps go first."}}}
	wantResult(t, s.muster("cluster", "why", "shop", "--node", "n1"), cli.ExitDone, `Creation is running: 1 step in progress, 2 waiting.

STEPS  REASON
    2  app.start: waits for n1.db.start, which is running.

STEP          STATE    POSITION  REASON
n1.app.start  waiting         -  Waits for n1.db.start, which is running.
n2.create     queued          3  2 steps go first.
More:  muster cluster why c1 --from 12
`, "")
	if s.wasAsked("GET /clusters/c1/waiting?limit=20&node=n1") != 1 {
		t.Errorf("asked: %v", s.asked)
	}
	wantResult(t, s.muster("cluster", "why", "shop", "--limit", "501"), cli.ExitUsage, "", "--limit must be from 1 to 500, not 501")
	if got := s.muster("cluster", "why", "shop", "--format", "json"); !strings.Contains(got.out, `"position":3`) {
		t.Errorf("JSON: %s", got.out)
	}
}

func TestQueue(t *testing.T) {
	home(t)
	s := newFakeServer(t)
	created := time.Now().Add(-3 * time.Hour)
	s.queue = execution.Queue{Text: "1 operation in progress, 4 steps running on 4 slots, 3 queued.",
		Groups:     []execution.WaitGroup{{Count: 3, Oldest: created, Text: "All of the tenant's slots are busy (4 of 4)."}, {Count: 1, Text: "Retrying in 9 s, because its action failed."}},
		Operations: []execution.QueueLine{{Cluster: "c1", Name: "shop", Kind: app.OperationCreate, Status: app.OperationRunning, CreatedAt: created, Running: 4, Queued: 3, Ready: 1, Waiting: 5, Done: 7, Total: 20}}}
	wantResult(t, s.muster("queue"), cli.ExitDone, `1 operation in progress, 4 steps running on 4 slots, 3 queued.

STEPS  OLDEST  REASON
    3     3 h  All of the tenant's slots are busy (4 of 4).
    1       -  Retrying in 9 s, because its action failed.

CLUSTER  OPERATION  STATUS   AGE  DONE  RUNNING  QUEUED  WAITING  REASON
shop     creation   running  3 h  7/20        4       3        6
`, "")
	s.refuse["GET /queue"] = &app.Error{Code: app.EForbidden, Message: "Only admins see the whole queue.", Hint: "Ask why your own cluster waits: muster cluster why."}
	s.status = http.StatusForbidden
	wantResult(t, s.muster("queue"), cli.ExitFailed, "", "Only admins see the whole queue.")
}

func TestCreateChoosesWhatHappensOnFailure(t *testing.T) {
	home(t)
	s := newFakeServer(t)
	wantResult(t, s.muster("cluster", "create", "shop", "-t", "web", "-n", "2", "--on-failure", "roll_back"), cli.ExitDone, " accepted: ", "")
	if got := s.created[0].OnFailure; got != app.FailureRollBack {
		t.Errorf("the server was asked to %q on a failure", got)
	}
	wantResult(t, s.muster("cluster", "create", "shop", "-t", "web", "-n", "2", "--on-failure", "explode"), cli.ExitUsage, "", "choose one of roll_back, accept_partial, accept_partial_or_roll_back, leave")
	s.create = func(cluster.CreateRequest) {
		s.tell(func() {
			v := s.views["c1"]
			v.Status, v.Operations[0].Status, v.Operations[0].OnFailure = app.ClusterFailed, app.OperationFailed, app.FailureRollBack
		}, operationEvent(7, app.OperationFailed))
	}
	wantResult(t, s.muster("cluster", "create", "shop", "-t", "web", "-n", "2", "--on-failure", "roll_back", "--wait"), cli.ExitFailed, "",
		"It's being rolled back automatically:  muster cluster logs c1 -f")
}
