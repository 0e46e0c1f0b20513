package cluster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/identity"
	"muster/app/ownership"
	"muster/app/sharing"
	"muster/app/store/storetest/kit"
	"muster/app/template"
)

// readers: whatever is shared with whom, a reader finds, lists and counts exactly the clusters that ClusterReader.AccessTo says, with that access.
func (t *storeTest) readers() {
	random := rand.New(rand.NewPCG(55, 1))
	people, groups := []string{"ada", "bob", "cleo", "dan"}, []string{"ops", "data", "who", "ask"}
	for _, name := range people {
		t.Must(t.Store.CreateUser(t.Ctx, identity.User{Tenant: kit.Tenant, Name: name, Role: app.RoleUser, CreatedAt: t.Clock.Now()}))
	}
	boss := app.Actor{Tenant: kit.Tenant, User: "boss", Role: app.RoleAdmin}
	for _, name := range groups {
		_, err := t.Store.SaveGroup(t.Ctx, boss, identity.GroupChange{Name: name}, t.Clock.Now())
		t.Must(err)
	}
	shares := map[string][]sharing.Share{}
	ends := t.Clock.Now().Add(time.Hour).Truncate(time.Second) // of half of the shares
	var all []app.Cluster
	for i := range 40 {
		n := apptest.NewCluster(kit.Tenant, fmt.Sprintf("c%d", i), 1, t.Clock.Now(), apptest.Chain(1))
		n.Cluster.Owner, n.Cluster.Visibility = people[random.IntN(len(people))], app.VisiblePrivate
		if random.IntN(4) == 0 {
			n.Cluster.Visibility = app.VisibleTenant
		}
		if random.IntN(4) == 0 {
			n.Cluster.OwnerGroup = groups[random.IntN(len(groups))]
		}
		_, err := t.Store.CreateCluster(t.Ctx, n)
		t.Must(err)
		var change sharing.SharingChange
		for range random.IntN(3) {
			one := sharing.Share{Access: sharing.SharedAccess[random.IntN(len(sharing.SharedAccess))], Person: people[random.IntN(len(people))]}
			if random.IntN(2) == 0 {
				one.Person, one.Group = "", groups[random.IntN(len(groups))]
			}
			if random.IntN(2) == 0 {
				one.Until = ends
			}
			if !slices.ContainsFunc(change.Add, func(o sharing.Share) bool { return o.Name() == one.Name() }) {
				change.Add = append(change.Add, one)
			}
		}
		after, err := t.Store.ShareCluster(t.Ctx, boss, n.Cluster.ID, change, 10, t.Clock.Now())
		t.Must(err)
		if len(after.Shares) != len(change.Add) {
			t.Fatalf("%+v is shared as %+v", change, after)
		}
		shares[n.Cluster.ID] = after.Shares
		all = append(all, n.Cluster)
	}
	pairs, seen := 0, 0
	for range 100 {
		r := app.ClusterReader{Tenant: kit.Tenant, User: people[random.IntN(len(people))], Role: app.RoleUser}
		if r.Now = ends.Add(-time.Second); random.IntN(2) == 0 {
			r.Now = ends
		}
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
				if (s.Person == r.User || slices.Contains(r.Groups, s.Group)) && (s.Until.IsZero() || s.Until.After(r.Now)) {
					shared = max(shared, s.Access)
				}
			}
			access := r.AccessTo(c, shared)
			until := accessUntil(r, shares[c.ID], shared)
			if access == r.AccessTo(c, app.AccessNone) {
				until = time.Time{}
			}
			pairs++
			for _, word := range []string{c.ID, c.Name} {
				got, err := t.Store.ReadableCluster(t.Ctx, r, word)
				switch _, none := t.Store.ReadableCluster(t.Ctx, r, "none"); {
				case access == app.AccessNone && (app.CodeOf(err) != app.ENotFound || err.Error() != strings.ReplaceAll(none.Error(), "none", word)):
					t.Fatalf("%+v finds %+v: %v", r, c, err)
				case access > app.AccessNone && (err != nil || got.ID != c.ID || got.Access != access || !got.AccessUntil.Equal(until)):
					t.Fatalf("%+v finds %+v as %+v, %v; want access %s until %s", r, c, got, err, access, until)
				}
			}
			if access > app.AccessNone {
				seen++
				want = append(want, c.ID+" "+access.String())
			}
		}
		list, err := t.Store.Clusters(t.Ctx, kit.Tenant, app.ClusterFilter{Reader: &r})
		t.Must(err)
		var got []string
		for _, c := range slices.Backward(list) {
			got = append(got, c.ID+" "+c.Access.String())
		}
		counts, err := t.Store.CountClusters(t.Ctx, kit.Tenant, app.ClusterFilter{Reader: &r})
		t.Must(err)
		if !slices.Equal(got, want) || counts.Live() != len(want) {
			t.Fatalf("%+v lists %v and counts %d, want %v", r, got, counts.Live(), want)
		}
		for _, c := range all {
			if !slices.ContainsFunc(list, func(l app.ClusterSummary) bool { return l.ID == c.ID }) {
				_, err := t.Store.Clusters(t.Ctx, kit.Tenant, app.ClusterFilter{Reader: &r, After: c.ID})
				t.Code(err, app.ENotFound)
				break
			}
		}
	}
	t.Logf("%d pairs of readers and clusters, %d of them seen", pairs, seen)
	if _, err := t.Store.ReadableCluster(t.Ctx, app.ClusterReader{Tenant: "other", User: "ada", SeesAll: true}, all[0].ID); app.CodeOf(err) != app.ENotFound {
		t.Errorf("an admin of another tenant finds it: %v", err)
	}
}

// accessUntil is when the most access that was shared with a reader ends; zero for never.
func accessUntil(r app.ClusterReader, shares []sharing.Share, most app.Access) (until time.Time) {
	for _, s := range shares {
		if s.Access != most || s.Person != r.User && !slices.Contains(r.Groups, s.Group) {
			continue
		}
		if s.Until.IsZero() {
			return s.Until
		}
		until = s.Until
	}
	return until
}

// sharesEnd: from its end on, a share doesn't count. It is removed once, with its traces.
func (t *storeTest) sharesEnd() {
	boss := app.Actor{Tenant: kit.Tenant, User: "boss", Role: app.RoleAdmin}
	for _, name := range []string{"ada", "bob"} {
		t.Must(t.Store.CreateUser(t.Ctx, identity.User{Tenant: kit.Tenant, Name: name, Role: app.RoleUser, CreatedAt: t.Clock.Now()}))
	}
	n := apptest.NewCluster(kit.Tenant, "web", 1, t.Clock.Now(), apptest.Chain(1))
	_, err := t.Store.CreateCluster(t.Ctx, n)
	t.Must(err)
	share := func(s sharing.Share) (sharing.ClusterSharing, error) {
		return t.Store.ShareCluster(t.Ctx, boss, "web-1", sharing.SharingChange{Add: []sharing.Share{s}}, 1, t.Clock.Now())
	}
	one := sharing.Share{Person: "bob", Access: app.AccessUser, Until: t.Clock.Now().Add(time.Hour).Truncate(time.Second)}
	if after, err := share(one); err != nil || !slices.Equal(after.Shares, []sharing.Share{one}) {
		t.Fatalf("%+v, %v", after, err)
	}
	one.Until = one.Until.Add(time.Hour)
	if after, err := share(one); err != nil || !slices.Equal(after.Shares, []sharing.Share{one}) {
		t.Fatalf("another end: %+v, %v", after, err)
	}
	if n, err := t.Store.EndShares(t.Ctx, one.Until.Add(-time.Second), 10); n != 0 || err != nil {
		t.Errorf("%d have ended early, %v", n, err)
	}
	t.Clock.Move(one.Until.Sub(t.Clock.Now()))
	if left, err := t.Store.ClusterSharing(t.Ctx, kit.Tenant, "web-1", t.Clock.Now()); err != nil || len(left.Shares) != 0 {
		t.Errorf("one that has ended is listed: %+v, %v", left, err)
	}
	// It leaves room for another, before it is removed.
	_, err = share(sharing.Share{Person: "ada", Access: app.AccessUser})
	t.Must(err)
	for _, want := range []int{1, 0} {
		if n, err := t.Store.EndShares(t.Ctx, t.Clock.Now(), 10); n != want || err != nil {
			t.Errorf("%d have ended, %v; want %d", n, err, want)
		}
	}
	entries, err := t.Store.Audit(t.Ctx, app.AuditFilter{Tenants: []string{kit.Tenant}, Act: "cluster.share_end", Limit: 10})
	if err != nil || len(entries) != 1 || entries[0].Object != "web-1" || entries[0].Who != app.Expirer {
		t.Errorf("the audit tells %+v, %v", entries, err)
	}
	notified, err := t.Store.NoticesFor(t.Ctx, kit.Tenant, &app.NoticeReader{User: "bob"}, 0, 1)
	if err != nil || len(notified) != 1 || notified[0].Title != "Your access to cluster web has ended." {
		t.Errorf("bob was notified %+v, %v", notified, err)
	}
	notified, err = t.Store.NoticesFor(t.Ctx, kit.Tenant, &app.NoticeReader{User: n.Cluster.Owner}, 0, 10)
	ended := func(o app.Notice) bool { return o.Title == "The access of bob to cluster web has ended." }
	if err != nil || !slices.ContainsFunc(notified, ended) {
		t.Errorf("the owner was notified %+v, %v", notified, err)
	}
}

// sharing: shares name who is there, are notified, and end with the account or group.
func (t *storeTest) sharing() {
	boss := app.Actor{Tenant: kit.Tenant, User: "boss", Role: app.RoleAdmin}
	for _, name := range []string{"ada", "bob"} {
		t.Must(t.Store.CreateUser(t.Ctx, identity.User{Tenant: kit.Tenant, Name: name, Role: app.RoleUser, CreatedAt: t.Clock.Now()}))
	}
	ops := identity.GroupChange{Name: "ops", Members: &[]string{"bob"}}
	_, err := t.Store.SaveGroup(t.Ctx, boss, ops, t.Clock.Now())
	t.Must(err)
	// A new tenant's clusters are private, until an admin sets something else.
	makes := func(name string) app.Visibility {
		t.Helper()
		n := apptest.NewCluster(kit.Tenant, name, 1, t.Clock.Now(), apptest.Chain(1))
		_, err := t.Store.CreateCluster(t.Ctx, n)
		t.Must(err)
		c, err := t.Store.Cluster(t.Ctx, kit.Tenant, n.Cluster.ID)
		t.Must(err)
		return c.Visibility
	}
	if v := makes("web"); v != app.VisiblePrivate {
		t.Errorf("the first cluster is %s", v)
	}
	mark, err := t.Store.TenantMark(t.Ctx, kit.Tenant)
	t.Must(err)
	t.Must(t.Store.SetDefaultVisibility(t.Ctx, boss, app.VisibleTenant, t.Clock.Now()))
	if v, err := t.Store.DefaultVisibility(t.Ctx, kit.Tenant); v != app.VisibleTenant || err != nil || makes("open") != app.VisibleTenant {
		t.Errorf("the default is %s, %v", v, err)
	}
	if now, err := t.Store.TenantMark(t.Ctx, kit.Tenant); err != nil || now == mark {
		t.Errorf("another default is the same setting: %v", err)
	}

	share := func(c sharing.SharingChange) (sharing.ClusterSharing, error) {
		return t.Store.ShareCluster(t.Ctx, boss, "web-1", c, 2, t.Clock.Now())
	}
	add := func(s ...sharing.Share) sharing.SharingChange { return sharing.SharingChange{Add: s} }
	_, err = share(add(sharing.Share{Person: "nemo", Access: app.AccessUser}))
	t.Code(err, app.EInvalid)
	_, err = share(add(sharing.Share{Group: "nemo", Access: app.AccessUser}))
	t.Code(err, app.EInvalid)
	toBob, toOps := sharing.Share{Person: "bob", Access: app.AccessReader}, sharing.Share{Group: "ops", Access: app.AccessCoOwner}
	after, err := share(add(toBob, toOps))
	if err != nil || !slices.Equal(after.Shares, []sharing.Share{toBob, toOps}) || after.Visibility != app.VisiblePrivate {
		t.Errorf("shared: %+v, %v", after, err)
	}
	_, err = share(add(sharing.Share{Person: "ada", Access: app.AccessUser}))
	t.Code(err, app.EInvalid) // too many
	toBob.Access = app.AccessUser
	for range 2 { // the second time nothing changes
		after, err = share(sharing.SharingChange{Add: []sharing.Share{toBob}, Remove: []sharing.Share{{Group: "ops"}}, Visibility: app.VisibleTenant})
		if err != nil || !slices.Equal(after.Shares, []sharing.Share{toBob}) || after.Visibility != app.VisibleTenant {
			t.Errorf("changed: %+v, %v", after, err)
		}
	}
	if again, err := t.Store.ClusterSharing(t.Ctx, kit.Tenant, "web-1", t.Clock.Now()); err != nil || fmt.Sprint(again) != fmt.Sprint(after) {
		t.Errorf("read again: %+v, %v", again, err)
	}
	notified, err := t.Store.NoticesFor(t.Ctx, kit.Tenant, &app.NoticeReader{User: "bob", Groups: []string{"ops"}}, 0, 10)
	if err != nil || len(notified) != 3 || notified[0].Title != "boss shared cluster web with you." || notified[2].Title != "boss shared cluster web with you." && notified[1].Title != "boss shared cluster web with you." {
		t.Errorf("bob was notified %+v, %v", notified, err)
	}
	entries, err := t.Store.Audit(t.Ctx, app.AuditFilter{Tenants: []string{kit.Tenant}, Act: "cluster.share", Limit: 10})
	if err != nil || len(entries) != 2 || entries[0].Object != "web-1" {
		t.Errorf("the audit tells %+v, %v", entries, err)
	}
	_, err = t.Store.ShareCluster(t.Ctx, app.Actor{Tenant: "other", User: "boss"}, "web-1", add(toOps), 2, t.Clock.Now())
	t.Code(err, app.ENotFound)

	// A group that owns a cluster stays; what was shared with one that is deleted ends.
	_, err = share(add(toOps))
	t.Must(err)
	t.Must(t.Store.TransferCluster(t.Ctx, ownership.Transfer{Tenant: kit.Tenant, Cluster: "open-1", From: "ada", To: "ada", Group: "ops", Who: boss,
		Now: t.Clock.Now()}))
	// A group that owns clusters is notified of what their owner is; of requests only those are whom they wait for.
	for i, kind := range append(slices.Clone(app.OwnerNoticeKinds), app.NoticeApproval) {
		title := fmt.Sprintf("about %s", kind)
		t.Must(t.Store.Notify(t.Ctx, app.Notice{At: t.Clock.Now(), Tenant: kit.Tenant, Kind: kind, Cluster: "open-1", Users: []string{"ada"}, Title: title}))
		list, err := t.Store.NoticesFor(t.Ctx, kit.Tenant, &app.NoticeReader{User: "eve", Groups: []string{"ops"}}, 0, 1)
		t.Must(err)
		if notified := len(list) == 1 && list[0].Title == title; notified != (i < len(app.OwnerNoticeKinds)) {
			t.Errorf("of %s the group that owns the cluster is reported: %t", kind, notified)
		}
	}
	t.Code(t.Store.DeleteGroup(t.Ctx, boss, "ops", t.Clock.Now()), app.EConflict)
	t.Code(t.Store.TransferCluster(t.Ctx, ownership.Transfer{Tenant: kit.Tenant, Cluster: "open-1", From: "ada", To: "ada", Group: "nemo",
		Who: boss, Now: t.Clock.Now()}), app.EInvalid)
	t.Must(t.Store.TransferCluster(t.Ctx, ownership.Transfer{Tenant: kit.Tenant, Cluster: "open-1", From: "ada", To: "bob", Who: boss, Now: t.Clock.Now()}))
	t.Must(t.Store.DeleteGroup(t.Ctx, boss, "ops", t.Clock.Now()))
	t.Must(t.Store.DeleteUser(t.Ctx, boss, "bob", "ada", t.Clock.Now()))
	if left, err := t.Store.ClusterSharing(t.Ctx, kit.Tenant, "web-1", t.Clock.Now()); err != nil || len(left.Shares) != 0 {
		t.Errorf("left: %+v, %v", left, err)
	}
}

// deciders: requests and clusters are open for those who decide on them, or are asked about them, and for no one else, such as members of a group
// whose name is a word in them.
func (t *storeTest) deciders() {
	n := t.Waiting(kit.Tenant, "web")
	n.Request.Approvals[0].BreakGlass, n.Request.Approvals[0].EscalateTo = "oncall", "late"
	r := t.SaveRequest(n)
	t.AskPerson(1, template.Person{Ask: "ops?", Help: "data", Who: []string{template.PersonOwner, "ops"}})
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
		reader := app.ClusterReader{Tenant: kit.Tenant, User: "eve", Role: c.role}
		if c.group != "" {
			reader.Groups = []string{c.group}
		}
		var err error
		reader.Clusters, reader.Requests, err = t.Store.OpenFor(t.Ctx, reader)
		if err != nil || slices.Contains(reader.Requests, r.ID) != c.requests || slices.Contains(reader.Clusters, "web-1") != c.clusters {
			t.Errorf("%s of %q: %v, %v, %v", c.role, c.group, reader.Clusters, reader.Requests, err)
		}
		_, err = t.Store.ReadableRequest(t.Ctx, reader, r.ID)
		list, e := t.Store.Requests(t.Ctx, kit.Tenant, cluster.RequestFilter{Reader: &reader})
		if (err == nil) != c.requests || e != nil || (len(list) == 1) != c.requests {
			t.Errorf("%s of %q reads %v and lists %+v, %v", c.role, c.group, err, list, e)
		}
		_, err = t.Store.ReadableCluster(t.Ctx, reader, "web-1")
		questions, e := t.Store.ManualSteps(t.Ctx, kit.Tenant, execution.ManualStepFilter{Reader: &reader, Limit: 10})
		if (err == nil) != c.clusters || e != nil || (len(questions) == 1) != c.clusters {
			t.Errorf("%s of %q finds the cluster: %v, and %+v, %v", c.role, c.group, err, questions, e)
		}
	}
	// Who asked, and who would own it, see the request whatever they are.
	if _, err := t.Store.ReadableRequest(t.Ctx, app.ClusterReader{Tenant: kit.Tenant, User: "ada", Role: app.RoleViewer}, r.ID); err != nil {
		t.Error(err)
	}
	if _, err := t.Store.ReadableRequest(t.Ctx, app.ClusterReader{Tenant: "other", User: "ada", SeesAll: true}, r.ID); app.CodeOf(err) != app.ENotFound {
		t.Errorf("another tenant: %v", err)
	}
}
