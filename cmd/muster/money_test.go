package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	applease "muster/app/lease"
	"muster/app/policy"
	"muster/app/template"
	appusage "muster/app/usage"
	"muster/cmd/muster/cli"
)

// treasurer answers for quotas, leases and usage, and writes down what it is asked.
func treasurer(t *testing.T) (at []string, asked *[]string) {
	asked = &[]string{}
	now := time.Now()
	mux := http.NewServeMux()
	answer := func(v any) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			*asked = append(*asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
			if v == nil {
				w.WriteHeader(http.StatusNoContent)
				return
			}
			_ = json.NewEncoder(w).Encode(v)
		}
	}
	q := policy.QuotaUse{Quota: policy.Quota{Scope: policy.QuotaGroup, Name: "data", Limits: policy.Limits{}.With(policy.MeasureNodes, 20).With(policy.MeasurePerMonth, 99.5), Currency: "EUR"},
		Used: policy.Amounts{Nodes: 25, PerMonth: 12}}
	lease := applease.Outlook{Cluster: "c1", Name: "shop", Until: now.Add(2*time.Hour + time.Second), Offer: template.LeaseOffer{By: time.Hour, Latest: now.Add(3 * time.Hour)},
		Warnings:  []applease.Warned{{Before: time.Hour, At: now.Add(time.Hour + time.Second)}},
		Obstacles: []applease.Obstacle{{Text: "No provisioner can take this.", Stop: true}}}
	usage := appusage.Usage{From: now.Add(-time.Hour), To: now, By: appusage.ByUser, Lines: []appusage.Line{{Start: now, Key: "=ada", Sum: appusage.Sum{NodeHours: 2.5, Cost: 1.25}}},
		Total: appusage.Sum{NodeHours: 2.5, Cost: 1.25, Unpriced: 1}}
	mux.HandleFunc("GET /api/v1/quotas", answer(map[string]any{"quotas": []policy.QuotaUse{q}}))
	mux.HandleFunc("PUT /api/v1/quotas", answer(q))
	mux.HandleFunc("DELETE /api/v1/quotas", answer(nil))
	mux.HandleFunc("GET /api/v1/quotas/remaining", answer(policy.QuotaLeft{Lines: []policy.QuotaLine{{Measure: policy.MeasurePerHour, Scope: policy.QuotaEachUser, Name: "ada", Currency: "USD", Limit: 3, Used: 1, Remaining: 2}}}))
	mux.HandleFunc("GET /api/v1/clusters/{id}", answer(cluster.View{Cluster: app.Cluster{ID: "c1", Name: "shop"}}))
	mux.HandleFunc("GET /api/v1/clusters/{id}/lease", answer(lease))
	mux.HandleFunc("POST /api/v1/clusters/{id}/lease", answer(lease))
	mux.HandleFunc("GET /api/v1/usage", answer(usage))
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return []string{"--server", s.URL, "--token", "x"}, asked
}

func TestQuotasLeasesAndUsage(t *testing.T) {
	home(t)
	at, asked := treasurer(t)
	run := func(args ...string) result { return runAlone(t, append(args, at...)...) }
	wantResult(t, run("quota", "list"), cli.ExitDone, "group/data         -  25 of 20      -       -  €12.00 of €99.50", "")
	wantResult(t, run("quota", "set", "group/data", "--nodes", "20"), cli.ExitDone, "Already over quota: 25 of 20 nodes.", "")
	wantResult(t, run("quota", "set", "group/data"), cli.ExitUsage, "", "at least one limit is required")
	wantResult(t, run("quota", "set", "data", "--nodes", "3"), cli.ExitUsage, "", "each-user, group/NAME")
	wantResult(t, run("quota", "delete", "each-user"), cli.ExitDone, "Deleted the quota of each-user.", "")
	wantResult(t, run("quota", "remaining"), cli.ExitDone, "per hour  each-user (ada)  $3.00  $1.00  $2.00", "")
	wantResult(t, run("cluster", "lease", "shop"), cli.ExitDone, "The lease of shop expires in 2 h", "")
	wantResult(t, run("cluster", "lease", "shop"), cli.ExitDone, "BLOCKS EXPIRY: No provisioner can take this.", "")
	wantResult(t, run("cluster", "extend", "shop", "--by", "1d12h", "--reason", "the fair"), cli.ExitDone, "You can extend it until", "")
	wantResult(t, run("cluster", "extend", "shop", "--until", "2031-01-02 18:00"), cli.ExitDone, "shop", "")
	wantResult(t, run("cluster", "extend", "shop", "--forever"), cli.ExitDone, "shop", "")
	wantResult(t, run("cluster", "extend", "shop"), cli.ExitUsage, "", "one of --by, --until and --forever")
	wantResult(t, run("cluster", "extend", "shop", "--by", "1h", "--forever"), cli.ExitUsage, "", "one of --by")
	wantResult(t, run("cluster", "extend", "shop", "--by", "long"), cli.ExitUsage, "", "Invalid duration \"long\".")
	wantResult(t, run("usage", "--by", "user", "--step", "day", "--from", "2030-01-01"), cli.ExitDone, "2.50", "")
	wantResult(t, run("usage"), cli.ExitDone, "The price of 1.00 node hours is unknown", "")
	wantResult(t, run("usage", "--csv"), cli.ExitDone, "'=ada,2.500000", "")
	all := strings.Join(*asked, "\n")
	for _, want := range []string{`PUT /api/v1/quotas {"limits":{"nodes":20},"name":"data","scope":"group"}`, "DELETE /api/v1/quotas?scope=each_user",
		`POST /api/v1/clusters/c1/lease {"by":129600000000000,"reason":"the fair"}`, `POST /api/v1/clusters/c1/lease {"until":"2031-01-02T18:00:00Z"}`,
		`POST /api/v1/clusters/c1/lease {"forever":true}`, "GET /api/v1/usage?by=user&from=2030-01-01&step=day"} {
		if !strings.Contains(all, want) {
			t.Errorf("the server was not asked %q, but:\n%s", want, all)
		}
	}
}
