package main

import (
	"bytes"
	"context"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/chat"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/health"
	"muster/app/layout"
	"muster/bot"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/server"
)

func troubled() cluster.View {
	since := time.Now().Add(-2*time.Hour - time.Minute)
	return cluster.View{
		Cluster: app.Cluster{ID: "c1", Name: "shop", Owner: "ada", Template: "web", Provider: "cloud", Size: 2, Status: app.ClusterFailed, Message: "n2.web.start failed: no route to host", CostPerHour: 1},
		Nodes: []app.Node{{Name: "n1", Hostname: "c1-n1", Hardware: "small", Image: "linux", Services: []string{"web"}, Status: app.NodeReady},
			{Name: "n2", Hostname: "c1-n2", Hardware: "small", Image: "linux", Services: []string{"web"}, Status: app.NodeReady, LostAt: since}},
		Operations: []app.Operation{{ID: 2, Kind: app.OperationReconfigure, Status: app.OperationFailed, Total: 6, Done: 4, CreatedAt: since, StartedAt: since, EndedAt: since}},
		Problem: &cluster.Problem{Text: "Reconfiguration failed after 4 of 6 steps. The machine of n2 is gone.", Since: since, Operation: 2, Lost: []string{"n2"}, CostPerHour: 0.5,
			Failures: []cluster.FailedStep{{Step: "n2.web.start", Node: "n2", Error: "no route to host"}},
			Options: []cluster.RecoveryOption{{Kind: cluster.RecoveryRepair, Title: "Repair cluster", Text: "Replaces n2 and finishes reconfiguration.", Command: "muster cluster repair shop"},
				{Kind: cluster.RecoveryDelete, Title: "Delete cluster", Text: "Deletes all machines and the data on them.", Command: "muster cluster delete shop"}}},
	}
}

// TestClusterShow: of a cluster that has failed it's said once what is wrong, since when, what it costs meanwhile, and what can be done.
func TestClusterShow(t *testing.T) {
	home(t)
	s := newFakeServer(t)
	v := troubled()
	s.views["c1"] = &v
	got := s.muster("cluster", "show", "shop")
	wantResult(t, got, cli.ExitDone, `shop (c1) is failed: Reconfiguration failed after 4 of 6 steps. The machine of n2 is gone.
web · 2 nodes · cloud · owned by ada · 1.00/h · lease never expires
  n2.web.start: no route to host
Stopped 2 h ago; its machines cost 0.50/h in the meantime.

What you can do:
  muster cluster repair shop  Replaces n2 and finishes reconfiguration.
  muster cluster delete shop  Deletes all machines and the data on them.
`, "")
	for i := range v.Nodes {
		v.Nodes[i].Addresses = map[string]string{app.AddressAccess: "203.0.113." + strconv.Itoa(i+1)}
	}
	if got := s.muster("cluster", "show", "shop").out; !strings.Contains(got, "@203.0.113.1") || strings.Contains(got, "@203.0.113.2") {
		t.Errorf("ssh lines of n1 alone are wanted, since n2 is lost:\n%s", got)
	}
}

// TestClusterHealthCheck: with --check what is printed is what the check has found, not what was known before.
func TestClusterHealthCheck(t *testing.T) {
	home(t)
	s := newFakeServer(t)
	v := troubled()
	s.views["c1"] = &v
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	before := health.ClusterHealth{State: health.Unknown, Unknown: 2, CheckedAt: at, Nodes: []health.NodeHealth{}}
	s.health = []health.ClusterHealth{before, before, {State: health.Healthy, Healthy: 2, CheckedAt: at.Add(time.Minute), Nodes: []health.NodeHealth{}}}
	wantResult(t, s.muster("cluster", "health", "shop", "--check"), cli.ExitDone,
		"shop is healthy. 2 healthy, 0 unhealthy, 0 unreachable, 0 unknown; checked 2026-03-01 12:01:00 UTC.\n", "")
	if s.wasAsked("POST /clusters/c1/health/check") != 1 || s.wasAsked("GET /clusters/c1/health") != 3 {
		t.Errorf("the server was asked %q", s.asked)
	}
	s.refuse["POST /clusters/c1/health/check"], s.status = &app.Error{Code: app.EConflict, Message: "Health isn't checked while the cluster is asleep."}, 409
	if got := s.muster("cluster", "health", "shop", "--check"); got.code == cli.ExitDone || !strings.Contains(got.errOut, "asleep") {
		t.Errorf("a refused check ends with %+v", got)
	}
}

// TestAFailureIsReportedOnce: three nodes fail for one long reason, and no answer repeats it. Here nothing is logged: a log says what each step
// said, as often as it did, since there the lines around it matter.
func TestAFailureIsReportedOnce(t *testing.T) {
	home(t)
	const password = "correct-horse-battery"
	s := crowdedServer(t, "", func(c *server.Config) { c.Password = password })
	site := httptest.NewServer(s.HTTP.Handler)
	defer site.Close()
	ctx := t.Context()
	token, err := s.Services.Identity.Tokens.LocalToken(ctx, "test")
	if err != nil {
		t.Fatal(err)
	}
	admin := app.Actor{Tenant: here, User: "admin", Role: app.RoleAdmin}
	made, err := s.Services.Cluster.Creates.CreateCluster(ctx, admin, cluster.CreateRequest{Name: "broken", Request: layout.Request{Template: "web", Size: 3}})
	if err != nil {
		t.Fatal(err)
	}
	const mark = "E: Unable to locate package libfrobnicate"
	long := "Installing the packages failed: " + strings.Repeat("the mirror has no such file, and neither do the others; ", 4) + mark
	w := app.WorkerID{Name: "w", Tenant: here}
	// fail ends all that can be begun with the failure, to be tried again where that is asked.
	fail := func(r app.Retry) {
		t.Helper()
		for {
			steps, err := s.Services.Execution.Coordinator.Claim(ctx, w, 10)
			if err != nil {
				t.Fatal(err)
			}
			if len(steps) == 0 {
				return
			}
			for _, as := range steps {
				if done, err := s.Services.Execution.Coordinator.Report(ctx, w, []execution.Report{{Fence: as.Fence, Action: as.Action, Err: app.Errorf(app.EScript, "%s", long), Retry: r}}); err != nil || done[0].Err != nil {
					t.Fatal(done, err)
				}
			}
		}
	}
	t.Setenv("MUSTER_SERVER", site.URL)
	t.Setenv("MUSTER_TOKEN", token)
	cli := func(args ...string) string {
		t.Helper()
		var out bytes.Buffer
		c := &cli.Context{RetryTime: hangs, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out}
		within, cancel := context.WithTimeout(ctx, hangs)
		defer cancel()
		execute(within, c, args)
		return out.String()
	}
	jar, _ := cookiejar.New(nil)
	browser := &http.Client{Jar: jar}
	in, err := browser.PostForm(site.URL+"/signin", url.Values{"user": {"admin"}, "password": {password}})
	if err != nil {
		t.Fatal(err)
	}
	_ = in.Body.Close()
	page := func(path string) string {
		t.Helper()
		resp, err := browser.Get(site.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(path, resp.Status, err)
		}
		return html.UnescapeString(string(b))
	}
	once := func(what, text string) {
		t.Helper()
		if n := strings.Count(text, mark); n != 1 {
			t.Errorf("%s tells the failure %d times:\n%s", what, n, text)
		}
	}
	fail(app.Retry{Again: true, After: time.Hour})
	once("why, of what is tried again", cli("cluster", "why", "broken"))
	once("the page of what waits", page("/clusters/"+made.ID+"/waiting"))
	if _, err := s.Store.SweepSteps(ctx, time.Now().Add(2*time.Hour)); err != nil { // they are due
		t.Fatal(err)
	}
	fail(app.Retry{})
	if v, err := s.Services.Cluster.Views.Cluster(ctx, admin, made.ID); err != nil || v.Status != app.ClusterFailed {
		t.Fatal(v.Status, err)
	}
	once("cluster show", cli("cluster", "show", "broken"))
	once("waiting for it", cli("wait", "broken"))
	once("the cluster's page", page("/clusters/"+made.ID))
	once("the operation's page", page("/clusters/"+made.ID+"/operations/"+strconv.FormatInt(made.Operations[0].ID, 10)))
	once("the list of clusters", page("/clusters"))
	c := chat.Card{Tenant: here, Cluster: made.ID, Operation: made.Operations[0].ID}
	progress, err := s.Services.Chat.Cards.ChatProgress(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	card := bot.NewCard(progress, "https://muster.example/", time.Now())
	once("the card in Slack", strings.Join(card.Lines, "\n"))
}
