package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/template"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/cluster"
)

// home isolates the client from the user's home and settings.
func home(t *testing.T) string {
	dir := t.TempDir()
	t.Setenv("MUSTER_HOME", dir)
	t.Setenv("MUSTER_DATA", filepath.Join(dir, "data"))
	for _, name := range []string{"MUSTER_URL", "MUSTER_TOKEN", "MUSTER_CATALOG"} {
		t.Setenv(name, "")
	}
	return dir
}

// goesWell is the story of a create in which all goes well.
func (s *fakeServer) goesWell(appcluster.CreateRequest) {
	s.tell(nil, operationEvent(7, app.OperationRunning), stepEvent("n1.create", app.StepRunning, 0), stepEvent("n2.create", app.StepRunning, 0))
	s.tell(nil, stepEvent("n1.create", app.StepSucceeded, 1), stepEvent("n1.confirm", app.StepRunning, 1), stepEvent("n2.create", app.StepSucceeded, 2))
	s.tell(nil, operationEvent(3, app.OperationFailed), stepEvent("n1.confirm", app.StepSucceeded, 3))
	s.tell(func() { becomeActive(s.views["c1"]) }, stepEvent("n2.confirm", app.StepSucceeded, 4), operationEvent(7, app.OperationSucceeded))
}

// wantResult checks the exit code and what was said.
func wantResult(t *testing.T, got result, code int, inOut, inErr string) {
	t.Helper()
	if got.code != code || !strings.Contains(got.out, inOut) || !strings.Contains(got.errOut, inErr) {
		t.Fatalf("exit %d, want %d; want %q in stdout:\n%s\nand %q in stderr:\n%s", got.code, code, inOut, got.out, inErr, got.errOut)
	}
}

func TestCreateWaitPrintsSSHCommands(t *testing.T) {
	dir := home(t)
	s := newFakeServer(t)
	s.create = s.goesWell
	got := s.muster("cluster", "create", "shop", "--template", "web", "--size", "2", "--services", "app,db", "--hardware", "small",
		"--lease", "8h", "--config", `{"port": 12345678901234567890}`, "--wait")
	wantResult(t, got, cli.ExitDone, "", "")

	key, known := filepath.Join(dir, "keys", "c1.pem"), filepath.Join(dir, "keys", "c1.known_hosts")
	want := []string{
		`\[0/4 0:00\] n1.create running`,
		`\[0/4 0:00\] n2.create running`,
		`\[1/4 0:00\] n1.create succeeded`,
		`\[1/4 0:00\] n1.confirm running`,
		`\[2/4 0:00\] n2.create succeeded`,
		`\[3/4 0:00\] n1.confirm succeeded`,
		`\[4/4 0:00\] n2.confirm succeeded`,
		`shop \(c1\) is active`,
		`web · 2 nodes · fake · owned by admin · 0.50/h · lease never expires`,
		`n1 .*ssh -i ` + key + ` -o UserKnownHostsFile=` + known + ` root@127.0.0.2`,
		`n2 .*ssh -i ` + key + ` -o UserKnownHostsFile=` + known + ` -p 2222 root@127.0.0.3`,
		`Shop: http://127.0.0.2:8080/`,
	}
	if ok, _ := regexp.MatchString("(?s)"+strings.Join(want, ".*"), got.out); !ok {
		t.Errorf("stdout:\n%s", got.out)
	}
	if strings.Contains(got.out, "\r") || strings.Contains(got.out, "\x1b") {
		t.Errorf("a pipe gets plain lines, not %q", got.out)
	}
	info, err := os.Stat(key)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key file: %v, %v", info, err)
	}
	hosts, _ := os.ReadFile(known)
	if string(hosts) != "shop-1.local,127.0.0.2 ssh-ed25519 HOSTKEY1\nshop-2.local,[127.0.0.3]:2222 ssh-ed25519 HOSTKEY2\n" {
		t.Errorf("known hosts:\n%s", hosts)
	}

	r := s.created[0]
	if r.Name != "shop" || r.Template != "web" || r.Size != 2 || strings.Join(r.Services, " ") != "app db" || r.Hardware != "small" || *r.Lease != 8*time.Hour {
		t.Errorf("the server was asked for %+v", r)
	}
}

func TestCreateWaitJSONIsOneDocument(t *testing.T) {
	home(t)
	s := newFakeServer(t)
	s.create = s.goesWell
	got := s.muster("cluster", "create", "shop", "-t", "web", "-n", "2", "--wait", "--format", "json")
	wantResult(t, got, cli.ExitDone, "", "n1.create succeeded")
	var v struct {
		Status string
		Nodes  []struct{ Name string }
		SSH    map[string]string
	}
	if err := json.Unmarshal([]byte(got.out), &v); err != nil {
		t.Fatalf("%v in %s", err, got.out)
	}
	if v.Status != "active" || len(v.Nodes) != 2 || !strings.HasSuffix(v.SSH["n2"], "-p 2222 root@127.0.0.3") {
		t.Errorf("%+v", v)
	}
}

func TestCreateWaitSurvivesARestartOfTheServer(t *testing.T) {
	home(t)
	s := newFakeServer(t)
	s.create = func(appcluster.CreateRequest) {
		s.tell(nil, stepEvent("n1.create", app.StepRunning, 0))
		for s.wasAsked("GET /clusters/c1/events?after=3") == 0 { // it has seen the first event
			time.Sleep(time.Millisecond)
		}
		s.stop()
		time.Sleep(250 * time.Millisecond)
		s.restart()
		s.goesWell(appcluster.CreateRequest{})
	}
	got := s.muster("cluster", "create", "shop", "-t", "web", "-n", "2", "--wait")
	wantResult(t, got, cli.ExitDone, "the server at "+s.url()+" doesn't respond: ", "")
	wantResult(t, got, cli.ExitDone, "; retrying for up to 5 min\n", "")
	wantResult(t, got, cli.ExitDone, "the server is back", "")
	wantResult(t, got, cli.ExitDone, "shop (c1) is active", "")
	if n := strings.Count(got.out, "n1.create succeeded"); n != 1 {
		t.Errorf("the end of n1.create was shown %d times", n)
	}
}

func TestCreateWaitGivesUpOnAServerThatIsGone(t *testing.T) {
	home(t)
	s := newFakeServer(t)
	s.create = func(appcluster.CreateRequest) { s.stop() }
	got := s.musterWith(&cli.Context{RetryTime: 200 * time.Millisecond}, "cluster", "create", "shop", "-t", "web", "-n", "2", "--wait")
	wantResult(t, got, cli.ExitFailed, "", "doesn't respond")
}

func TestCreateWaitReportsAFailure(t *testing.T) {
	home(t)
	s := newFakeServer(t)
	s.steps = []app.Step{
		{ID: "n1.create", State: app.StepSucceeded, Attempt: 1},
		{ID: "n1.app.install", State: app.StepFailed, Attempt: 3, Error: "exit code 100"},
	}
	s.create = func(appcluster.CreateRequest) {
		s.tell(func() {
			v := s.views["c1"]
			v.Status, v.Operations[0].Status, v.Operations[0].Message = app.ClusterFailed, app.OperationFailed, "1 of 4 steps has failed"
			v.Operations[0].StartedAt = v.Operations[0].CreatedAt.Add(time.Second)
			v.Problem = appcluster.TroubleOf(*v, appcluster.Definition{}, appcluster.Unfinished{})
		}, stepEvent("n1.app.install", app.StepFailed, 1), operationEvent(7, app.OperationFailed))
	}
	got := s.muster("cluster", "create", "shop", "-t", "web", "-n", "2", "--wait")
	wantResult(t, got, cli.ExitFailed, "n1.app.install failed", "shop: creation has failed\n")
	for _, want := range []string{"n1.app.install failed after 3 attempts: exit code 100", "muster cluster logs c1 --step n1.app.install",
		"muster cluster resume shop", "muster cluster delete shop"} {
		wantResult(t, got, cli.ExitFailed, "", want)
	}
	got = s.muster("cluster", "create", "shop", "-t", "web", "-n", "2", "--wait", "--format", "json")
	wantResult(t, got, cli.ExitFailed, `"status":"failed"`, "has failed")
}

func TestCreateWaitEndsAtItsTimeout(t *testing.T) {
	home(t)
	s := newFakeServer(t)
	got := s.muster("cluster", "create", "shop", "-t", "web", "-n", "2", "--wait", "--timeout", "100ms")
	wantResult(t, got, cli.ExitFailed, "", "isn't finished after")
	wantResult(t, got, cli.ExitFailed, "", "muster cluster show shop")
}

func TestCreateWithoutWait(t *testing.T) {
	home(t)
	s := newFakeServer(t)
	got := s.muster("cluster", "create", "-t", "web", "-n", "2", "--lease", "forever", "--prefer", "spread")
	wantResult(t, got, cli.ExitDone, "web-1 (c1): creation accepted: 2 nodes, 4 steps, about 4 s", "")
	if r := s.created[0]; r.Name != "" || r.Lease == nil || *r.Lease != 0 || r.Prefer != template.PreferSpread {
		t.Errorf("requested %+v; the server sets the name, and a lease of 0 never expires", r)
	}
}

func TestRefusals(t *testing.T) {
	home(t)
	s := newFakeServer(t)
	for _, tt := range []struct {
		name   string
		status int
		err    app.Error
		code   int
		kind   string
	}{
		{"no layout", 422, app.Error{Code: app.ENoLayout, Reason: "no_solution", Message: "No layout.", Hint: "Ask for more."}, cli.ExitNoLayout, "no_solution"},
		{"an unknown template", 404, app.Error{Code: app.ENotFound, Reason: "missing_template", Message: "No such template."}, cli.ExitNoLayout, "missing_template"},
		{"a name that will not do", 422, app.Error{Code: app.EInvalid, Message: "Names are short.", Field: "name"}, cli.ExitUsage, "invalid"},
		{"a bug", 500, app.Error{Code: app.EInternal, Message: "internal error"}, cli.ExitFailed, "internal"},
		{"a full cloud", 503, app.Error{Code: app.ECapacity, Message: "No room."}, cli.ExitFailed, "capacity"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s.status, s.refuse["POST /clusters"] = tt.status, &tt.err
			got := s.muster("cluster", "create", "shop", "-t", "web", "-n", "2", "--format", "json")
			wantResult(t, got, tt.code, fmt.Sprintf(`{"error":{"kind":%q,"message":%q`, tt.kind, tt.err.Message), "muster: "+tt.err.Message)
			wantResult(t, got, tt.code, "", tt.err.Hint)
		})
	}
}

func TestDelete(t *testing.T) {
	dir := home(t)
	s := newFakeServer(t)
	s.views["c1"] = testCluster("c1", "shop")
	becomeActive(s.views["c1"])
	s.remove = func(id string) {
		e := operationEvent(9, app.OperationSucceeded)
		s.tell(func() {
			v := s.views[id]
			v.Status, v.Operations[0].Status, v.DeletedAt = app.ClusterDeleted, app.OperationSucceeded, time.Date(2026, 1, 2, 14, 0, 0, 0, time.UTC)
		}, e)
	}
	checked := time.Date(2026, 1, 2, 14, 0, 1, 0, time.UTC)
	s.proofs = []fleet.Proof{{}, {How: "Account eu cannot be listed.", CheckedAt: checked}, {At: checked.Add(fleet.ProofGap), How: "None listed."}}
	wantResult(t, s.muster("cluster", "show", "shop"), cli.ExitDone, "root@127.0.0.2", "")
	wantResult(t, s.muster("cluster", "delete", "shop"), cli.ExitUsage, "", "--yes")
	if s.wasAsked("DELETE") != 0 {
		t.Fatal("deleted without a yes")
	}
	got := s.muster("cluster", "delete", "shop", "--yes", "--wait")
	wantResult(t, got, cli.ExitDone, "shop (c1) is deleted: all machines are deleted", "")
	wantResult(t, got, cli.ExitDone, "\n2 resources, 3 h in total, cost 1.50, 0 left\nProven 2026-01-02 14:00:31 UTC: None listed.\n", "Proof pending: Account eu cannot be listed. Last checked")
	if left, _ := filepath.Glob(filepath.Join(dir, "keys", "*")); len(left) > 0 {
		t.Errorf("keys of a cluster that is gone: %v", left)
	}
	wantResult(t, s.muster("cluster", "delete", "shop", "--yes"), cli.ExitFailed, "", `cluster "shop" doesn't exist`)
	wantResult(t, s.muster("cluster", "show", "shop"), cli.ExitDone, "is deleted", "")
	wantResult(t, s.muster("cluster", "list"), cli.ExitDone, "No clusters", "")
	wantResult(t, s.muster("cluster", "list", "--all"), cli.ExitDone, "deleted", "")
}

func TestDeleteAsksAPerson(t *testing.T) {
	for answer, want := range map[string]bool{"y\n": true, "YES\n": true, "\n": false, "no\n": false, "": false, "yesterday\n": false} {
		var said strings.Builder
		c := &cli.Context{Stdin: strings.NewReader(answer), Stderr: &said}
		if err := cluster.ConfirmDelete(t.Context(), c, *testCluster("c1", "shop")); (err == nil) != want {
			t.Errorf("%q: %v", answer, err)
		}
		if !strings.Contains(said.String(), "shop (c1, 2 nodes of admin)? [y/N]") {
			t.Errorf("asked %q", said.String())
		}
	}
}

func TestNamesThatAreNotUnique(t *testing.T) {
	home(t)
	s := newFakeServer(t)
	s.views["a"], s.views["b"] = testCluster("a", "shop"), testCluster("b", "shop")
	wantResult(t, s.muster("cluster", "show", "shop"), cli.ExitFailed, "", "Use an id: a (admin, pending), b (admin, pending)")
	wantResult(t, s.muster("cluster", "show", "b"), cli.ExitDone, "shop (b) is pending: creation running, 0 of 4 steps done", "")
	wantResult(t, s.muster("cluster", "show", "no/such?one"), cli.ExitFailed, "", `cluster "no/such?one" doesn't exist`)
}

func TestResume(t *testing.T) {
	home(t)
	s := newFakeServer(t)
	s.views["c1"] = testCluster("c1", "shop")
	s.tell(nil, stepEvent("n1.create", app.StepFailed, 0), operationEvent(7, app.OperationFailed))
	s.resume = func() { s.goesWell(appcluster.CreateRequest{}) }
	got := s.muster("cluster", "resume", "shop", "--wait")
	wantResult(t, got, cli.ExitDone, "shop (c1) is active", "")
	if strings.Contains(got.out, "failed") {
		t.Errorf("earlier events are shown again:\n%s", got.out)
	}
}

func TestKeyIsPrivate(t *testing.T) {
	home(t)
	s := newFakeServer(t)
	s.views["c1"] = testCluster("c1", "shop")
	becomeActive(s.views["c1"])
	s.status, s.refuse["GET /clusters/c1/key"] = http.StatusForbidden, &app.Error{Code: app.EForbidden, Message: "Not yours."}
	wantResult(t, s.muster("cluster", "show", "shop"), cli.ExitDone, "Only the cluster's owner and admins can get its SSH key.", "")
}

func TestLogs(t *testing.T) {
	home(t)
	s := newFakeServer(t)
	s.views["c1"] = testCluster("c1", "shop")
	for i := range 2500 {
		node := app.NodeName(1 + i%2)
		s.logs = append(s.logs, app.LogLine{Seq: int64(i + 1), Operation: 7, Step: node + ".app.install", Node: node, Stream: family.StreamOut, Text: fmt.Sprintf("line <%d>", i)})
	}
	got := s.muster("cluster", "logs", "shop")
	wantResult(t, got, cli.ExitDone, "n2.app.install | line <2499>", "")
	if n := strings.Count(got.out, "\n"); n != 2500 {
		t.Errorf("%d lines", n)
	}
	got = s.muster("cluster", "logs", "shop", "--tail", "2", "--node", "n1", "--format", "json")
	wantResult(t, got, cli.ExitDone, `"text":"line <2498>"`, "")
	if n := strings.Count(got.out, "\n"); n != 2 {
		t.Errorf("%d lines", n)
	}
	go func() {
		for s.wasAsked("GET /clusters/c1/logs") < 8 { // both commands above, and the first looks of this one
			time.Sleep(time.Millisecond)
		}
		s.tell(func() {
			s.logs = append(s.logs, app.LogLine{Seq: 9000, Step: "n1.app.start", Node: "n1", Text: "the end"})
			becomeActive(s.views["c1"])
		})
	}()
	got = s.muster("cluster", "logs", "shop", "-f", "--tail", "1")
	wantResult(t, got, cli.ExitDone, "line <2499>", "")
	if lines := strings.Split(strings.TrimSpace(got.out), "\n"); len(lines) != 2 || !strings.HasSuffix(lines[1], "n1.app.start | the end") {
		t.Errorf("followed:\n%s", got.out)
	}
}
