package cluster

import (
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
)

func TestSentence(t *testing.T) {
	now := time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)
	op := func(k app.OperationKind, s app.OperationStatus) []app.Operation {
		return []app.Operation{{Kind: k, Status: s, Done: 14, Total: 42, StartedAt: now.Add(-time.Minute), Expected: 3 * time.Minute}}
	}
	for _, c := range []struct {
		name string
		view cluster.View
		want string
	}{
		{"creating", cluster.View{Cluster: app.Cluster{Status: app.ClusterPending}, Operations: op(app.OperationCreate, app.OperationRunning)},
			"Creating: 14 of 42 steps done, about 2 min left."},
		{"waiting", cluster.View{Cluster: app.Cluster{Status: app.ClusterPending}, Operations: op(app.OperationDelete, app.OperationWaiting)},
			"Waiting for the previous operation to finish."},
		{"stopping", cluster.View{Cluster: app.Cluster{Status: app.ClusterPending}, Operations: op(app.OperationCreate, app.OperationCancelling)},
			"Cancelling. No new steps start, and running steps are asked to stop."},
		{"active", cluster.View{Cluster: app.Cluster{Status: app.ClusterActive, ExpiresAt: now.Add(21 * time.Hour)}},
			"Running as requested. The lease expires in 21 h."},
		{"failed", cluster.View{Cluster: app.Cluster{Status: app.ClusterFailed}, Operations: op(app.OperationCreate, app.OperationFailed)},
			"Creation failed after 14 of 42 steps."},
		{"a failed delete", cluster.View{Cluster: app.Cluster{Status: app.ClusterFailed}, Operations: op(app.OperationDelete, app.OperationFailed)},
			"Deletion failed after 14 of 42 steps."},
		{"cancelled", cluster.View{Cluster: app.Cluster{Status: app.ClusterFailed}, Operations: op(app.OperationCreate, app.OperationCancelled)},
			"Creation was cancelled after 14 of 42 steps."},
		{"paused", cluster.View{Cluster: app.Cluster{Status: app.ClusterPending}, Operations: op(app.OperationCreate, app.OperationPaused)},
			"Paused after 14 of 42 steps."},
		{"rolling back", cluster.View{Cluster: app.Cluster{Status: app.ClusterPending}, Operations: op(app.OperationRollBack, app.OperationRunning)},
			"Rolling back: 14 of 42 steps done, about 2 min left."},
		{"about to be rolled back", cluster.View{Cluster: app.Cluster{Status: app.ClusterFailed},
			Operations: []app.Operation{{Kind: app.OperationCreate, Status: app.OperationFailed, OnFailure: app.FailureRollBack, Done: 3, Total: 9}}},
			"Creation stopped after 3 of 9 steps and will be rolled back."},
		{"rolled back", cluster.View{Cluster: app.Cluster{Status: app.ClusterDeleted, DeletedAt: now.Add(-3 * time.Hour)},
			Operations: op(app.OperationRollBack, app.OperationSucceeded)}, "Rolled back: all machines were deleted 3 h ago."},
		{"deleted", cluster.View{Cluster: app.Cluster{Status: app.ClusterDeleted, DeletedAt: now.Add(-3 * time.Hour)}},
			"Deleted: all machines were deleted 3 h ago."},
	} {
		t.Run(c.name, func(t *testing.T) {
			show := Show{Now: now, View: c.view, Steps: []app.Step{{State: app.StepWaiting, Rank: 2 * time.Minute}}}
			if got := show.Sentence(); got != c.want {
				t.Errorf("it says %q, not %q", got, c.want)
			}
		})
	}
}

// Who may use a cluster, which is someone else's, may cancel commands of their own there.
func TestWhoMayCancelACommand(t *testing.T) {
	for _, k := range []struct {
		name   string
		op     app.Operation
		access app.Access
		want   bool
	}{
		{"their own command", app.Operation{Kind: app.OperationRun, Requester: "uma"}, app.AccessUser, true},
		{"another's command", app.Operation{Kind: app.OperationRun, Requester: "ada"}, app.AccessUser, false},
		{"another operation", app.Operation{Kind: app.OperationRestart, Requester: "uma"}, app.AccessUser, false},
		{"their own command, where they only look on now", app.Operation{Kind: app.OperationRun, Requester: "uma"}, app.AccessReader, false},
		{"a co-owner, another's command", app.Operation{Kind: app.OperationRun, Requester: "ada"}, app.AccessCoOwner, true},
	} {
		k.op.Status, k.op.StartedAt = app.OperationRunning, time.Unix(1, 0)
		c := Show{Actor: app.Actor{Tenant: "t", User: "uma", Role: app.RoleUser},
			View: cluster.View{Cluster: app.Cluster{ID: "shop-1", Tenant: "t", Owner: "ada", Access: k.access},
				Operations: []app.Operation{k.op}}}
		if got := c.Can(app.ActCancel); got != k.want {
			t.Errorf("%s: may be cancelled: %v", k.name, got)
		}
		if c.Can(app.ActPause) != (k.access == app.AccessCoOwner) {
			t.Errorf("%s: pausing is for owners", k.name)
		}
	}
}

func TestSSH(t *testing.T) {
	c := Show{View: cluster.View{Cluster: app.Cluster{ID: "x1"}}}
	for _, k := range []struct {
		node app.Node
		want string
	}{
		{app.Node{}, ""},
		{app.Node{Addresses: map[string]string{app.AddressAccess: "10.1.0.4"}}, "ssh -i muster-x1.pem root@10.1.0.4"},
		{app.Node{Addresses: map[string]string{app.AddressBind: "10.1.0.4"}, SSHUser: "debian", SSHPort: 2222}, "ssh -i muster-x1.pem -p 2222 debian@10.1.0.4"},
		{app.Node{Addresses: map[string]string{app.AddressAccess: "10.1.0.4"}, Status: app.NodeDeleted}, ""},
	} {
		if got := c.SSH(k.node); got != k.want {
			t.Errorf("the line is %q, not %q", got, k.want)
		}
	}
}

func TestLinksThatBrowsersMayFollow(t *testing.T) {
	c := Show{View: cluster.View{Links: []app.Link{
		{Label: "good", URL: "http://10.0.0.1:8080/ui/"}, {Label: "script", URL: "javascript:alert(1)"}, {Label: "half", URL: "http://"}, {Label: "local", URL: "/clusters"},
	}}}
	got := c.links()
	if len(got) != 1 || got[0].Label != "good" {
		t.Errorf("the links are %v", got)
	}
	if h := linkHost(got[0].URL); h != "10.0.0.1:8080/ui" {
		t.Errorf("its host is shown as %q", h)
	}
}
