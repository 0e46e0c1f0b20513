package fleet_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/fleet"

	"pgregory.net/rapid"
)

// text writes an assignment as "a: t1=2 t2=1; b: t1=4".
func shareText(shares map[string]map[string]int) string {
	var hosts []string
	for _, h := range slices.Sorted(maps.Keys(shares)) {
		var parts []string
		for _, t := range slices.Sorted(maps.Keys(shares[h])) {
			parts = append(parts, fmt.Sprintf("%s=%d", t, shares[h][t]))
		}
		hosts = append(hosts, h+": "+strings.Join(parts, " "))
	}
	return strings.Join(hosts, "; ")
}

func host(id string, slots int, holds map[string]int, tags ...string) fleet.BalanceHost {
	h := fleet.BalanceHost{ID: id, Slots: slots, Holds: holds, Tags: map[string]string{}}
	for _, t := range tags {
		k, v, _ := strings.Cut(t, "=")
		h.Tags[k] = v
	}
	return h
}

func wants(tenant string, steps int, tags ...string) fleet.Demand {
	return fleet.Demand{Tenant: tenant, Steps: steps, Needs: host("", 0, nil, tags...).Tags, Rest: time.Hour}
}

func TestBalance(t *testing.T) {
	short := wants("z", 9)
	short.Rest = time.Second
	type holds = map[string]int
	for _, c := range []struct {
		name    string
		demands []fleet.Demand
		hosts   []fleet.BalanceHost
		rules   fleet.BalanceRules
		want    string
	}{
		{"no one asks", nil, []fleet.BalanceHost{host("a", 4, nil)}, fleet.BalanceRules{}, "a: "},
		{"there is no one to ask", []fleet.Demand{wants("x", 3)}, nil, fleet.BalanceRules{}, ""},
		{"a tenant alone gets all, more than it asks for", []fleet.Demand{wants("x", 1)}, []fleet.BalanceHost{host("a", 16, nil)}, fleet.BalanceRules{}, "a: x=16"},
		{"two who want everything share", []fleet.Demand{wants("x", 99), wants("y", 99)}, []fleet.BalanceHost{host("a", 9, nil)}, fleet.BalanceRules{}, "a: x=5 y=4"},
		{"the short one first", []fleet.Demand{wants("x", 99), short}, []fleet.BalanceHost{host("a", 9, nil)}, fleet.BalanceRules{}, "a: x=4 z=5"},
		{"small demands are met whole", []fleet.Demand{wants("x", 99), wants("y", 2), wants("z", 1)}, []fleet.BalanceHost{host("a", 9, nil)}, fleet.BalanceRules{}, "a: x=6 y=2 z=1"},
		{"a new tenant takes what another holds to spare", []fleet.Demand{wants("x", 3), wants("y", 2)}, []fleet.BalanceHost{host("a", 16, holds{"x": 16})}, fleet.BalanceRules{}, "a: x=14 y=2"},
		{"what is met stays as it is", []fleet.Demand{wants("x", 3), wants("y", 2)}, []fleet.BalanceHost{host("a", 16, holds{"x": 12, "y": 4})}, fleet.BalanceRules{}, "a: x=12 y=4"},
		{"a tenant without demand keeps its worker for a while", []fleet.Demand{wants("x", 3)}, []fleet.BalanceHost{host("a", 8, holds{"x": 2, "y": 4})},
			fleet.BalanceRules{Keep: map[string]bool{"y": true}}, "a: x=4 y=4"},
		{"and hands it over when someone needs it", []fleet.Demand{wants("x", 30)}, []fleet.BalanceHost{host("a", 8, holds{"y": 8})},
			fleet.BalanceRules{Keep: map[string]bool{"y": true}}, "a: x=8"},
		{"and loses it after a while", nil, []fleet.BalanceHost{host("a", 8, holds{"y": 8})}, fleet.BalanceRules{}, "a: "},
		{"a provisioner that joins takes load at once", []fleet.Demand{wants("x", 99)}, []fleet.BalanceHost{host("a", 4, holds{"x": 4}), host("b", 4, nil)}, fleet.BalanceRules{}, "a: x=4; b: x=4"},
		{"new slots are taken where most are free", []fleet.Demand{wants("x", 4), wants("y", 2)}, []fleet.BalanceHost{host("a", 4, holds{"x": 4}), host("b", 4, nil)}, fleet.BalanceRules{}, "a: x=4; b: y=4"},
		{"no one moves when a tenant leaves", []fleet.Demand{wants("x", 2), wants("y", 4)}, []fleet.BalanceHost{host("a", 4, holds{"x": 2, "z": 2}), host("b", 4, holds{"y": 4})}, fleet.BalanceRules{}, "a: x=4; b: y=4"},
		{"tags", []fleet.Demand{wants("x", 4, "region=eu")}, []fleet.BalanceHost{host("a", 4, nil), host("b", 2, nil, "region=eu", "disk=ssd")}, fleet.BalanceRules{}, "a: ; b: x=2"},
		{"who can go elsewhere makes room for who cannot", []fleet.Demand{wants("x", 4), wants("y", 4, "region=eu")},
			[]fleet.BalanceHost{host("a", 4, nil), host("b", 4, holds{"x": 4}, "region=eu")}, fleet.BalanceRules{}, "a: x=4; b: y=4"},
		{"two demands of one tenant are one share", []fleet.Demand{wants("x", 9), wants("x", 9, "region=eu"), wants("y", 9)},
			[]fleet.BalanceHost{host("a", 6, nil, "region=eu")}, fleet.BalanceRules{}, "a: x=3 y=3"},
		{"a limit of each tenant", []fleet.Demand{wants("x", 9)}, []fleet.BalanceHost{host("a", 6, nil), host("b", 6, nil)}, fleet.BalanceRules{Most: 5}, "a: x=3; b: x=2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := shareText(fleet.Balance(c.demands, c.hosts, c.rules)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

type problem struct {
	demands []fleet.Demand
	hosts   []fleet.BalanceHost
	rules   fleet.BalanceRules
}

func drawProblem(t *rapid.T) problem {
	var p problem
	tenants := []string{"a", "b", "c", "d"}
	tag := rapid.SampledFrom([]map[string]string{nil, {"r": "eu"}, {"r": "us"}, {"d": "ssd"}, {"r": "eu", "d": "ssd"}})
	for i := range rapid.IntRange(0, 4).Draw(t, "hosts") {
		h := fleet.BalanceHost{ID: fmt.Sprint("h", i), Slots: rapid.IntRange(0, 6).Draw(t, "slots"), Tags: tag.Draw(t, "tags"), Holds: map[string]int{}}
		left := h.Slots
		for _, tenant := range tenants {
			n := rapid.IntRange(0, left).Draw(t, "holds")
			if left -= n; n > 0 {
				h.Holds[tenant] = n
			}
		}
		p.hosts = append(p.hosts, h)
	}
	for range rapid.IntRange(0, 6).Draw(t, "demands") {
		p.demands = append(p.demands, fleet.Demand{Tenant: rapid.SampledFrom(tenants).Draw(t, "tenant"), Needs: tag.Draw(t, "needs"),
			Steps: rapid.IntRange(0, 9).Draw(t, "steps"), Rest: time.Duration(rapid.IntRange(0, 3).Draw(t, "rest"))})
	}
	p.rules.Most = rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "most")
	p.rules.Keep = map[string]bool{}
	for _, tenant := range tenants {
		if rapid.Bool().Draw(t, "keep") {
			p.rules.Keep[tenant] = true
		}
	}
	return p
}

// served returns, for every tenant, the most of its demand that an assignment can serve: the slots that a tenant has on a host
// are good for whichever of its demands the host's tags allow.
func served(p problem, shares map[string]map[string]int, tenant string) int {
	var wants []fleet.Demand
	for _, d := range p.demands {
		if d.Tenant == tenant {
			wants = append(wants, d)
		}
	}
	best := 0
	var try func(h, done int, left []int)
	try = func(h, done int, left []int) {
		if h == len(p.hosts) {
			best = max(best, done)
			return
		}
		var spread func(i, free, done int)
		spread = func(i, free, done int) {
			if i == len(wants) {
				try(h+1, done, left)
				return
			}
			most := 0
			if app.HasTags(p.hosts[h].Tags, wants[i].Needs) {
				most = min(free, left[i])
			}
			for n := most; n >= 0; n-- {
				left[i] -= n
				spread(i+1, free-n, done+n)
				left[i] += n
			}
		}
		spread(0, shares[p.hosts[h].ID][tenant], done)
	}
	left := make([]int, len(wants))
	for i, d := range wants {
		left[i] = d.Steps
	}
	try(0, 0, left)
	return best
}

func TestBalanceInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		shares := fleet.Balance(p.demands, p.hosts, p.rules)
		totals, demand := map[string]int{}, map[string]int{}
		for _, d := range p.demands {
			demand[d.Tenant] += d.Steps
		}
		for _, h := range p.hosts {
			sum := 0
			for tenant, n := range shares[h.ID] {
				if n <= 0 {
					t.Fatalf("%s has %d slots of %s", tenant, n, h.ID)
				}
				sum += n
				totals[tenant] += n
				able := slices.ContainsFunc(p.demands, func(d fleet.Demand) bool {
					return d.Tenant == tenant && d.Steps > 0 && app.HasTags(h.Tags, d.Needs)
				})
				if !able && n > h.Holds[tenant] {
					t.Fatalf("%s got slots of %s, which cannot serve it: %s", tenant, h.ID, shareText(shares))
				}
				if demand[tenant] == 0 && !p.rules.Keep[tenant] {
					t.Fatalf("%s has nothing to do and keeps a worker: %s", tenant, shareText(shares))
				}
			}
			if sum > h.Slots {
				t.Fatalf("%s has %d of %d slots", h.ID, sum, h.Slots)
			}
		}
		if p.rules.Most > 0 {
			for tenant, n := range totals {
				if n > p.rules.Most && n > held(p, tenant) {
					t.Fatalf("%s has %d slots, at most %d are allowed", tenant, n, p.rules.Most)
				}
			}
		}
		// What was assigned is found good the next time: nothing moves without a reason.
		again := problem{demands: p.demands, rules: p.rules}
		for _, h := range p.hosts {
			h.Holds = shares[h.ID]
			again.hosts = append(again.hosts, h)
		}
		if next := fleet.Balance(again.demands, again.hosts, again.rules); !reflect.DeepEqual(next, shares) {
			t.Fatalf("it does not rest:\n%s\n%s", shareText(shares), shareText(next))
		}
		slices.Reverse(p.demands)
		slices.Reverse(p.hosts)
		if other := fleet.Balance(p.demands, p.hosts, p.rules); !reflect.DeepEqual(other, shares) {
			t.Fatalf("the order matters:\n%s\n%s", shareText(shares), shareText(other))
		}
	})
}

func held(p problem, tenant string) (n int) {
	for _, h := range p.hosts {
		n += h.Holds[tenant]
	}
	return n
}

// The fair shares are compared with those that trying every assignment finds.
func TestBalanceIsFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		if len(p.hosts) > 2 {
			p.hosts = p.hosts[:2]
		}
		for i := range p.hosts {
			p.hosts[i].Slots = min(p.hosts[i].Slots, 4)
			p.hosts[i].Holds = nil
		}
		if len(p.demands) > 3 {
			p.demands = p.demands[:3]
		}
		shares := fleet.Balance(p.demands, p.hosts, p.rules)
		var got []int
		for _, tenant := range tenantsOf(p) {
			got = append(got, served(p, shares, tenant))
		}
		slices.Sort(got)
		if best := fairest(p); slices.Compare(got, best) != 0 {
			t.Fatalf("served %v, but %v is possible: %s", got, best, shareText(shares))
		}
	})
}

func tenantsOf(p problem) []string {
	set := map[string]bool{}
	for _, d := range p.demands {
		if d.Steps > 0 {
			set[d.Tenant] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// fairest tries every way to give each slot to a demand, and returns the lexicographically greatest sorted list of what
// the tenants get.
func fairest(p problem) []int {
	tenants := tenantsOf(p)
	got := make([]int, len(tenants))
	left := make([]int, len(p.demands))
	for i, d := range p.demands {
		left[i] = d.Steps
	}
	var best []int
	var try func(h, slots, from int)
	try = func(h, slots, from int) {
		if h == len(p.hosts) {
			now := slices.Clone(got)
			slices.Sort(now)
			if best == nil || slices.Compare(now, best) > 0 {
				best = now
			}
			return
		}
		next := func() {
			if h+1 < len(p.hosts) {
				try(h+1, p.hosts[h+1].Slots, 0)
			} else {
				try(h+1, 0, 0)
			}
		}
		if slots > 0 {
			for i := from; i < len(p.demands); i++ { // slots of a host are alike, so their users come in order
				d := p.demands[i]
				at := slices.Index(tenants, d.Tenant)
				if left[i] == 0 || !app.HasTags(p.hosts[h].Tags, d.Needs) || p.rules.Most > 0 && got[at] >= p.rules.Most {
					continue
				}
				left[i]--
				got[at]++
				try(h, slots-1, i)
				got[at]--
				left[i]++
			}
		}
		next()
	}
	if len(p.hosts) == 0 {
		return got
	}
	try(0, p.hosts[0].Slots, 0)
	return best
}

func BenchmarkBalance(b *testing.B) {
	var p problem
	for i := range 100 {
		p.hosts = append(p.hosts, fleet.BalanceHost{ID: fmt.Sprint("h", i), Slots: 64})
		p.demands = append(p.demands, fleet.Demand{Tenant: fmt.Sprint("t", i), Steps: 10 * i})
	}
	for b.Loop() {
		fleet.Balance(p.demands, p.hosts, fleet.BalanceRules{})
	}
}

func TestTenantsWithSlotsOfTheirOwn(t *testing.T) {
	hosts := []fleet.BalanceHost{{ID: "a", Slots: 20, Holds: map[string]int{"big": 9}}, {ID: "b", Slots: 20}}
	demands := []fleet.Demand{{Tenant: "big", Steps: 100}, {Tenant: "small", Steps: 100}, {Tenant: "other", Steps: 100}}
	got := fleet.Balance(demands, hosts, fleet.BalanceRules{Most: 4, Own: map[string]int{"big": 6, "small": 1}})
	total := map[string]int{}
	for _, shares := range got {
		for tenant, n := range shares {
			total[tenant] += n
		}
	}
	if want := map[string]int{"big": 6, "small": 1, "other": 4}; !maps.Equal(total, want) {
		t.Errorf("slots %v, want %v: its own number counts, be it more or less than that of all", total, want)
	}
}
