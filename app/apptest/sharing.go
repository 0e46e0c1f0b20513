package apptest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/identity"
)

// readers: whatever is shared with whom, a reader finds, lists and counts exactly the clusters that ClusterReader.AccessTo says, with that access.
func (t *storeTest) readers() {
	random := rand.New(rand.NewPCG(55, 1))
	people, groups := []string{"ada", "bob", "cleo", "dan"}, []string{"ops", "data", "who", "ask"}
	for _, name := range people {
		t.must(t.s.CreateUser(t.ctx, app.User{Tenant: tenant, Name: name, Role: app.RoleUser, CreatedAt: t.clock.Now()}))
	}
	boss := app.Actor{Tenant: tenant, User: "boss", Role: app.RoleAdmin}
	for _, name := range groups {
		_, err := t.s.SaveGroup(t.ctx, boss, identity.GroupChange{Name: name}, t.clock.Now())
		t.must(err)
	}
	shares := map[string][]cluster.ClusterShare{}
	var all []app.Cluster
	for i := range 40 {
		n := NewCluster(tenant, fmt.Sprintf("c%d", i), 1, t.clock.Now(), Chain(1))
		n.Cluster.Owner, n.Cluster.Visibility = people[random.IntN(len(people))], app.VisiblePrivate
		if random.IntN(4) == 0 {
			n.Cluster.Visibility = app.VisibleTenant
		}
		if random.IntN(4) == 0 {
			n.Cluster.OwnerGroup = groups[random.IntN(len(groups))]
		}
		_, err := t.s.CreateCluster(t.ctx, n)
		t.must(err)
		var change cluster.SharingChange
		for range random.IntN(3) {
			one := cluster.ClusterShare{Access: cluster.SharedAccess[random.IntN(len(cluster.SharedAccess))], Person: people[random.IntN(len(people))]}
			if random.IntN(2) == 0 {
				one.Person, one.Group = "", groups[random.IntN(len(groups))]
			}
			if !slices.ContainsFunc(change.Add, func(o cluster.ClusterShare) bool { return o.Name() == one.Name() }) {
				change.Add = append(change.Add, one)
			}
		}
		after, err := t.s.ShareCluster(t.ctx, boss, n.Cluster.ID, change, 10, t.clock.Now())
		t.must(err)
		if len(after.Shares) != len(change.Add) {
			t.Fatalf("%+v is shared as %+v", change, after)
		}
		shares[n.Cluster.ID] = after.Shares
		all = append(all, n.Cluster)
	}
	pairs, seen := 0, 0
	for range 100 {
		r := app.ClusterReader{Tenant: tenant, User: people[random.IntN(len(people))], Role: app.RoleUser}
		for _, g := range groups {
			if random.IntN(3) == 0 {
				r.Groups = append(r.Groups, g)
			}
		}
		if random.IntN(3) == 0 {
			r.Clusters = []string{all[random.IntN(len(all))].ID}
		}
		var want []string
		for _, c := range all {
			shared := app.AccessNone
			for _, s := range shares[c.ID] {
				if s.Person == r.User || slices.Contains(r.Groups, s.Group) {
					shared = max(shared, s.Access)
				}
			}
			access := r.AccessTo(c, shared)
			pairs++
			for _, word := range []string{c.ID, c.Name} {
				got, err := t.s.ReadableCluster(t.ctx, r, word)
				switch _, none := t.s.ReadableCluster(t.ctx, r, "none"); {
				case access == app.AccessNone && (app.CodeOf(err) != app.ENotFound || err.Error() != strings.ReplaceAll(none.Error(), "none", word)):
					t.Fatalf("%+v finds %+v: %v", r, c, err)
				case access > app.AccessNone && (err != nil || got.ID != c.ID || got.Access != access):
					t.Fatalf("%+v finds %+v as %+v, %v; want access %s", r, c, got, err, access)
				}
			}
			if access > app.AccessNone {
				seen++
				want = append(want, c.ID+" "+access.String())
			}
		}
		list, err := t.s.Clusters(t.ctx, tenant, app.ClusterFilter{Reader: &r})
		t.must(err)
		var got []string
		for _, c := range slices.Backward(list) {
			got = append(got, c.ID+" "+c.Access.String())
		}
		counts, err := t.s.CountClusters(t.ctx, tenant, app.ClusterFilter{Reader: &r})
		t.must(err)
		if !slices.Equal(got, want) || counts.Live() != len(want) {
			t.Fatalf("%+v lists %v and counts %d, want %v", r, got, counts.Live(), want)
		}
		for _, c := range all {
			if !slices.ContainsFunc(list, func(l app.ClusterSummary) bool { return l.ID == c.ID }) {
				_, err := t.s.Clusters(t.ctx, tenant, app.ClusterFilter{Reader: &r, After: c.ID})
				t.code(err, app.ENotFound)
				break
			}
		}
	}
	t.Logf("%d pairs of readers and clusters, %d of them seen", pairs, seen)
	if _, err := t.s.ReadableCluster(t.ctx, app.ClusterReader{Tenant: "other", User: "ada", SeesAll: true}, all[0].ID); app.CodeOf(err) != app.ENotFound {
		t.Errorf("an admin of another tenant finds it: %v", err)
	}
}

// sharing: shares name who is there, are told, and end with the account or group.
func (t *storeTest) sharing() {
	boss := app.Actor{Tenant: tenant, User: "boss", Role: app.RoleAdmin}
	for _, name := range []string{"ada", "bob"} {
		t.must(t.s.CreateUser(t.ctx, app.User{Tenant: tenant, Name: name, Role: app.RoleUser, CreatedAt: t.clock.Now()}))
	}
	ops := identity.GroupChange{Name: "ops", Members: &[]string{"bob"}}
	_, err := t.s.SaveGroup(t.ctx, boss, ops, t.clock.Now())
	t.must(err)
	// A new tenant's clusters are private, until an admin sets something else.
	makes := func(name string) app.Visibility {
		t.Helper()
		n := NewCluster(tenant, name, 1, t.clock.Now(), Chain(1))
		_, err := t.s.CreateCluster(t.ctx, n)
		t.must(err)
		c, err := t.s.Cluster(t.ctx, tenant, n.Cluster.ID)
		t.must(err)
		return c.Visibility
	}
	if v := makes("web"); v != app.VisiblePrivate {
		t.Errorf("the first cluster is %s", v)
	}
	mark, err := t.s.TenantMark(t.ctx, tenant)
	t.must(err)
	t.must(t.s.SetDefaultVisibility(t.ctx, boss, app.VisibleTenant, t.clock.Now()))
	if v, err := t.s.DefaultVisibility(t.ctx, tenant); v != app.VisibleTenant || err != nil || makes("open") != app.VisibleTenant {
		t.Errorf("the default is %s, %v", v, err)
	}
	if now, err := t.s.TenantMark(t.ctx, tenant); err != nil || now == mark {
		t.Errorf("another default is the same setting: %v", err)
	}

	share := func(c cluster.SharingChange) (cluster.ClusterSharing, error) {
		return t.s.ShareCluster(t.ctx, boss, "web-1", c, 2, t.clock.Now())
	}
	add := func(s ...cluster.ClusterShare) cluster.SharingChange { return cluster.SharingChange{Add: s} }
	_, err = share(add(cluster.ClusterShare{Person: "nemo", Access: app.AccessUser}))
	t.code(err, app.EInvalid)
	_, err = share(add(cluster.ClusterShare{Group: "nemo", Access: app.AccessUser}))
	t.code(err, app.EInvalid)
	toBob, toOps := cluster.ClusterShare{Person: "bob", Access: app.AccessReader}, cluster.ClusterShare{Group: "ops", Access: app.AccessCoOwner}
	after, err := share(add(toBob, toOps))
	if err != nil || !slices.Equal(after.Shares, []cluster.ClusterShare{toBob, toOps}) || after.Visibility != app.VisiblePrivate {
		t.Errorf("shared: %+v, %v", after, err)
	}
	_, err = share(add(cluster.ClusterShare{Person: "ada", Access: app.AccessUser}))
	t.code(err, app.EInvalid) // too many
	toBob.Access = app.AccessUser
	for range 2 { // the second time nothing changes
		after, err = share(cluster.SharingChange{Add: []cluster.ClusterShare{toBob}, Remove: []cluster.ClusterShare{{Group: "ops"}}, Visibility: app.VisibleTenant})
		if err != nil || !slices.Equal(after.Shares, []cluster.ClusterShare{toBob}) || after.Visibility != app.VisibleTenant {
			t.Errorf("changed: %+v, %v", after, err)
		}
	}
	if again, err := t.s.ClusterSharing(t.ctx, tenant, "web-1"); err != nil || fmt.Sprint(again) != fmt.Sprint(after) {
		t.Errorf("read again: %+v, %v", again, err)
	}
	told, err := t.s.NoticesFor(t.ctx, tenant, &app.NoticeReader{User: "bob", Groups: []string{"ops"}}, 0, 10)
	if err != nil || len(told) != 3 || told[0].Title != "boss shared the cluster web with you." || told[2].Title != "boss shared the cluster web with you." && told[1].Title != "boss shared the cluster web with you." {
		t.Errorf("bob was told %+v, %v", told, err)
	}
	deeds, err := t.s.Audit(t.ctx, app.AuditFilter{Tenants: []string{tenant}, Act: "cluster.share", Limit: 10})
	if err != nil || len(deeds) != 2 || deeds[0].Object != "web-1" {
		t.Errorf("the audit tells %+v, %v", deeds, err)
	}
	_, err = t.s.ShareCluster(t.ctx, app.Actor{Tenant: "other", User: "boss"}, "web-1", add(toOps), 2, t.clock.Now())
	t.code(err, app.ENotFound)

	// A group that owns a cluster stays; what was shared with one that is deleted ends.
	_, err = share(add(toOps))
	t.must(err)
	t.must(t.s.TransferCluster(t.ctx, cluster.ClusterTransfer{Tenant: tenant, Cluster: "open-1", From: "ada", To: "ada", Group: "ops", Who: boss, Now: t.clock.Now()}))
	// What the owner is told of its clusters, a group that owns them is told, too; of requests only those are whom they wait for.
	for i, kind := range append(slices.Clone(app.OwnerNoticeKinds), app.NoticeApproval) {
		title := fmt.Sprintf("about %s", kind)
		t.must(t.s.Notify(t.ctx, app.Notice{At: t.clock.Now(), Tenant: tenant, Kind: kind, Cluster: "open-1", Users: []string{"ada"}, Title: title}))
		list, err := t.s.NoticesFor(t.ctx, tenant, &app.NoticeReader{User: "eve", Groups: []string{"ops"}}, 0, 1)
		t.must(err)
		if told := len(list) == 1 && list[0].Title == title; told != (i < len(app.OwnerNoticeKinds)) {
			t.Errorf("of %s the group that owns the cluster is told: %t", kind, told)
		}
	}
	t.code(t.s.DeleteGroup(t.ctx, boss, "ops", t.clock.Now()), app.EConflict)
	t.code(t.s.TransferCluster(t.ctx, cluster.ClusterTransfer{Tenant: tenant, Cluster: "open-1", From: "ada", To: "ada", Group: "nemo", Who: boss, Now: t.clock.Now()}), app.EInvalid)
	t.must(t.s.TransferCluster(t.ctx, cluster.ClusterTransfer{Tenant: tenant, Cluster: "open-1", From: "ada", To: "bob", Who: boss, Now: t.clock.Now()}))
	t.must(t.s.DeleteGroup(t.ctx, boss, "ops", t.clock.Now()))
	t.must(t.s.DeleteUser(t.ctx, boss, "bob", "ada", t.clock.Now()))
	if left, err := t.s.ClusterSharing(t.ctx, tenant, "web-1"); err != nil || len(left.Shares) != 0 {
		t.Errorf("left: %+v, %v", left, err)
	}
}

// deciders: requests and clusters are open for those who decide on them, or are asked about them, and for no one else, such as members of a group whose name is a word in them.
func (t *storeTest) deciders() {
	n := t.waiting(tenant, "web")
	n.Request.Needs[0].BreakGlass, n.Request.Needs[0].EscalateTo = "oncall", "late"
	r := t.keepRequest(n)
	t.ask(1, app.Person{Ask: "ops?", Help: "data", Who: []string{app.PersonOwner, "ops"}})
	for _, c := range []struct {
		role     app.Role
		group    string
		requests bool
		clusters bool
	}{
		{app.RoleUser, "finance", true, false}, {app.RoleViewer, "finance", false, false}, {app.RoleUser, "oncall", true, false}, {app.RoleUser, "late", false, false},
		{app.RoleUser, "money", false, false}, {app.RoleUser, "policy", false, false}, {app.RoleApprover, "", false, false},
		{app.RoleUser, "ops", false, true}, {app.RoleUser, "data", false, false}, {app.RoleUser, "owner", false, false}, {app.RoleUser, "who", false, false}, {app.RoleUser, "", false, false},
	} {
		reader := app.ClusterReader{Tenant: tenant, User: "eve", Role: c.role}
		if c.group != "" {
			reader.Groups = []string{c.group}
		}
		var err error
		reader.Clusters, reader.Requests, err = t.s.OpenFor(t.ctx, reader)
		if err != nil || slices.Contains(reader.Requests, r.ID) != c.requests || slices.Contains(reader.Clusters, "web-1") != c.clusters {
			t.Errorf("%s of %q: %v, %v, %v", c.role, c.group, reader.Clusters, reader.Requests, err)
		}
		_, err = t.s.ReadableRequest(t.ctx, reader, r.ID)
		list, e := t.s.Requests(t.ctx, tenant, app.RequestFilter{Reader: &reader})
		if (err == nil) != c.requests || e != nil || (len(list) == 1) != c.requests {
			t.Errorf("%s of %q reads %v and lists %+v, %v", c.role, c.group, err, list, e)
		}
		_, err = t.s.ReadableCluster(t.ctx, reader, "web-1")
		questions, e := t.s.Questions(t.ctx, tenant, execution.QuestionFilter{Reader: &reader, Limit: 10})
		if (err == nil) != c.clusters || e != nil || (len(questions) == 1) != c.clusters {
			t.Errorf("%s of %q finds the cluster: %v, and %+v, %v", c.role, c.group, err, questions, e)
		}
	}
	// Who asked, and who would own it, see the request whatever they are.
	if _, err := t.s.ReadableRequest(t.ctx, app.ClusterReader{Tenant: tenant, User: "ada", Role: app.RoleViewer}, r.ID); err != nil {
		t.Error(err)
	}
	if _, err := t.s.ReadableRequest(t.ctx, app.ClusterReader{Tenant: "other", User: "ada", SeesAll: true}, r.ID); app.CodeOf(err) != app.ENotFound {
		t.Errorf("another tenant: %v", err)
	}
}
