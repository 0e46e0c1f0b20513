package webhook

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/template"
	"muster/app/webhook"
)

func newsOf(nodes int) *template.OperationNews {
	n := &template.OperationNews{At: time.Unix(1700000000, 0).UTC(), Hook: "cmdb", When: template.HookBefore, NodeCount: nodes,
		Operation: app.Operation{ID: 7, Tenant: "t", Cluster: "web-1", Kind: app.OperationCreate, Status: app.OperationWaiting},
		Cluster: app.Cluster{ID: "web-1", Tenant: "t", Name: "web", Owner: "ada", Template: "site", Provider: "cloud", Services: []string{"nginx"},
			CreatedAt: time.Unix(1700000000, 0).UTC()}}
	for i := range nodes {
		n.Nodes = append(n.Nodes, app.Node{Cluster: "web-1", Name: app.NodeName(i + 1), Hostname: fmt.Sprintf("web-1-n%d.internal", i+1), Hardware: "small",
			Image: "debian", SSHUser: "root", Services: []string{"nginx"}, Addresses: map[string]string{"access_v4": "10.0.0.1"}})
	}
	return n
}

// keys lists the names in an object, with those below it.
func keys(v any) []string {
	var all []string
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			all = append(all, k)
			for _, below := range keys(v[k]) {
				all = append(all, k+"."+below)
			}
		}
	case []any:
		if len(v) > 0 {
			all = keys(v[0])
		}
	}
	return all
}

// TestCooprPayload: cluster, job and nodes with the names that Coopr's data had, and nothing secret in them.
func TestCooprPayload(t *testing.T) {
	b, err := body(webhook.DueDelivery{Format: webhook.HookCoopr, News: newsOf(2)}, portalAt(""))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(`cluster cluster.account cluster.account.tenantId cluster.account.userId cluster.clusterTemplate cluster.clusterTemplate.name
		cluster.config cluster.createTime cluster.description cluster.expireTime cluster.id cluster.latestJobId cluster.name cluster.nodes
		cluster.provider cluster.provider.name cluster.services cluster.status
		job job.clusterAction job.clusterId job.currentStageNumber job.jobId job.jobStatus job.stagedTasks job.taskStatus
		nodes nodes.actions nodes.clusterId nodes.id nodes.properties nodes.properties.hardwaretype nodes.properties.hostname
		nodes.properties.imagetype nodes.properties.ipaddresses nodes.properties.ipaddresses.access_v4 nodes.properties.nodenum
		nodes.properties.services nodes.properties.sshuser nodes.provisionerResults nodes.services nodes.services.name`)
	if names := keys(got); !reflect.DeepEqual(names, want) {
		t.Errorf("the names are\n%s\nwant\n%s", names, want)
	}
	cluster, job, node := got["cluster"].(map[string]any), got["job"].(map[string]any), got["nodes"].([]any)[1].(map[string]any)
	for what, pair := range map[string][2]any{
		"status": {cluster["status"], "PENDING"}, "action": {job["clusterAction"], "CLUSTER_CREATE"}, "job": {job["jobStatus"], "NOT_SUBMITTED"},
		"time": {cluster["createTime"], 1700000000000.0}, "never": {cluster["expireTime"], 0.0}, "latest": {cluster["latestJobId"], job["jobId"]},
		"account": {cluster["account"].(map[string]any)["userId"], "ada"}, "nodes": {fmt.Sprint(cluster["nodes"]), "[web-1-n1 web-1-n2]"},
		"number": {node["properties"].(map[string]any)["nodenum"], 1001.0}, "job id": {job["jobId"], "web-1-007"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is %v, want %v", what, pair[0], pair[1])
		}
	}
	for _, c := range []struct {
		when          template.HookPhase
		kind          app.OperationKind
		cluster       app.ClusterStatus
		job, is, acts string
	}{
		{template.HookAfter, app.OperationDelete, app.ClusterDeleted, "COMPLETE", "TERMINATED", "CLUSTER_DELETE"},
		{template.HookAfter, app.OperationReconfigure, app.ClusterActive, "COMPLETE", "ACTIVE", "CLUSTER_CONFIGURE"},
		{template.HookFailure, app.OperationCreate, app.ClusterFailed, "FAILED", "INCOMPLETE", "CLUSTER_CREATE"},
		{template.HookFailure, app.OperationRestart, app.ClusterFailed, "FAILED", "INCONSISTENT", "RESTART_SERVICES"},
		{template.HookFailure, app.OperationResize, app.ClusterFailed, "FAILED", "INCONSISTENT", "RESIZE"},
	} {
		n := newsOf(1)
		n.When, n.Operation.Kind, n.Cluster.Status = c.when, c.kind, c.cluster
		if got := cooprBody(*n); got.Job.Status != c.job || got.Cluster.Status != c.is || got.Job.Action != c.acts {
			t.Errorf("%s %s: job %s, cluster %s, action %s", c.when, c.kind, got.Job.Status, got.Cluster.Status, got.Job.Action)
		}
	}
}

// TestNewsSize: a cluster with more than there is room for is notified of with fewer nodes.
func TestNewsSize(t *testing.T) {
	n := newsOf(200)
	for i := range n.Nodes {
		n.Nodes[i].Services = strings.Fields(strings.Repeat("a-service-with-a-long-name ", 200))
	}
	for _, f := range []webhook.Format{webhook.HookMuster, webhook.HookCoopr} {
		b, err := body(webhook.DueDelivery{Format: f, News: n}, portalAt("https://muster.test/"))
		if err != nil || len(b) > webhook.MaxHookBody || len(b) < webhook.MaxHookBody/4 {
			t.Errorf("%s: %d bytes, %v", f, len(b), err)
		}
	}
	b, err := body(webhook.DueDelivery{Format: webhook.HookMuster, News: newsOf(1)}, portalAt("https://muster.test/"))
	if err != nil || !strings.Contains(string(b), `"type":"operation.before"`) || !strings.Contains(string(b), `"url":"https://muster.test/clusters/web-1"`) ||
		!strings.Contains(string(b), `"nodes_total":1`) {
		t.Errorf("%s %v", b, err)
	}
}

func TestVetoResponses(t *testing.T) {
	for _, c := range []struct {
		status     int
		text, want string
	}{
		{403, `{"reason": "the rack is full."}`, "the rack is full"},
		{409, "two\nlines", "two lines"},
		{422, "", "it responded 422 Unprocessable Entity"},
		{400, `{"error":"bad","reason":"worse"}`, "worse"},
		{200, "fine", ""}, {404, "no such page", ""}, {401, "who are you?", ""}, {410, "gone", ""}, {429, "later", ""}, {500, "oops", ""}, {302, "", ""}, {0, "", ""},
	} {
		if got := veto(answer{Status: c.status, Text: c.text}); got != c.want {
			t.Errorf("%d %q is %q, want %q", c.status, c.text, got, c.want)
		}
	}
}

// TestHookBeforeAnOperation: it waits while the one that is asked cannot answer, and what is said then is done.
func TestHookBeforeAnOperation(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(n int, w http.ResponseWriter)
		want   app.OperationStatus
		says   string
	}{
		{"continue", func(int, http.ResponseWriter) {}, app.OperationRunning, ""},
		{"no", func(_ int, w http.ResponseWriter) {
			http.Error(w, `{"reason":"not on a Friday"}`, http.StatusForbidden)
		}, app.OperationCancelled, "not on a Friday"},
		{"not yet, then continue", func(n int, w http.ResponseWriter) {
			if n == 1 {
				http.Error(w, "thinking", http.StatusServiceUnavailable)
			}
		}, app.OperationRunning, ""},
		{"never", func(_ int, w http.ResponseWriter) { http.Error(w, "thinking", http.StatusServiceUnavailable) }, app.OperationCancelled, "didn't respond in time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t)
			asked := 0
			r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ got) { asked++; c.answer(asked, w) })
			d.hook("cmdb", r.srv.URL, func(h *webhook.EndpointChange) { h.When = template.HookBefore })
			n := apptest.NewCluster("t", "web", 1, d.clock.Now(), apptest.Chain(1))
			op, err := d.s.CreateCluster(d.Context(), n)
			d.must(err)
			if op.Status != app.OperationWaiting {
				t.Fatalf("creation is %s", op.Status)
			}
			d.run(d.s, hangs)
			for end := time.Now().Add(hangs); ; {
				ops, err := d.s.Operations(d.Context(), "t", "web-1")
				d.must(err)
				if ops[0].Status != app.OperationWaiting {
					if ops[0].Status != c.want || !strings.Contains(ops[0].Message, c.says) {
						t.Errorf("creation is %s: %s", ops[0].Status, ops[0].Message)
					}
					return
				}
				if time.Now().After(end) {
					t.Fatalf("creation still waits: %s", ops[0].Message)
				}
				if last := d.until("cmdb", func(webhook.Delivery) bool { return true }); last.Attempts > 0 && last.NextAt.After(d.clock.Now()) {
					d.wait(last.NextAt.Sub(d.clock.Now()))
				}
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
}
