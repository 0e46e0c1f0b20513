package portal

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/health"
	appoperation "muster/app/operation"
	"muster/app/template"
	"muster/portal/site"
)

// watching is a Muster with health checks. n2 of each cluster is unhealthy.
type watching struct {
	site.Clusters
	useHealth
	fake    *fake
	unknown string // why health is unknown; "": it is known
	status  app.ClusterStatus
	checked []string // clusters for which a check was asked
}

func (f *watching) unhealthy() health.ClusterHealth {
	h := health.ClusterHealth{Repair: template.RepairAuto, CheckedAt: f.fake.now().Add(-time.Minute), Note: "Operation 7 repairs n2.",
		Nodes: []health.NodeHealth{{Node: "n2", State: health.Unhealthy, Since: f.fake.now().Add(-time.Hour), Reasons: []string{"web: GET :80/<up>: 503"}}}}
	h.Sum(2, true)
	if f.unknown != "" {
		h.Nodes, h.Note = []health.NodeHealth{}, f.unknown
		h.Sum(2, false)
	}
	return h
}

func (f *watching) Cluster(ctx context.Context, a app.Actor, id string) (cluster.View, error) {
	v, err := f.fake.Cluster(ctx, a, id)
	if err == nil {
		h := f.unhealthy()
		v.Health = &h
		v.Status = cmp.Or(f.status, v.Status)
		for i := range v.Nodes {
			v.Nodes[i].Status = app.NodeReady
		}
	}
	return v, err
}

func (f *watching) Health(ctx context.Context, a app.Actor, id string) (health.ClusterHealth, error) {
	_, err := f.Cluster(ctx, a, id)
	return f.unhealthy(), err
}

func (f *watching) CheckHealth(ctx context.Context, a app.Actor, id string) (health.ClusterHealth, error) {
	f.checked = append(f.checked, id)
	return f.Health(ctx, a, id)
}

func (f *watching) ClusterFacts(context.Context, app.Actor, string) ([]execution.NodeFact, error) {
	return []execution.NodeFact{}, nil
}

func (f *watching) Drift(ctx context.Context, a app.Actor, id string) (appoperation.Drift, error) {
	v, err := f.Cluster(ctx, a, id)
	return appoperation.Drift{Cluster: v.ID, At: f.fake.now(), Notes: []string{"Not all could be compared."}, Items: []appoperation.DriftItem{
		{From: appoperation.DriftCatalog, Text: "services.web.start has changed in the catalog.", Fix: &cluster.Update{Kind: app.OperationUpgrade}},
		{From: appoperation.DriftHealth, Node: "n2", Text: "n2 is unhealthy.", Fix: &cluster.Update{Kind: app.OperationRepair, Nodes: []string{"n2"}}},
		{From: appoperation.DriftNode, Node: "n1", Text: "n1: time: 3 s off.", Hint: "Start a time service."},
	}}, err
}

func TestHealthPage(t *testing.T) {
	s := visit(t, func(c *Config) { c.UseCases = useCases(fakeOf(c), &watching{fake: fakeOf(c), Clusters: fakeOf(c)}) })
	s.signIn("ada")
	id := s.cluster(ada, "lake", "hadoop", 2)
	a := s.get("/clusters/" + id)
	a.reads(http.StatusOK, "Unhealthy: n2 is unhealthy: web: GET :80/<up>: 503. Checked 1 min ago.", "Health")
	if strings.Count(a.body, `href="/clusters/`+id+`/health"`) != 2 || strings.Count(a.body, `<small class="health"`) != 1 {
		t.Error("the cluster's page does not lead to its health, or does not mark the one node that is unhealthy")
	}
	s.get("/clusters/"+id+"/health").reads(http.StatusOK, "Health of lake unhealthy", "Operation 7 repairs n2.", "Nodes 1 healthy, 1 unhealthy", "Last checked 1 min ago", "Repair automatic",
		"n2 unhealthy 1 h ago web: GET :80/<up>: 503", "catalog services.web.start has changed in the catalog.", "health n2 is unhealthy.", "node n1: time: 3 s off. Start a time service.",
		"Not all could be compared.")
	s.get("/clusters/nothing/health").reads(http.StatusNotFound)
	api := func(path string) seen {
		return s.do(s.request(http.MethodGet, "/api/v1/clusters/"+id+path, "", "Authorization", "Bearer token-of-ada"))
	}
	for path, want := range map[string]string{"/health": `"state":"unhealthy"`, "/drift": `"fix":{"kind":"repair","nodes":["n2"]}`} {
		if a := api(path); a.status != http.StatusOK || !strings.Contains(a.body, want) {
			t.Errorf("%s: %d %s, want %s", path, a.status, a.body, want)
		}
	}
}

// Unknown health says why in the overview, with a button to check now; where no check can start there is none.
func TestCheckHealthNow(t *testing.T) {
	var f *watching
	s := visit(t, func(c *Config) {
		f = &watching{fake: fakeOf(c), Clusters: fakeOf(c), unknown: "Last health check 11 min ago; expected every 1 min."}
		c.UseCases = useCases(f.fake, f)
	})
	s.signIn("ada")
	id := s.cluster(ada, "lake", "hadoop", 2)
	path := "/clusters/" + id + "/health/check"
	button := `action="` + path + `"`
	f.status = app.ClusterActive
	a := s.get("/clusters/" + id)
	a.reads(http.StatusOK, "Unknown: Last health check 11 min ago; expected every 1 min.", "Check health")
	if !strings.Contains(s.get("/clusters/"+id+"/health").body, button) {
		t.Error("the page about health has no button to check now")
	}
	if a := s.post(path, nil); a.status != http.StatusSeeOther || len(f.checked) != 1 || f.checked[0] != id {
		t.Errorf("checked %v, answer %d", f.checked, a.status)
	}
	s.get("/clusters/"+id+"/health?started").reads(http.StatusOK, "Health check started.")
	f.status = app.ClusterAsleep
	if strings.Contains(s.get("/clusters/"+id).body, button) || strings.Contains(s.get("/clusters/"+id+"/health").body, button) {
		t.Error("a cluster that is asleep has a button to check now")
	}
}
