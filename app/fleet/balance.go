package fleet

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"muster/app"
)

// Demand is what a tenant has to do that needs a provisioner with certain tags.
type Demand struct {
	Tenant string
	Needs  map[string]string
	Steps  int           // that could be carried out at the same time
	Rest   time.Duration // to the end of the operation which is nearest to its end
}

// BalanceHost is a provisioner as the balance sees it. Holds are the slots that each tenant has now.
type BalanceHost struct {
	ID    string
	Slots int
	Tags  map[string]string
	Only  []string // tenants that it may be given; empty: any
	Holds map[string]int
}

// BalanceRules are what else a balance obeys.
type BalanceRules struct {
	Most int             // slots of one tenant; 0: no limit
	Own  map[string]int  // of those tenants that have a limit of their own, whatever Most is
	Keep map[string]bool // tenants without demand that keep what they have as long as no one else needs it
}

// Balance assigns the slots of provisioners to tenants. The answer holds, for each host, the slots of each tenant that has
// some there. It is pure; the order of its arguments does not matter.
//
// Shares are max-min fair: no tenant could have more without one that has no more than it getting less, whatever tags are
// asked for. Where a slot is left for one of several, the tenant whose operation is nearest to its end gets it, so short
// demands do not wait behind long ones. As little as possible moves: a tenant keeps the slots that it has where it has them,
// more than its demand even, until someone else needs them. New slots are taken where most are free.
func Balance(demands []Demand, hosts []BalanceHost, rules BalanceRules) map[string]map[string]int {
	b := newBalance(demands, hosts, rules)
	targets := b.fairShares()
	b.keepWithin(targets)
	b.fill(targets)
	b.keepSpare()
	b.giveSpare()
	out := make(map[string]map[string]int, len(hosts))
	for h, host := range b.hosts {
		out[host.ID] = map[string]int{}
		for tenant, n := range b.shares[h] {
			if n > 0 {
				out[host.ID][tenant] = n
			}
		}
	}
	return out
}

// want is one demand; flow says how many slots of each host serve it.
type want struct {
	Demand
	fits []int // hosts with its tags
	flow map[int]int
	got  int
}

type balance struct {
	hosts  []BalanceHost
	rules  BalanceRules
	wants  []*want            // by tenant
	byName map[string][]*want // of a tenant
	names  []string           // tenants with demand
	free   []int              // slots of each host that serve no demand
	counts bool               // only how many slots are found matters yet, not which
	shares []map[string]int   // what each host returns, in the end
}

func newBalance(demands []Demand, hosts []BalanceHost, rules BalanceRules) *balance {
	b := &balance{hosts: slices.Clone(hosts), rules: rules, byName: map[string][]*want{}}
	slices.SortFunc(b.hosts, func(x, y BalanceHost) int { return cmp.Compare(x.ID, y.ID) })
	merged := map[string]*want{}
	for _, d := range demands {
		key := d.Tenant + "\x00" + app.TagText(d.Needs)
		switch w := merged[key]; {
		case d.Steps <= 0:
		case w == nil:
			merged[key] = &want{Demand: d}
		default:
			w.Steps += d.Steps
			w.Rest = min(w.Rest, d.Rest)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(merged)) {
		w := merged[key]
		for h, host := range b.hosts {
			if app.HasTags(host.Tags, w.Needs) && (len(host.Only) == 0 || slices.Contains(host.Only, w.Tenant)) {
				w.fits = append(w.fits, h)
			}
		}
		b.wants = append(b.wants, w)
		b.byName[w.Tenant] = append(b.byName[w.Tenant], w)
	}
	b.names = slices.Sorted(maps.Keys(b.byName))
	b.reset()
	return b
}

func (b *balance) reset() {
	b.free = make([]int, len(b.hosts))
	for h := range b.hosts {
		b.free[h] = max(b.hosts[h].Slots, 0)
	}
	for _, w := range b.wants {
		w.flow, w.got = map[int]int{}, 0
	}
}

// most reports whether a tenant with n slots may have one more.
func (b *balance) most(tenant string, n int) bool {
	if own := b.rules.Own[tenant]; own > 0 {
		return n < own
	}
	return b.rules.Most <= 0 || n < b.rules.Most
}

// fairShares assigns each demand its number of slots: the one with the least gets one more, for as long as there is a way to
// give it one. Slots that are taken move to where they serve as well, so tags never make a share smaller than it must be.
func (b *balance) fairShares() map[*want]int {
	rest := map[string]time.Duration{}
	for _, name := range b.names {
		for i, w := range b.byName[name] {
			if i == 0 || w.Rest < rest[name] {
				rest[name] = w.Rest
			}
		}
	}
	first := func(x, y string) int { return cmp.Or(cmp.Compare(rest[x], rest[y]), cmp.Compare(x, y)) }
	hungry := slices.SortedFunc(slices.Values(b.names), first)
	b.counts = true
	// Every round returns one slot to each of those that are left, so they always have the same number.
	for level := 0; len(hungry) > 0; level++ {
		hungry = slices.DeleteFunc(hungry, func(name string) bool { return !b.most(name, level) || !b.oneMore(name) })
	}
	targets := make(map[*want]int, len(b.wants))
	for _, w := range b.wants {
		targets[w] = w.got
	}
	b.counts = false
	b.reset()
	return targets
}

// oneMore adds a slot to a tenant, for whichever of its demands there is a way.
func (b *balance) oneMore(tenant string) bool {
	for _, w := range b.byName[tenant] {
		if w.got < w.Steps && b.augment(w) {
			return true
		}
	}
	return false
}

// roomiest picks the host with a free slot where a demand is served best: one that it has already, then the one with the
// most room that no one holds, then the one with the most room.
func (b *balance) roomiest(w *want) (best int, ok bool) {
	var bestOwn bool
	var bestRoom, bestFree int
	for _, h := range w.fits {
		if b.free[h] <= 0 {
			continue
		}
		own, room := false, b.free[h]
		if !b.counts {
			own = b.spare(h, w.Tenant) > 0
			for tenant := range b.hosts[h].Holds {
				if tenant != w.Tenant {
					room -= b.spare(h, tenant)
				}
			}
		}
		if !ok || own && !bestOwn || own == bestOwn && (room > bestRoom || room == bestRoom && b.free[h] > bestFree) {
			best, ok, bestOwn, bestRoom, bestFree = h, true, own, room, b.free[h]
		}
	}
	return best, ok
}

// serves counts the slots of a host that serve a tenant's demand.
func (b *balance) serves(h int, tenant string) (n int) {
	for _, w := range b.byName[tenant] {
		n += w.flow[h]
	}
	return n
}

// spare is what a tenant holds on a host beyond what its demand needs there, where it may keep it.
func (b *balance) spare(h int, tenant string) int {
	wants := b.byName[tenant]
	if len(wants) == 0 && !b.rules.Keep[tenant] {
		return 0
	}
	if len(wants) > 0 && !slices.ContainsFunc(wants, func(w *want) bool { return slices.Contains(w.fits, h) }) {
		return 0
	}
	return max(b.hosts[h].Holds[tenant]-b.serves(h, tenant), 0)
}

// keepWithin lets every demand keep slots that its tenant has, as many as its target allows. Among a tenant's own slots this
// is the same question as the whole, so it is answered in the same way.
func (b *balance) keepWithin(targets map[*want]int) {
	for _, name := range b.names {
		own := &balance{hosts: slices.Clone(b.hosts), byName: map[string][]*want{}, counts: true}
		for h := range own.hosts {
			own.hosts[h].Slots = min(b.hosts[h].Holds[name], b.free[h])
		}
		wanted := map[*want]int{}
		for _, w := range b.byName[name] {
			twin := &want{Demand: w.Demand, fits: w.fits}
			own.wants = append(own.wants, twin)
			wanted[twin] = targets[w]
		}
		own.reset()
		own.fill(wanted)
		for i, w := range b.byName[name] {
			for _, h := range w.fits {
				for range own.wants[i].flow[h] {
					b.take(w, h)
				}
			}
		}
	}
}

// fill brings every demand to its target, in turns. There is a way, since the targets were found by one.
func (b *balance) fill(targets map[*want]int) {
	for more := true; more; {
		more = false
		for _, w := range b.wants {
			if w.got < targets[w] && b.augment(w) {
				more = true
			}
		}
	}
}

// keepSpare lets tenants keep what they hold beyond their demand, as far as the slots serve no one else; in turns.
func (b *balance) keepSpare() {
	b.shares = make([]map[string]int, len(b.hosts))
	totals := map[string]int{}
	for h := range b.hosts {
		b.shares[h] = map[string]int{}
		for _, name := range b.names {
			if n := b.serves(h, name); n > 0 {
				b.shares[h][name] = n
				totals[name] += n
			}
		}
	}
	for h, host := range b.hosts {
		left := map[string]int{}
		for tenant := range host.Holds {
			left[tenant] = b.spare(h, tenant)
		}
		b.inTurns(h, totals, slices.Sorted(maps.Keys(left)), func(tenant string) bool {
			left[tenant]--
			return left[tenant] >= 0
		})
	}
}

// giveSpare returns slots that no one needs to those who are at work on the same host, so that more work finds them there.
func (b *balance) giveSpare() {
	totals := map[string]int{}
	for _, shares := range b.shares {
		for tenant, n := range shares {
			totals[tenant] += n
		}
	}
	for h := range b.hosts {
		var here []string
		for _, name := range b.names {
			if b.shares[h][name] > 0 {
				here = append(here, name)
			}
		}
		b.inTurns(h, totals, here, func(string) bool { return true })
	}
}

// inTurns returns the free slots of a host to tenants, one each, as long as they may take more.
func (b *balance) inTurns(h int, totals map[string]int, tenants []string, takes func(string) bool) {
	for more := true; more; {
		more = false
		for _, tenant := range tenants {
			if b.free[h] > 0 && b.most(tenant, totals[tenant]) && takes(tenant) {
				b.shares[h][tenant]++
				totals[tenant]++
				b.free[h]--
				more = true
			}
		}
	}
}
