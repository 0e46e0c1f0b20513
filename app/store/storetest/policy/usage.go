package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/fleet"
	"muster/app/label"
	"muster/app/store/storetest/kit"
	"muster/app/template"
	"muster/app/usage"
)

// was is a machine, for sums that are done by hand.
type stood struct {
	keys       map[usage.GroupBy]string
	owner      string
	price, cpu float64
	made, gone time.Time // gone may be zero
}

// byCentre is a grouping by a label.
const byCentre usage.GroupBy = "label:cost-centre"

// machines makes clusters of three owners and lets their machines come and go at random within 100 days; the clock is at
// the end.
func (t *moneyTest) machines(random *rand.Rand) (all []stood) {
	t.Helper()
	begin := t.Clock.Now()
	const days = 100
	centres := []string{"", "4711", "R+D 7"}
	for c := range 12 {
		n := apptest.NewCluster(kit.Tenant, fmt.Sprintf("c%d", c), 4, begin, apptest.Chain(4))
		n.Cluster.Owner, n.Cluster.Template, n.Cluster.Provider = fmt.Sprintf("u%d", c%3), fmt.Sprintf("t%d", c%2), fmt.Sprintf("p%d", c%4)
		centre := centres[c%len(centres)]
		if centre != "" {
			n.Cluster.Labels = label.Labels{"cost-centre": centre, "team": "web"}
		}
		n.Definition.Hardware = map[string]template.Flavor{"small": {CPU: float64(c % 3)}}
		_, err := t.Store.CreateCluster(t.Ctx, n)
		t.Must(err)
		for _, node := range n.Nodes {
			m := stood{owner: n.Cluster.Owner, price: float64(random.IntN(4)) / 8, cpu: float64(c % 3), keys: map[usage.GroupBy]string{
				usage.ByNothing: "", usage.ByTenant: kit.Tenant, usage.ByUser: n.Cluster.Owner, usage.ByTemplate: n.Cluster.Template,
				usage.ByProvider: n.Cluster.Provider, usage.ByHardware: "small", usage.ByCluster: n.Cluster.ID, byCentre: centre}}
			m.made = begin.Add(time.Duration(random.Int64N(int64(days * 24 * time.Hour)))).Truncate(time.Microsecond)
			lived := time.Duration(random.Int64N(int64(time.Duration(1+random.IntN(60)*random.IntN(24)) * time.Hour))).Truncate(time.Microsecond)
			seen := app.Seen{Kind: fleet.ResourceMachine, ID: "m-" + node.Intent, Price: m.price, CreatedAt: m.made}
			t.Must(t.Store.NoteResources(t.Ctx, n.Cluster.Provider, node.Intent, m.made, []app.Seen{seen}))
			if end := m.made.Add(lived); end.Before(begin.Add(days * 24 * time.Hour)) {
				m.gone, seen.Deleted = end, true
				t.Must(t.Store.NoteResources(t.Ctx, n.Cluster.Provider, node.Intent, m.gone, []app.Seen{seen}))
			}
			all = append(all, m)
		}
	}
	t.Clock.Move(days * 24 * time.Hour)
	return all
}

// byHand is usage by the book: every machine against every part of the time.
func byHand(all []stood, f usage.Filter, owner string) map[string]usage.Sum {
	sums := map[string]usage.Sum{}
	begin := f.From
	if f.Step != usage.IntervalWhole {
		begin = f.Step.Start(f.From)
	}
	for at := begin; at.Before(f.To); {
		next := f.To
		if f.Step != usage.IntervalWhole {
			next = f.Step.Next(at)
		}
		for _, m := range all {
			if owner != "" && m.owner != owner {
				continue
			}
			a, b := m.made, m.gone
			if b.IsZero() || b.After(f.To) {
				b = f.To
			}
			for _, x := range []time.Time{f.From, at} {
				if a.Before(x) {
					a = x
				}
			}
			if b.After(next) {
				b = next
			}
			h := b.Sub(a).Hours()
			if h <= 0 {
				continue
			}
			key := at.Format(time.RFC3339Nano) + " " + m.keys[f.By]
			s := sums[key]
			s.NodeHours += h
			s.CoreHours += h * m.cpu
			s.Cost += h * m.price
			if m.price == 0 {
				s.Unpriced += h
			}
			sums[key] = s
		}
		at = next
	}
	return sums
}

func (t *moneyTest) usage() {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	all := t.machines(random)
	a := t.muster(t.Store)
	now := t.Clock.Now()
	same := func(x, y float64) bool { return math.Abs(x-y) < 1e-6 }
	groups := append(slices.Clone(usage.GroupBys), byCentre, byCentre)
	for range 60 {
		f := usage.Filter{By: groups[random.IntN(len(groups))], Step: usage.Intervals[random.IntN(len(usage.Intervals))]}
		f.To = now.Add(-time.Duration(random.Int64N(int64(60 * 24 * time.Hour)))).Truncate(time.Microsecond)
		f.From = f.To.Add(-time.Duration(random.Int64N(int64(60 * 24 * time.Hour)))).Truncate(time.Microsecond)
		if random.IntN(3) == 0 {
			f.From, f.To = usage.IntervalDay.Start(f.From), usage.IntervalDay.Start(f.To).Add(24*time.Hour)
		}
		who, owner := kit.Boss, ""
		if random.IntN(3) == 0 {
			who = app.Actor{Tenant: kit.Tenant, User: "u1", Role: app.RoleUser}
			if f.By != usage.ByTenant {
				owner = "u1"
			}
		}
		u, err := a.Usage.Usage(t.Ctx, who, f)
		t.Must(err)
		want := byHand(all, usage.Filter{From: u.From, To: u.To, By: f.By, Step: f.Step}, owner)
		name := fmt.Sprintf("%s to %s by %s a %s for %s", u.From, u.To, f.By, f.Step, who.User)
		total := usage.Sum{}
		for _, l := range u.Lines {
			key := l.Start.Format(time.RFC3339Nano) + " " + l.Key
			w := want[key]
			if !same(l.NodeHours, w.NodeHours) || !same(l.CoreHours, w.CoreHours) || !same(l.Cost, w.Cost) || !same(l.Unpriced, w.Unpriced) {
				t.Fatalf("%s: %s is %+v, want %+v", name, key, l.Sum, w)
			}
			delete(want, key)
			total.Cost += l.Cost
		}
		for key, w := range want {
			if w.NodeHours > 1e-6 {
				t.Fatalf("%s: %s is missing: %+v", name, key, w)
			}
		}
		if !same(total.Cost, u.Total.Cost) {
			t.Errorf("%s: the total is %g, the lines cost %g", name, u.Total.Cost, total.Cost)
		}
	}
	// What is to come is not counted, and other tenants see nothing of it.
	u, err := a.Usage.Usage(t.Ctx, kit.Boss, usage.Filter{From: now.Add(-time.Hour), To: now.Add(time.Hour)})
	t.Must(err)
	if !u.To.Equal(now) {
		t.Errorf("counted until %s", u.To)
	}
	u, err = a.Usage.Usage(t.Ctx, app.Actor{Tenant: "other", User: "u1", Role: app.RoleAdmin}, usage.Filter{From: now.AddDate(-1, 0, 0)})
	t.Must(err)
	if len(u.Lines) != 0 || u.Total != (usage.Sum{}) {
		t.Errorf("another tenant sees %+v", u)
	}
	root := app.Actor{Tenant: "other", User: "root", Role: app.RoleSuperadmin}
	u, err = a.Usage.UsageOfAll(t.Ctx, root, usage.Filter{From: now.AddDate(-1, 0, 0), By: usage.ByTenant})
	t.Must(err)
	if len(u.Lines) != 1 || u.Lines[0].Key != kit.Tenant {
		t.Errorf("of all tenants: %+v", u.Lines)
	}
	_, err = a.Usage.UsageOfAll(t.Ctx, kit.Boss, usage.Filter{})
	t.Code(err, app.EForbidden)
	for _, f := range []usage.Filter{{By: "colour"}, {Step: "decade"}, {From: now.Add(time.Hour)}, {From: now.AddDate(-1, 0, 0), Step: usage.IntervalHour},
		{From: now.AddDate(-11, 0, 0)}, {From: time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)}} {
		_, err := a.Usage.Usage(t.Ctx, kit.Boss, f)
		t.Code(err, app.EInvalid)
	}
}
