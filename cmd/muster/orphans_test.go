package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/fleet"
	"muster/cmd/muster/cli"
)

// accountant answers for orphans and receipts, and writes down what it is asked to do.
func accountant(t *testing.T) (url string, asked *[]string) {
	asked = &[]string{}
	now := time.Now()
	c := app.Cluster{ID: "c1", Name: "shop", Owner: "ada", Provider: "fake", Status: app.ClusterDeleted, DeletedAt: now}
	receipt := fleet.NewReceipt(c, []fleet.CloudResource{{Provider: "fake", Kind: fleet.ResourceMachine, ID: "m-1", Node: "n1", Price: 0.5,
		CreatedAt: now.Add(-2 * time.Hour), DeletedAt: now}}, fleet.Proof{At: now, How: "It was asked and listed none."}, now)
	report := fleet.OrphanReport{Mode: fleet.OrphansReport, Cost: 1, Accounts: []app.Account{{Provider: "fake", Machines: 3, Orphans: 2, HeldBack: 1, EndedAt: now.Add(-time.Minute)}},
		Orphans: []fleet.Orphan{
			{ID: "aabb", Provider: "fake", Machine: "m-9", Cluster: "c1", Node: "n2", Kind: fleet.OrphanEnded, State: fleet.OrphanDue, CreatedAt: now.Add(-2 * time.Hour), Cost: 1, DeleteAt: now.Add(4*time.Minute + time.Second)},
			{ID: "ccdd", Provider: "fake", Machine: "m-8", Kind: fleet.OrphanUnknown, State: fleet.OrphanReported, FirstSeen: now.Add(-49 * time.Hour)},
		}}
	mux := http.NewServeMux()
	answer := func(v any) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			var body map[string]string
			_ = json.NewDecoder(r.Body).Decode(&body) // none for GET
			*asked = append(*asked, r.Method+" "+r.URL.Path+" "+body["decision"]+body["mode"])
			_ = json.NewEncoder(w).Encode(v)
		}
	}
	mux.HandleFunc("GET /api/v1/orphans", answer(report))
	mux.HandleFunc("POST /api/v1/orphans/{id}", answer(report.Orphans[0]))
	mux.HandleFunc("PUT /api/v1/orphans-mode", answer(map[string]string{"mode": "off"}))
	mux.HandleFunc("GET /api/v1/clusters/c1", answer(cluster.View{Cluster: c}))
	mux.HandleFunc("GET /api/v1/clusters/c1/receipt", answer(receipt))
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL, asked
}

func runAlone(t *testing.T, args ...string) result {
	t.Helper()
	var out, errOut bytes.Buffer
	c := &cli.Context{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errOut}
	code := execute(t.Context(), c, args)
	return result{code, out.String(), errOut.String()}
}

func TestOrphans(t *testing.T) {
	home(t)
	url, asked := accountant(t)
	at := []string{"--server", url, "--token", "x"}
	run := func(args ...string) result { return runAlone(t, append(args, at...)...) }
	got := run("orphans")
	wantResult(t, got, cli.ExitDone, "aabb  fake      m-9      c1       n2    ended", "")
	for _, want := range []string{"deleted in 4 min", ">2 d 1 h", "reported", "Automatic cleanup: report", "fake: 3 machines, 2 orphans, checked 1 min ago; 1 more are due"} {
		wantResult(t, got, cli.ExitDone, want, "")
	}
	wantResult(t, run("orphans", "--format", "json"), cli.ExitDone, `"id":"aabb"`, "")
	wantResult(t, run("orphans", "--delete", "aabb"), cli.ExitUsage, "", "--yes")
	wantResult(t, run("orphans", "--delete", "aabb", "--keep", "ccdd", "--yes"), cli.ExitUsage, "", "can't be combined")
	wantResult(t, run("orphans", "--delete", "aabb", "--yes"), cli.ExitDone, "Machine m-9 of fake will be deleted within seconds", "")
	wantResult(t, run("orphans", "--keep", "ccdd"), cli.ExitDone, "is kept", "")
	wantResult(t, run("orphans", "--mode", "off"), cli.ExitDone, "aabb", "")
	all := strings.Join(*asked, "\n")
	for _, want := range []string{"POST /api/v1/orphans/aabb delete", "POST /api/v1/orphans/ccdd keep", "PUT /api/v1/orphans-mode off"} {
		if !strings.Contains(all, want) {
			t.Errorf("the server was not asked %q, but:\n%s", want, all)
		}
	}
	if n := strings.Count(all, "POST"); n != 2 {
		t.Errorf("%d decisions, want 2:\n%s", n, all)
	}
}

func TestReceipt(t *testing.T) {
	home(t)
	url, _ := accountant(t)
	got := runAlone(t, "cluster", "receipt", "c1", "--server", url, "--token", "x")
	for _, want := range []string{"shop (c1) of ada at fake is deleted", "n1    machine  m-1", "2 h     0.50  1.00", "1 resource, 2 h in total, cost 1.00, 0 left", "Proven ", "listed none"} {
		wantResult(t, got, cli.ExitDone, want, "")
	}
}

// A receipt waits for its proof until the timeout, is printed either way, and its exit code says whether there is a proof.
func TestReceiptsWaitForTheirProof(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 14, 0, 0, 0, time.UTC)
	down := fleet.Proof{How: "Account eu cannot be listed from here: no route to host.", CheckedAt: at}
	proven := fleet.Proof{At: at.Add(fleet.ProofGap), How: "None listed."}
	const last = "Last checked 2026-01-02 14:00:00 UTC"
	for name, tt := range map[string]struct {
		deleted   time.Time
		proofs    []fleet.Proof
		flags     []string
		code      int
		out, errs string
		asked     int // 0: as often as it takes
	}{
		"not deleted":        {time.Time{}, []fleet.Proof{{}}, nil, cli.ExitDone, "0 left\n", "", 1},
		"proven already":     {at, []fleet.Proof{proven}, nil, cli.ExitDone, "0 left\nProven 2026-01-02 14:00:30 UTC: None listed.\n", "", 1},
		"proven at last":     {at, []fleet.Proof{{}, {}, down, down, proven}, nil, cli.ExitDone, "0 left\nProven", "Proof pending: provider eu will be checked", 5},
		"proven, no limit":   {at, []fleet.Proof{{}, down, proven}, []string{"--timeout", "0"}, cli.ExitDone, "0 left\nProven", last, 3},
		"the cloud is down":  {at, []fleet.Proof{down}, []string{"--timeout", "100ms"}, cli.ExitFailed, "0 left\nProof pending: Account eu cannot be listed", "that nothing of shop is left", 0},
		"not waited for":     {at, []fleet.Proof{down}, []string{"--wait=false"}, cli.ExitDone, "0 left\nProof pending: Account eu cannot be listed from here: no route to host. " + last, "", 1},
		"as JSON, unproven":  {at, []fleet.Proof{down}, []string{"--timeout", "100ms", "--format", "json"}, cli.ExitFailed, `"proof":{"state":"failed"`, last, 0},
		"as JSON, not asked": {at, []fleet.Proof{{}}, []string{"--wait=false", "--format", "json"}, cli.ExitDone, `"proof":{"state":"pending","next_check_at":"2026-01-02T14:00:30Z"}`, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFakeServer(t)
			s.views["c1"] = testCluster("c1", "shop")
			s.views["c1"].Provider, s.views["c1"].DeletedAt, s.proofs = "eu", tt.deleted, tt.proofs
			got := s.musterWith(&cli.Context{RetryTime: hangs, NoPause: true}, append([]string{"cluster", "receipt", "c1"}, tt.flags...)...)
			wantResult(t, got, tt.code, tt.out, tt.errs)
			if n := s.wasAsked("GET /clusters/c1/receipt"); tt.asked > 0 && n != tt.asked || n == 0 {
				t.Errorf("the server was asked for the receipt %d times, want %d", n, tt.asked)
			}
			if tt.errs == "" && got.errOut != "" {
				t.Errorf("it says %s", got.errOut)
			}
		})
	}
}

// An account that the server can't list isn't reported as one without orphans.
func TestOrphansOfAnAccountThatCannotBeListed(t *testing.T) {
	home(t)
	report := fleet.OrphanReport{Mode: fleet.OrphansDelete, Unlisted: 1, Orphans: []fleet.Orphan{}, Accounts: []app.Account{
		{Provider: "eu", Error: "cannot be listed from here: no route to host", EndedAt: time.Now().Add(-3 * time.Minute)}, {Provider: "us", Machines: 4, EndedAt: time.Now()}}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(report)
	}))
	defer server.Close()
	got := runAlone(t, "orphans", "--server", server.URL, "--token", "x")
	for _, want := range []string{"No orphaned machines found, but 1 account couldn't be listed.", "\neu: cannot be listed from here: no route to host; tried 3 min ago\n", "us: 4 machines, 0 orphans"} {
		wantResult(t, got, cli.ExitDone, want, "")
	}
}
