package policy

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/apptest"
	appcluster "muster/app/cluster"
	"muster/app/fleet"
	"muster/app/identity"
	"muster/app/policy"
	"muster/app/store"
	"muster/app/store/storetest/kit"
	"muster/app/template"
)

// Money is what every store keeps of quotas, leases and metering.
var Money = kit.Cases(newMoneyTest, []struct {
	Name string
	Try  func(*moneyTest)
}{
	{"limits of tenant, groups and users all hold", (*moneyTest).scopes},
	{"what a refusal says", (*moneyTest).refusals},
	{"money per month counts what was spent and what is committed", (*moneyTest).budget},
	{"refusals and notices are in the tenant's currency", (*moneyTest).inCurrency},
	{"a budget holds for the months to come", (*moneyTest).monthsAhead},
	{"quotas are listed with what is used", (*moneyTest).listed},
	{"a lowered quota takes nothing away", (*moneyTest).lowered},
	{"people are notified of a budget once", (*moneyTest).notified},
	{"200 creates at once keep a quota of 50 nodes", (*moneyTest).oversubscribe},
	{"200 creates at once keep a limit of money per hour", (*moneyTest).oversubscribeMoney},
	{"a lease is moved by the template's rules, and its budget with it", (*moneyTest).extends},
	{"a lease that is over can be saved until deletion begins", (*moneyTest).saved},
	{"a cluster is given away, and counts towards the quotas of the new owner", (*moneyTest).transfers},
	{"clusters sleep and wake by schedule, once", (*moneyTest).schedules},
	{"each warning of an end comes once", (*moneyTest).warns},
	{"many extend at the same time", (*moneyTest).extendsAtOnce},
	{"what would keep a lease from ending is shown", (*moneyTest).outlook},
	{"usage adds up to the time of the machines", (*moneyTest).usage},
	{"what is still to come is what exists, until its leases end", (*moneyTest).commitments},
	{"a node is of other hardware where none of its own is to be had", (*moneyTest).fallsBack},
	{"a quota keeps a node from larger hardware", (*moneyTest).fallsBackWithin},
	{"what a quota does not allow is gone past", (*moneyTest).fallsBackPast},
	{"other hardware of an update goes with its rollback", (*moneyTest).fallsBackUpdated},
	{"random creates, deletes and failures keep every limit", (*moneyTest).storm},
})

type moneyTest struct {
	storeTest
}

func newMoneyTest(t *kit.T) *moneyTest { return &moneyTest{storeTest: storeTest{t}} }

func (t *moneyTest) limit(scope policy.QuotaScope, name string, m policy.Measure, limit float64) {
	t.Helper()
	t.Must(t.Store.SetQuota(t.Ctx, kit.Boss, policy.Quota{Scope: scope, Name: name, Limits: policy.Limits{}.With(m, limit), ChangedAt: t.Clock.Now(),
		ChangedBy: "boss"}))
}

// ask makes a cluster of an owner who is in groups, with 2 cores and 0.5 an hour for each node, for a day.
func (t *moneyTest) ask(s *store.Store, name, owner string, nodes int, groups ...string) (app.Operation, error) {
	n := apptest.NewCluster(kit.Tenant, name, nodes, t.Clock.Now(), apptest.Chain(nodes))
	n.Cluster.Owner, n.Cluster.CostPerHour, n.Cluster.ExpiresAt = owner, 0.5*float64(nodes), t.Clock.Now().Add(24*time.Hour)
	n.Definition.Hardware = map[string]template.Flavor{"small": {CPU: 2}}
	n.Reservation = policy.ReservationOf(n.Cluster, n.Nodes, n.Definition.Hardware, groups)
	return s.CreateCluster(t.Ctx, n)
}

// refused tells that it is a quota that says no, and returns the words.
func (t *moneyTest) refused(err error, words ...string) {
	t.Helper()
	e := app.AsError(err)
	if err == nil || e.Code != app.EQuota || e.Reason != "quota" {
		t.Fatalf("a quota was to refuse it: %v", err)
	}
	for _, w := range words {
		if !strings.Contains(e.Advised(), w) {
			t.Errorf("%q is not to be found in: %s", w, e.Advised())
		}
	}
}

func (t *moneyTest) gone(cluster string, nodes int) {
	t.Helper()
	_, err := t.Store.SubmitOperation(t.Ctx, appcluster.NewOperation{Operation: app.Operation{Tenant: kit.Tenant, Cluster: cluster, Kind: app.OperationDelete,
		Requester: "ada", CreatedAt: t.Clock.Now()}, Plan: apptest.Remove(nodes), Cancel: true})
	t.Must(err)
	t.Drain()
}

func (t *moneyTest) scopes() {
	t.limit(policy.QuotaTenant, "", policy.MeasureNodes, 20)
	t.limit(policy.QuotaGroup, "data", policy.MeasureNodes, 10)
	t.limit(policy.QuotaEachUser, "", policy.MeasureClusters, 3)
	t.limit(policy.QuotaUser, "bob", policy.MeasureCPU, 8)
	ask := func(name, owner string, nodes int, groups ...string) error {
		_, err := t.ask(t.Store, name, owner, nodes, groups...)
		return err
	}
	t.Must(ask("a", "ada", 6, "data", "web"))
	t.refused(ask("b", "eve", 5, "data"), `This would take the group "data" to 11 nodes, over the limit of 10: 6 are used by ada's a (6).`, "Request at most 4 nodes")
	t.Must(ask("b", "eve", 4, "data"))
	t.Must(ask("c", "bob", 4))
	t.refused(ask("d", "bob", 1), "This would take bob to 10 cores, over the limit of 8: 8 are used by c (8).", "Delete c")
	t.refused(ask("d", "eve", 7), "This would take the tenant to 21 nodes, over the limit of 20: 14 are used by ada's a (6), eve's b (4) and bob's c (4).", "at most 6 nodes")
	t.Must(ask("d", "eve", 1))
	t.Must(ask("e", "eve", 1))
	t.refused(ask("f", "eve", 1), "This would take eve to 4 clusters, over the limit of 3: 3 are used by b, d and e.", "Delete b")
	lines, err := t.Store.QuotaLines(t.Ctx, kit.Tenant, "eve", []string{"data"}, t.Clock.Now())
	t.Must(err)
	if got := fmt.Sprint(lines); got != "[{clusters each_user eve USD 3 3 0} {nodes tenant  USD 20 16 4} {nodes group data USD 10 10 0}]" {
		t.Errorf("what is left for eve: %s", got)
	}
	// What is gone counts no more, in any of them.
	t.gone("b-1", 4)
	t.Must(ask("f", "eve", 4, "data"))
	t.refused(ask("g", "zoe", 3, "data"), "used by ada's a (6) and eve's f (4)")
	all, err := t.Store.Reservations(t.Ctx, "other")
	t.Must(err)
	if len(all) != 0 {
		t.Errorf("another tenant sees %+v", all)
	}
}

func (t *moneyTest) refusals() {
	t.limit(policy.QuotaTenant, "", policy.MeasurePerHour, 2)
	_, err := t.ask(t.Store, "a", "ada", 5)
	t.refused(err, "This would take the tenant to $2.50 per hour, over the limit of $2.00; nothing is used yet.", "Request at most 4 nodes or ask an admin for a higher limit.")
	_, err = t.ask(t.Store, "a", "ada", 3)
	t.Must(err)
	_, err = t.ask(t.Store, "b", "ada", 3)
	t.refused(err, "the tenant to $3.00 per hour", "$1.50 is used by ada's a ($1.50)", "Request at most 1 node, delete a or ask an admin")
	// A refused create leaves nothing behind.
	if _, err := t.Store.Cluster(t.Ctx, kit.Tenant, "b-1"); app.CodeOf(err) != app.ENotFound {
		t.Errorf("the refused cluster: %v", err)
	}
	for _, c := range []struct {
		scope policy.QuotaScope
		name  string
	}{{policy.QuotaGroup, "data"}, {policy.QuotaTenant, "x"}} {
		t.Code(t.Store.DeleteQuota(t.Ctx, kit.Boss, c.scope, c.name, t.Clock.Now()), app.ENotFound)
	}
	t.Must(t.Store.DeleteQuota(t.Ctx, kit.Boss, policy.QuotaTenant, "", t.Clock.Now()))
	_, err = t.ask(t.Store, "b", "ada", 3)
	t.Must(err)
}

func (t *moneyTest) inCurrency() {
	const code, rate = "CHF", 0.9
	t.Must(t.Store.CreateTenant(t.Ctx, kit.Boss, identity.Tenant{Name: kit.Tenant, Currency: code, ExchangeRate: rate, CreatedAt: t.Clock.Now()}, nil))
	t.limit(policy.QuotaTenant, "", policy.MeasurePerHour, 2)
	_, err := t.ask(t.Store, "a", "ada", 5)
	t.refused(err, "This would take the tenant to CHF 2.50 per hour, over the limit of CHF 2.00; nothing is used yet.")
	t.limit(policy.QuotaTenant, "", policy.MeasurePerMonth, 12)
	_, err = t.ask(t.Store, "a", "ada", 2)
	t.refused(err, "the tenant to CHF 24.00 for January 2026, over the budget of CHF 12.00")
	_, err = t.ask(t.Store, "a", "ada", 1)
	t.Must(err)
	all, err := t.Store.Notices(t.Ctx, kit.Tenant, 0, 100)
	t.Must(err)
	if !slices.ContainsFunc(all, func(n app.Notice) bool {
		return n.Kind == app.NoticeBudget && strings.HasPrefix(n.Text, "CHF 12.00 of CHF 12.00 is spent, or committed")
	}) {
		t.Errorf("no notice names the currency: %+v", all)
	}
	lines, err := t.Store.QuotaLines(t.Ctx, kit.Tenant, "ada", nil, t.Clock.Now())
	t.Must(err)
	if len(lines) != 1 || lines[0].Text() != "CHF 0.00 of CHF 12.00 per month for the tenant" {
		t.Errorf("what is left: %+v", lines)
	}
	quotas, err := t.Store.Quotas(t.Ctx, kit.Tenant, t.Clock.Now())
	t.Must(err)
	if len(quotas) != 1 || quotas[0].Currency != code {
		t.Errorf("quotas are %+v", quotas)
	}
}

// budget: the clock is at noon of 2 January.
func (t *moneyTest) budget() {
	t.limit(policy.QuotaUser, "ada", policy.MeasurePerMonth, 100)
	op, err := t.ask(t.Store, "a", "ada", 4) // 2 an hour for a day: 48
	t.Must(err)
	if op.ID == 0 {
		t.Fatal("there is no operation")
	}
	used := func(want float64) {
		t.Helper()
		lines, err := t.Store.QuotaLines(t.Ctx, kit.Tenant, "ada", nil, t.Clock.Now())
		t.Must(err)
		if len(lines) != 1 || math.Abs(lines[0].Used-want) > 1e-6 {
			t.Fatalf("used is %+v, want %g", lines, want)
		}
	}
	used(48)
	_, err = t.ask(t.Store, "b", "ada", 5)
	t.refused(err, "This would take ada to $108.00 for January 2026, over the budget of $100.00: $48.00 is spent or committed by a.",
		"Request at most 4 nodes, request a lease of at most 20 h 48 min")
	// The machines come half an hour late and go after six hours: what really was counts.
	t.Clock.Move(30 * time.Minute)
	used(47)
	for i := 1; i <= 4; i++ {
		t.Must(t.Store.NoteResources(t.Ctx, "cloud", fmt.Sprintf("%s-a-n%d", kit.Tenant, i), t.Clock.Now(),
			[]app.Seen{{Kind: fleet.ResourceMachine, ID: fmt.Sprint("m", i), Price: 0.5, CreatedAt: t.Clock.Now()}}))
	}
	t.Clock.Move(6 * time.Hour)
	used(12 + 2*17.5)
	t.Drain()
	t.gone("a-1", 4)
	used(12)
	t.Clock.Move(20 * time.Hour)
	used(12)
	// A new month begins with nothing spent.
	t.Clock.Move(31 * 24 * time.Hour)
	used(0)
}

func (t *moneyTest) monthsAhead() {
	t.limit(policy.QuotaTenant, "", policy.MeasurePerMonth, 300)
	t.Clock.Move(28 * 24 * time.Hour) // noon of 30 January
	n := apptest.NewCluster(kit.Tenant, "a", 1, t.Clock.Now(), apptest.Chain(1))
	n.Cluster.CostPerHour = 0.5 // 18 until the end of January, 336 in February
	_, err := t.Store.CreateCluster(t.Ctx, n)
	t.refused(err, "This would take the tenant to $336.00 for February 2026, over the budget of $300.00", "Request a lease of at most 26 d 12 h")
	n.Cluster.CostPerHour = 0.42 // 282 in February, but 312 in March
	_, err = t.Store.CreateCluster(t.Ctx, n)
	t.refused(err, "the tenant to $312.48 for March 2026")
	n.Cluster.ExpiresAt = t.Clock.Now().Add(30 * 24 * time.Hour)
	_, err = t.Store.CreateCluster(t.Ctx, n)
	t.Must(err)
}

func (t *moneyTest) listed() {
	t.limit(policy.QuotaUser, "ada", policy.MeasureNodes, 9)
	t.limit(policy.QuotaTenant, "", policy.MeasurePerHour, 10)
	t.limit(policy.QuotaEachUser, "", policy.MeasureNodes, 7)
	for _, c := range []struct {
		name, owner string
		nodes       int
	}{{"a", "ada", 3}, {"b", "bob", 2}, {"c", "ada", 1}} {
		_, err := t.ask(t.Store, c.name, c.owner, c.nodes, "data")
		t.Must(err)
	}
	all, err := t.Store.Quotas(t.Ctx, kit.Tenant, t.Clock.Now())
	t.Must(err)
	var got []string
	for _, q := range all {
		got = append(got, fmt.Sprintf("%s %s %g nodes, %g clusters, %g per hour, %g per month", q.Scope, q.Name, q.Used.Nodes, q.Used.Clusters,
			q.Used.PerHour, q.Used.PerMonth))
	}
	want := "tenant  6 nodes, 3 clusters, 3 per hour, 72 per month|each_user  4 nodes, 2 clusters, 2 per hour, 48 per month|user ada 4 nodes, 2 clusters, 2 per hour, 48 per month"
	if strings.Join(got, "|") != want {
		t.Errorf("quotas are %s,\nwant %s", strings.Join(got, "|"), want)
	}
	if all, err := t.Store.Quotas(t.Ctx, "other", t.Clock.Now()); err != nil || len(all) != 0 {
		t.Errorf("another tenant sees %+v (%v)", all, err)
	}
	limits, err := t.Store.QuotaLimits(t.Ctx, kit.Tenant)
	t.Must(err)
	for i, q := range limits {
		if i >= len(all) || !reflect.DeepEqual(q, all[i].Quota) {
			t.Errorf("without what is used, quota %d is %+v", i, q)
		}
	}
	if none, err := t.Store.QuotaLimits(t.Ctx, "other"); err != nil || len(none) != 0 || len(limits) != 3 {
		t.Errorf("there are %d quotas, and another tenant sees %+v (%v)", len(limits), none, err)
	}
}

func (t *moneyTest) lowered() {
	t.limit(policy.QuotaTenant, "", policy.MeasureNodes, 10)
	_, err := t.ask(t.Store, "a", "ada", 8)
	t.Must(err)
	t.limit(policy.QuotaTenant, "", policy.MeasureNodes, 5)
	_, err = t.ask(t.Store, "b", "ada", 1)
	t.refused(err, "This would take the tenant to 9 nodes, over the limit of 5: 8 are used")
	t.Drain()
	t.Status("a-1", app.ClusterActive, app.OperationSucceeded)
	t.gone("a-1", 8)
	_, err = t.ask(t.Store, "b", "ada", 5)
	t.Must(err)
}

func (t *moneyTest) notified() {
	t.limit(policy.QuotaGroup, "data", policy.MeasurePerMonth, 100)
	notices := func(want ...string) {
		t.Helper()
		all, err := t.Store.Notices(t.Ctx, kit.Tenant, 0, 100)
		t.Must(err)
		var got []string
		for _, n := range all {
			if n.Kind == app.NoticeBudget {
				got = append(got, n.Title)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("people were notified %q, want %q", got, want)
		}
	}
	_, err := t.ask(t.Store, "a", "ada", 6, "data") // 72
	t.Must(err)
	notices()
	_, err = t.ask(t.Store, "b", "ada", 1, "data") // 84
	t.Must(err)
	eighty := `84% of the budget of the group "data" for January 2026 is used.`
	notices(eighty)
	for range 3 {
		n, err := t.Store.NotifyBudgets(t.Ctx, t.Clock.Now())
		t.Must(err)
		if n != 0 {
			t.Errorf("%d are reported of again", n)
		}
	}
	notices(eighty)
	// Machines that outlive their lease are found by looking.
	for i := 1; i <= 6; i++ {
		t.Must(t.Store.NoteResources(t.Ctx, "cloud", fmt.Sprintf("%s-a-n%d", kit.Tenant, i), t.Clock.Now(),
			[]app.Seen{{Kind: fleet.ResourceMachine, ID: fmt.Sprint("m", i), Price: 0.5, CreatedAt: t.Clock.Now()}}))
	}
	t.Clock.Move(40 * time.Hour)
	n, err := t.Store.NotifyBudgets(t.Ctx, t.Clock.Now())
	t.Must(err)
	if n != 1 {
		t.Errorf("%d budgets are reported of, want 1", n)
	}
	notices(eighty, `120% of the budget of the group "data" for January 2026 is used.`)
	t.Clock.Move(31 * 24 * time.Hour)
	t.limit(policy.QuotaGroup, "data", policy.MeasurePerMonth, 200)
	_, err = t.Store.NotifyBudgets(t.Ctx, t.Clock.Now())
	t.Must(err)
	all, err := t.Store.Notices(t.Ctx, kit.Tenant, 0, 100)
	t.Must(err)
	if len(all) != 3 || fmt.Sprint(all[2].Groups) != "[data]" {
		t.Errorf("another month and another budget: %+v", all)
	}
}
