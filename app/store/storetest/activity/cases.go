package activity

import (
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/activity"
	"muster/app/apptest"
	"muster/app/store/storetest/kit"
)

type storeTest struct{ *kit.T }

func newTest(t *kit.T) *storeTest { return &storeTest{t} }

// Cases are what every store passes.
var Cases = kit.Cases(newTest, []struct {
	Name string
	Try  func(*storeTest)
}{
	{"the feed has what a reader sees, and nothing else", (*storeTest).visible},
	{"the feed is filtered and paged by number", (*storeTest).paged},
})

// all are the acts of all kinds.
func all() (list []activity.Acts) {
	for _, k := range activity.Kinds {
		list = append(list, activity.ActsOf(k))
	}
	return list
}

func (t *storeTest) create(name, owner string, v app.Visibility) {
	t.Helper()
	n := apptest.NewCluster(kit.Tenant, name, 1, t.Clock.Now(), apptest.Chain(1))
	n.Cluster.Owner, n.Cluster.Visibility = owner, v
	_, err := t.Store.CreateCluster(t.Ctx, n)
	t.Must(err)
	t.Clock.Move(time.Second)
}

func (t *storeTest) add(who, act, object string) {
	t.Helper()
	t.Must(t.Store.AddAuditEntry(t.Ctx, app.AuditEntry{Tenant: kit.Tenant, At: t.Clock.Now(), Who: who, Act: act, Object: object, Detail: "a detail"}))
	t.Clock.Move(time.Second)
}

func (t *storeTest) read(q activity.FeedQuery) string {
	t.Helper()
	if q.Tenant == "" {
		q.Tenant = kit.Tenant
	}
	if q.Acts == nil {
		q.Acts = all()
	}
	if q.Scan == 0 {
		q.Scan, q.Limit = 1000, 100
	}
	list, _, _, err := t.Store.Activity(t.Ctx, q)
	t.Must(err)
	var words []string
	for _, e := range list {
		words = append(words, e.Act+" "+e.Object)
	}
	return strings.Join(words, ", ")
}

func (t *storeTest) want(what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %s; want %s", what, got, want)
	}
}

func (t *storeTest) visible() {
	t.create("open", "ada", app.VisibleTenant)
	t.create("secret", "ada", app.VisiblePrivate)
	t.add("ada", "cluster.label", "open-1")
	t.add("ada", "terminal.open", "secret-1")
	t.add("root", "user.create", "open-1") // a person who is called as a cluster is
	t.add("root", "session.begin", "root")
	bob := &app.ClusterReader{Tenant: kit.Tenant, User: "bob", Role: app.RoleUser}
	t.want("bob's", t.read(activity.FeedQuery{Reader: bob}), "cluster.label open-1, cluster.create open-1")
	ada := &app.ClusterReader{Tenant: kit.Tenant, User: "ada", Role: app.RoleUser}
	t.want("ada's", t.read(activity.FeedQuery{Reader: ada}), "terminal.open secret-1, cluster.label open-1, cluster.create secret-1, cluster.create open-1")
	boss := &app.ClusterReader{Tenant: kit.Tenant, User: "boss", SeesAll: true}
	t.want("an admin's", t.read(activity.FeedQuery{Reader: boss}),
		"user.create open-1, terminal.open secret-1, cluster.label open-1, cluster.create secret-1, cluster.create open-1")
	t.want("another tenant's", t.read(activity.FeedQuery{Tenant: "other", Reader: boss}), "")
	list, _, _, err := t.Store.Activity(t.Ctx, activity.FeedQuery{Tenant: kit.Tenant, Reader: bob, Acts: all(), Scan: 100, Limit: 10})
	t.Must(err)
	if e := list[len(list)-1]; e.Cluster != "open-1" || e.Name != "open" || e.Operation == 0 ||
		e.Status != app.OperationRunning && e.Status != app.OperationWaiting || e.Access != app.AccessReader {
		t.Errorf("the creation is %+v", e)
	}
}

func (t *storeTest) paged() {
	t.create("web", "ada", app.VisibleTenant)
	begin := t.Clock.Now()
	for i := range 20 {
		t.add(fmt.Sprintf("u%d", i%2), "cluster.label", "web-1")
		t.add("root", "secret.set", "KEY")
	}
	boss := &app.ClusterReader{Tenant: kit.Tenant, User: "boss", SeesAll: true}
	labels := []activity.Acts{{Names: []string{"cluster.label"}}}
	list, last, _, err := t.Store.Activity(t.Ctx, activity.FeedQuery{Tenant: kit.Tenant, Reader: boss, Acts: labels, Scan: 1000, Limit: 3})
	t.Must(err)
	if len(list) != 3 || list[0].Who != "u1" || last != list[2].Number {
		t.Errorf("%+v, %d", list, last)
	}
	// Of the six newest, three are labels. There are more, so it says how far it looked.
	list, last, _, err = t.Store.Activity(t.Ctx, activity.FeedQuery{Tenant: kit.Tenant, Reader: boss, Acts: labels, Scan: 6, Limit: 10})
	t.Must(err)
	if len(list) != 3 || last == 0 || last > list[2].Number {
		t.Errorf("%+v, %d", list, last)
	}
	list, last, _, err = t.Store.Activity(t.Ctx, activity.FeedQuery{Tenant: kit.Tenant, Reader: boss, Who: "u0", Cluster: "web-1",
		Acts: labels, Scan: 1000, Limit: 100})
	t.Must(err)
	if len(list) != 10 || last != 0 {
		t.Errorf("u0 did %d, %d", len(list), last)
	}
	t.want("failed", t.read(activity.FeedQuery{Reader: boss, Failed: true}), "")
	t.want("from the last on", t.read(activity.FeedQuery{Reader: boss, From: t.Clock.Now().Add(-time.Second)}), "secret.set KEY")
	first, err := t.Store.ActivityBefore(t.Ctx, kit.Tenant, begin)
	t.Must(err)
	t.want("before the labels", t.read(activity.FeedQuery{Reader: boss, Before: first}), "cluster.create web-1")
	if first, err = t.Store.ActivityBefore(t.Ctx, kit.Tenant, t.Clock.Now().Add(time.Hour)); err != nil || first != 0 {
		t.Errorf("after all: %d, %v", first, err)
	}
}
