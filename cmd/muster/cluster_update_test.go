package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/plan"
	"muster/app/policy"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/cluster"
)

// updateRoutes are the parts of the contract by which clusters are updated.
func (s *fakeServer) updateRoutes(m *http.ServeMux) {
	read := func(r *http.Request) (a appcluster.Update) {
		dec := json.NewDecoder(r.Body)
		dec.DisallowUnknownFields()
		dec.UseNumber()
		if err := dec.Decode(&a); err != nil {
			s.t.Error(err)
		}
		return a
	}
	m.HandleFunc("POST /api/v1/clusters/{id}/operations/preview", s.with(func(r *http.Request, _ *appcluster.View) any {
		s.updated = append(s.updated, read(r))
		return s.update
	}))
	m.HandleFunc("POST /api/v1/clusters/{id}/operations", s.with(func(r *http.Request, v *appcluster.View) any {
		a := read(r)
		s.updated = append(s.updated, a)
		if a.PlanHash != s.update.PlanHash {
			s.t.Errorf("the plan %q is asked for, %q was shown", a.PlanHash, s.update.PlanHash)
		}
		if s.request != nil {
			return appcluster.UpdateAnswer{Request: s.request}
		}
		op := app.Operation{ID: 8, Cluster: v.ID, Kind: a.Kind, Status: app.OperationRunning, Total: 3, Expected: time.Minute, Requester: "admin", CreatedAt: time.Now()}
		v.Operations = slices.Insert(v.Operations, 0, op)
		v.Status = app.ClusterPending
		go s.tell(func() {
			v.Operations[0].Status, v.Operations[0].Done, v.Status = app.OperationSucceeded, 3, app.ClusterActive
		}, operationEvent(8, app.OperationSucceeded))
		return appcluster.UpdateAnswer{Cluster: v, Operation: 8}
	}))
}

// updatable is a server with an active cluster of two nodes, and a preview of an update.
func updatable(t *testing.T) *fakeServer {
	home(t)
	s := newFakeServer(t)
	v := testCluster("c1", "shop")
	becomeActive(v)
	s.views["c1"] = v
	p := plan.Plan{Kind: app.OperationResize, Steps: []plan.Step{{ID: "n3.create", Node: "n3", Action: app.ActionCreate, Rank: 20 * time.Second},
		{ID: "n1.app.reload", Node: "n1", Service: "app", Action: app.ActionReload, Rank: 2 * time.Second}}}
	s.update = appcluster.UpdatePreview{Kind: app.OperationResize, Plan: p, PlanHash: p.Hash(), Duration: p.Duration(),
		Before: appcluster.Figures{Nodes: 2, CostPerHour: 0.5}, After: appcluster.Figures{Nodes: 3, CostPerHour: 0.75},
		Nodes: []appcluster.UpdatedNode{
			{Name: "n1", Hardware: "small", Image: "plain", Services: []string{"app", "lb"}, Work: map[string]plan.ServiceWork{"app": plan.WorkReload}},
			{Name: "n2", Hardware: "small", Image: "plain", Services: []string{"db"}},
			{Name: "n3", Hardware: "small", Image: "plain", Services: []string{"app"}, Change: plan.NodeNew, Reason: "the cheapest"}},
		Changes: []app.ValueChange{{Path: "config.port", Before: "80", After: "8080"}}, Notes: []string{"app wants two nodes"}}
	return s
}

func TestUpdateShowsFirst(t *testing.T) {
	s := updatable(t)
	got := s.muster("cluster", "resize", "shop", "3", "--preview")
	want := `shop (c1): Grow from 2 to 3 nodes
  n3 is created.
  app is reconfigured and reloaded on n1.

     NODE  HARDWARE  IMAGE  SERVICES      REASON
  ~  n1    small     plain  app (reload)
  +  n3    small     plain  app           the cheapest
  The other node doesn't change.

  Configuration changes:
    config.port
      - 80
      + 8080

  Nodes: 2 → 3
  Cost per hour: 0.50 → 0.75
  2 steps, about 20 s
  - app wants two nodes
`
	wantResult(t, got, cli.ExitDone, want, "")
	if got.out != want {
		t.Errorf("it shows\n%s", got.out)
	}
	wantResult(t, s.muster("cluster", "resize", "shop", "3", "--preview", "--steps"), cli.ExitDone, "app.reload", "")
	if s.wasAsked("POST /clusters/c1/operations") != 2 {
		t.Errorf("it was asked %q", s.asked)
	}
	var p appcluster.UpdatePreview
	if err := json.Unmarshal([]byte(s.muster("cluster", "resize", "shop", "3", "--preview", "--format", "json").out), &p); err != nil || !reflect.DeepEqual(p, s.update) {
		t.Errorf("as JSON it is %+v, %v", p, err)
	}
}

func TestUpdateDoesWhatWasShown(t *testing.T) {
	s := updatable(t)
	wantResult(t, s.muster("cluster", "grow", "shop", "--yes"), cli.ExitDone, "shop (c1): resize accepted: 2 nodes, 3 steps, about 1 min\nFollow the logs:  muster cluster logs c1 -f\n", "")
	got := s.muster("cluster", "grow", "shop", "--yes", "--wait", "--on-failure", "roll_back")
	wantResult(t, got, cli.ExitDone, "Grow from 2 to 3 nodes", "")
	wantResult(t, got, cli.ExitDone, "shop (c1) is active", "")
	wantResult(t, got, cli.ExitDone, "History:", "")
	if last := s.updated[len(s.updated)-1]; last.PlanHash != s.update.PlanHash || last.OnFailure != app.FailureRollBack || last.Size != 3 {
		t.Errorf("it asked for %+v", last)
	}
	var v cluster.JSON
	if out := s.muster("cluster", "grow", "shop", "--yes", "--wait", "--format", "json").out; json.Unmarshal([]byte(out), &v) != nil || v.ID != "c1" || v.Status != app.ClusterActive {
		t.Errorf("as JSON it answers %s", out)
	}
}

func TestEveryUpdateAsksForWhatItSays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "more.yaml")
	if err := os.WriteFile(file, []byte("nginx:\n  port: 8080\n  cache: null\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]appcluster.Update{
		"resize shop 5 --hardware large": {Kind: app.OperationResize, Size: 5, Hardware: "large"},
		"resize shop 1 --node n2":        {Kind: app.OperationResize, Size: 1, Nodes: []string{"n2"}},
		"grow shop 3 --image new":        {Kind: app.OperationResize, Size: 5, Image: "new"},
		"shrink shop --node n2":          {Kind: app.OperationResize, Size: 1, Nodes: []string{"n2"}},
		"shrink shop":                    {Kind: app.OperationResize, Size: 1},
		"add shop lb cache":              {Kind: app.OperationAddServices, Services: []string{"lb", "cache"}},
		"remove shop db":                 {Kind: app.OperationRemoveServices, Services: []string{"db"}},
		"set shop a.b=1 a.c=null d=x=y --no-restart --batch 2": {Kind: app.OperationReconfigure, NoRestart: true, Batch: 2,
			Config: map[string]any{"a": map[string]any{"b": json.Number("1"), "c": nil}, "d": "x=y"}},
		"set shop --config " + file + " nginx.user=www": {Kind: app.OperationReconfigure,
			Config: map[string]any{"nginx": map[string]any{"port": json.Number("8080"), "cache": nil, "user": "www"}}},
		"start shop":                        {Kind: app.OperationStart},
		"stop shop app --node n1 --node n2": {Kind: app.OperationStop, Services: []string{"app"}, Nodes: []string{"n1", "n2"}},
		"restart shop --batch 1":            {Kind: app.OperationRestart, Batch: 1},
		"upgrade shop --batch 2":            {Kind: app.OperationUpgrade, Batch: 2},
		"repair shop":                       {Kind: app.OperationRepair},
		"repair shop n1 n2":                 {Kind: app.OperationRepair, Nodes: []string{"n1", "n2"}},
	} {
		t.Run(command, func(t *testing.T) {
			s := updatable(t)
			got := s.muster(append(append([]string{"cluster"}, strings.Fields(command)...), "--preview")...)
			if got.code != cli.ExitDone || len(s.updated) != 1 {
				t.Fatalf("it ends with %d: %s", got.code, got.errOut)
			}
			if !reflect.DeepEqual(s.updated[0], want) {
				t.Errorf("it asks for\n%#v, not\n%#v", s.updated[0], want)
			}
		})
	}
}

func TestWrongUpdatesAreNotSent(t *testing.T) {
	for command, want := range map[string]string{
		"resize shop 3":                    "--yes is required without a terminal to confirm on",
		"resize shop 3 --yes --preview":    "--yes and --preview can't be combined",
		"resize shop many --yes":           `SIZE must be a number of nodes, not "many"`,
		"resize shop 0 --yes":              `SIZE must be a number of nodes, not "0"`,
		"resize shop --yes":                "SIZE is required",
		"grow --yes":                       "ID|NAME is required",
		"grow shop 1 2 --yes":              `unexpected argument "2"`,
		"shrink shop 2 --yes":              "can't remove 2 nodes: shop has 2 nodes",
		"shrink shop 1 --node n1,n2 --yes": "NODES is 1, but --node names 2 nodes",
		"add shop --yes":                   "SERVICE is required",
		"set shop --yes":                   "PATH=VALUE or --config is required",
		"set shop port --yes":              `"port" isn't PATH=VALUE`,
		"set shop a..b=1 --yes":            `"a..b=1" isn't PATH=VALUE`,
		"set shop =1 --yes":                `"=1" isn't PATH=VALUE`,
		"set shop a=1 a.b=2 --yes":         "a can't have both a value and keys below it",
		"set shop a.b=2 a=1 --yes":         "a can't have both a value and keys below it",
		"set shop --config nowhere --yes":  "--config: open nowhere",
		"restart shop --batch -1 --yes":    "--batch must be at least 1",
		"restart shop --on-failure x -y":   "choose one of roll_back, accept_partial, accept_partial_or_roll_back, leave",
		"upgrade shop now --yes":           `unexpected argument "now"`,
	} {
		t.Run(command, func(t *testing.T) {
			s := updatable(t)
			got := s.muster(append([]string{"cluster"}, strings.Fields(command)...)...)
			wantResult(t, got, cli.ExitUsage, "", want)
			if len(s.updated) > 0 {
				t.Errorf("it was sent: %+v", s.updated)
			}
		})
	}
}

func TestUpdateNothingToDo(t *testing.T) {
	s := updatable(t)
	s.update = appcluster.UpdatePreview{Kind: app.OperationUpgrade, NoChanges: true}
	wantResult(t, s.muster("cluster", "upgrade", "shop", "--yes"), cli.ExitDone, "shop (c1): no changes needed.\n", "")
	if len(s.updated) != 1 {
		t.Errorf("more than a preview was asked for: %+v", s.updated)
	}
}

func TestUpdateWaitsForApproval(t *testing.T) {
	s := updatable(t)
	need := policy.RequiredApproval{Approval: policy.Approval{Count: 1, Role: app.RoleApprover}}
	s.update.Decision = &policy.Decision{Outcome: policy.OutcomeApprove, Needs: []policy.RequiredApproval{need}}
	s.request = &appcluster.Request{ID: 5, Kind: app.OperationResize, Cluster: "c1", Status: appcluster.RequestWaiting, Approvals: []policy.RequiredApproval{need}}
	got := s.muster("cluster", "grow", "shop", "--yes")
	wantResult(t, got, cli.ExitDone, "Requires 1 approval from approvers", "")
	wantResult(t, got, cli.ExitDone, "Request 5 is waiting for 1 approval from approvers.", "")
}

func TestUpdateRefusedByAPolicyOrAnOtherPlan(t *testing.T) {
	s := updatable(t)
	s.refuse["POST /clusters/c1/operations"] = &app.Error{Code: app.EConflict, Reason: "plan_changed", Message: "The plan has changed since you reviewed it.", Hint: "Reload the request."}
	s.status = http.StatusConflict
	wantResult(t, s.muster("cluster", "grow", "shop", "--yes"), cli.ExitFailed, "Grow from 2 to 3 nodes", "muster: The plan has changed since you reviewed it.\n  Reload the request.\n")
	s.refuse["POST /clusters/c1/operations/preview"] = &app.Error{Code: app.ENoLayout, Reason: "no_solution", Message: "3 nodes have no layout."}
	s.status = http.StatusUnprocessableEntity
	wantResult(t, s.muster("cluster", "grow", "shop", "--yes"), cli.ExitNoLayout, "", "muster: 3 nodes have no layout.\n")
}

func TestColoursAreForTerminalsOnly(t *testing.T) {
	if got := (&cli.Context{}).Painter(&strings.Builder{})(cli.ColourComes, "new"); got != "new" {
		t.Errorf("what is piped is %q", got)
	}
}
