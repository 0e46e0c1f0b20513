package cluster_test

import (
	"context"
	"encoding/json"
	"testing"

	"muster/app"
	"muster/app/apptest"
	"muster/app/apptest/harness"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/identity"
	"muster/app/sharing"
)

// Access to a cluster allows the use cases that require that access or less. A cluster without access is not found, not even by name.
func TestAccessToClusters(t *testing.T) {
	b := harness.New(t)
	ctx := t.Context()
	for _, name := range []string{"reader", "user", "coowner"} {
		if err := b.Store.CreateUser(ctx, identity.User{Tenant: app.DefaultTenant, Name: name, Role: app.RoleUser, CreatedAt: b.Clock.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Services.Identity.Groups.SaveGroup(ctx, b.Actor("boss", app.RoleAdmin), identity.GroupChange{Name: "ops"}); err != nil {
		t.Fatal(err)
	}
	ada := b.Actor("ada", app.RoleUser)
	n := apptest.NewCluster(app.DefaultTenant, "web", 1, b.Clock.Now(), apptest.Chain(1))
	n.Cluster.OwnerGroup = "data"
	n.Nodes[0].Node.Status = app.NodeReady
	if _, err := b.Store.CreateCluster(ctx, n); err != nil {
		t.Fatal(err)
	}
	_, err := b.Services.Cluster.Sharing.ShareCluster(ctx, ada, "web",
		sharing.SharingChange{Add: []sharing.Share{{Person: "reader", Access: app.AccessReader}, {Person: "user", Access: app.AccessUser},
			{Person: "coowner", Access: app.AccessCoOwner}, {Group: "ops", Access: app.AccessUser}}})
	if err != nil {
		t.Fatal(err)
	}
	member := func(group string, role app.Role) app.Actor {
		a := b.Actor("eve", role)
		a.Groups = []string{group}
		return a
	}
	acts := []struct {
		takes app.Access
		do    func(ctx context.Context, who app.Actor) error
	}{
		{app.AccessReader, func(ctx context.Context, who app.Actor) error {
			_, err := b.Services.Cluster.Views.Cluster(ctx, who, "web")
			return err
		}},
		{app.AccessReader, func(ctx context.Context, who app.Actor) error {
			_, err := b.Services.Cluster.Activity.Logs(ctx, who, "web-1", cluster.LogFilter{})
			return err
		}},
		{app.AccessReader, func(ctx context.Context, who app.Actor) error {
			_, err := b.Services.Execution.ManualSteps.ManualSteps(ctx, who, execution.ManualStepQuery{Cluster: "web"})
			return err
		}},
		{app.AccessUser, func(ctx context.Context, who app.Actor) error {
			_, err := b.Services.Cluster.Specs.ClusterConfig(ctx, who, "web")
			return err
		}},
		{app.AccessUser, func(ctx context.Context, who app.Actor) error {
			_, err := b.Services.Cluster.Specs.ExportCluster(ctx, who, "web")
			return err
		}},
		{app.AccessCoOwner, func(ctx context.Context, who app.Actor) error {
			_, err := b.Services.Cluster.Sharing.ClusterSharing(ctx, who, "web")
			return err
		}},
		{app.AccessCoOwner, func(ctx context.Context, who app.Actor) error {
			_, _, err := b.Services.SSHAccess.ClusterKey(ctx, who, "web")
			return err
		}},
	}
	decisions := 0
	for name, c := range map[string]struct {
		who  app.Actor
		has  app.Access
		all  bool
		word string
	}{
		"the owner":                 {ada, app.AccessOwner, false, "owner"},
		"a member of its group":     {member("data", app.RoleUser), app.AccessOwner, false, "owner"},
		"a co-owner":                {b.Actor("coowner", app.RoleUser), app.AccessCoOwner, false, "co-owner"},
		"a user":                    {b.Actor("user", app.RoleUser), app.AccessUser, false, "user"},
		"a robot as user":           {b.Actor("user", app.RoleRobot), app.AccessUser, false, "user"},
		"a member of a group":       {member("ops", app.RoleUser), app.AccessUser, false, "user"},
		"a reader":                  {b.Actor("reader", app.RoleUser), app.AccessReader, false, "reader"},
		"a reader who approves":     {b.Actor("reader", app.RoleApprover), app.AccessReader, false, "reader"},
		"a stranger":                {b.Actor("eve", app.RoleUser), app.AccessNone, false, ""},
		"a stranger who approves":   {b.Actor("eve", app.RoleApprover), app.AccessNone, false, ""},
		"a viewer":                  {b.Actor("eve", app.RoleViewer), app.AccessNone, false, ""},
		"a member of another group": {member("dat", app.RoleUser), app.AccessNone, false, ""},
		"an admin":                  {b.Actor("eve", app.RoleAdmin), app.AccessNone, true, ""},
	} {
		for i, act := range acts {
			decisions++
			switch code := app.CodeOf(act.do(ctx, c.who)); {
			case c.all || c.has >= act.takes:
				if code != "" {
					t.Errorf("%s does act %d: %s", name, i, code)
				}
			case c.has == app.AccessNone && code != app.ENotFound && !(c.who.Role == app.RoleViewer && act.takes == app.AccessCoOwner):
				t.Errorf("%s does act %d: %s, want not found", name, i, code)
			case c.has > app.AccessNone && code != app.EForbidden && !(c.who.Role == app.RoleApprover && act.takes == app.AccessUser):
				t.Errorf("%s does act %d: %s, want forbidden", name, i, code)
			}
		}
		v, err := b.Services.Cluster.Views.Cluster(ctx, c.who, "web")
		if err == nil && v.Access.String() != c.word {
			t.Errorf("%s sees access %q", name, v.Access)
		}
	}
	t.Logf("%d decisions", decisions)

	// The answer to the transfer shows the cluster; after that, the former owner can't see it.
	if v, err := b.Services.Ownership.TransferCluster(ctx, ada, "web", "user"); err != nil || v.Owner != "user" || v.OwnerGroup != "" ||
		v.Access != app.AccessNone {
		t.Errorf("given away: %+v, %v", v.Cluster, err)
	}
	if _, err := b.Services.Cluster.Views.Cluster(ctx, ada, "web"); app.CodeOf(err) != app.ENotFound {
		t.Errorf("afterwards: %v", err)
	}
	if v, err := b.Services.Ownership.TransferCluster(ctx, b.Actor("user", app.RoleUser), "web", "group:ops"); err != nil || v.Owner != "user" ||
		v.OwnerGroup != "ops" {
		t.Errorf("given to a group: %+v, %v", v.Cluster, err)
	}
	if v, err := b.Services.Cluster.Views.Cluster(ctx, member("ops", app.RoleUser), "web"); err != nil || v.Access != app.AccessOwner {
		t.Errorf("a member has access %q, %v", v.Access, err)
	}
	for _, to := range []string{"group:", "group:nemo"} {
		if _, err := b.Services.Ownership.TransferCluster(ctx, b.Actor("user", app.RoleUser), "web", to); app.CodeOf(err) != app.EInvalid {
			t.Errorf("given to %s: %v", to, err)
		}
	}
}

func TestInvalidSharesAreRefused(t *testing.T) {
	b := harness.New(t)
	if _, err := b.Store.CreateCluster(t.Context(), apptest.NewCluster(app.DefaultTenant, "web", 1, b.Clock.Now(), apptest.Chain(1))); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change sharing.SharingChange
		field  string
	}{
		"no user":     {sharing.SharingChange{Add: []sharing.Share{{Access: app.AccessUser}}}, "add[0]"},
		"both":        {sharing.SharingChange{Add: []sharing.Share{{Person: "bob", Group: "ops", Access: app.AccessUser}}}, "add[0]"},
		"no access":   {sharing.SharingChange{Add: []sharing.Share{{Person: "bob"}}}, "add[0].access"},
		"ownership":   {sharing.SharingChange{Add: []sharing.Share{{Person: "bob", Access: app.AccessOwner}}}, "add[0].access"},
		"the owner":   {sharing.SharingChange{Add: []sharing.Share{{Person: "ada", Access: app.AccessReader}}}, "add[0]"},
		"a stranger":  {sharing.SharingChange{Add: []sharing.Share{{Person: "nemo", Access: app.AccessReader}}}, "add[0]"},
		"everyone":    {sharing.SharingChange{Visibility: "world"}, "visibility"},
		"remove none": {sharing.SharingChange{Remove: []sharing.Share{{}}}, "remove[0]"},
	} {
		_, err := b.Services.Cluster.Sharing.ShareCluster(t.Context(), b.Actor("ada", app.RoleUser), "web", c.change)
		if e := app.AsError(err); err == nil || e.Code != app.EInvalid || e.Field != c.field {
			t.Errorf("%s: %v", name, err)
		}
	}
	var one sharing.Share
	if err := json.Unmarshal([]byte(`{"person":"bob","access":"lord"}`), &one); err == nil {
		t.Error("an access that does not exist is read")
	}
	for _, r := range []cluster.CreateRequest{{Group: "ops"}, {Visibility: "world"}} {
		if _, err := b.Services.Cluster.Creates.Ask(t.Context(), b.Actor("ada", app.RoleUser), r); app.CodeOf(err) != app.EInvalid {
			t.Errorf("asked for with %+v: %v", r, err)
		}
	}
}

// What was answered once is answered again only to those who may still see it.
func TestRepeatedAnswersRespectVisibility(t *testing.T) {
	b := harness.New(t)
	ctx := t.Context()
	n := apptest.NewCluster(app.DefaultTenant, "web", 1, b.Clock.Now(), apptest.Chain(1))
	if _, err := b.Store.CreateCluster(ctx, n); err != nil {
		t.Fatal(err)
	}
	share := func(c sharing.SharingChange) {
		t.Helper()
		if _, err := b.Services.Cluster.Sharing.ShareCluster(ctx, b.Actor("ada", app.RoleUser), "web", c); err != nil {
			t.Fatal(err)
		}
	}
	bob := sharing.Share{Person: "bob", Access: app.AccessCoOwner}
	share(sharing.SharingChange{Add: []sharing.Share{bob}})
	who, took := b.Actor("bob", app.RoleUser).Noting()
	if _, err := b.Services.Ownership.RenameCluster(ctx, who, "web", "site"); err != nil {
		t.Fatal(err)
	}
	kept := app.KeptAnswer{Status: 200, Required: took.List()}
	for _, c := range []struct {
		change sharing.SharingChange
		want   app.Code
	}{
		{sharing.SharingChange{}, ""},
		{sharing.SharingChange{Add: []sharing.Share{{Person: "bob", Access: app.AccessReader}}}, app.EForbidden},
		{sharing.SharingChange{Remove: []sharing.Share{{Person: "bob"}}}, app.ENotFound},
	} {
		if _, err := b.Services.Cluster.Sharing.ShareCluster(ctx, b.Actor("ada", app.RoleUser), "site", c.change); err != nil {
			t.Fatal(err)
		}
		if err := b.Services.Repeats.MayRepeat(ctx, b.Actor("bob", app.RoleUser), kept); app.CodeOf(err) != c.want {
			t.Errorf("after %+v: %v, want %q", c.change, err, c.want)
		}
	}
}
