package change

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand"
	"slices"
	"sort"
	"strings"
	"testing"

	"muster/app"
	applayout "muster/app/layout"
	"muster/app/template"
	"muster/solver/solvertest"
)

// changeBrute goes through all that could become of every node, and all new nodes up to a number. It reads the template
// for itself. A set of services is a bit per service.
type changeBrute struct {
	c        *template.Catalog
	t        *template.Template
	r        applayout.ChangeRequest
	services []string // afterwards
	fate     []int    // per standing node: its services, -1 for gone
	fresh    []bruteNew
	news     []bruteNew
	found    bool
	best     []int // total where open, touched, new, odd, then the counts of kinds in order of preference
	kinds    []string
	maxNew   int
}

type bruteNew struct {
	services        int
	hardware, image string
	zone            string
}

func (b *changeBrute) bits(names []string) int {
	set := 0
	for _, n := range names {
		if i := slices.Index(b.services, n); i >= 0 {
			set |= 1 << i
		}
	}
	return set
}

func (b *changeBrute) named(set int) []string {
	var out []string
	for i, s := range b.services {
		if set&(1<<i) != 0 {
			out = append(out, s)
		}
	}
	return out
}

// fine reports whether Check finds nothing wrong with one node that does not hang on how many there are.
func (b *changeBrute) fine(set int, hardware, image, zone string) bool {
	t := *b.t
	t.Constraints.Services = map[string]template.ServiceConstraint{}
	for s, sc := range b.t.Constraints.Services {
		sc.Min, sc.MinSet = 0, true
		if sc.Max > 0 {
			sc.Max = template.Unlimited
		}
		t.Constraints.Services[s] = sc
	}
	t.Constraints.Ratios, t.Constraints.Hardware = nil, nil
	t.Constraints.Size = template.SizeRange{Min: 1, Max: 99}
	c := *b.c
	c.Templates = map[string]*template.Template{"t": &t}
	wrong := solvertest.Check(&c, applayout.Request{Template: "t", Services: b.services}, applayout.Layout{Provider: "p",
		Groups: []applayout.NodeGroup{{Count: 1, Hardware: hardware, Image: image, Zone: zone, Services: b.named(set)}}})
	for _, w := range wrong {
		if strings.HasPrefix(w, "Service ") && strings.Contains(w, " is on 0 nodes") || // written nowhere, so at least one
			strings.HasPrefix(w, "A group of 1 node has 0 services") || strings.HasPrefix(w, "Zone ") {
			continue
		}
		if strings.Contains(w, "which no constraint names") {
			limits := b.t.Constraints // the ratios were taken away above
			if slices.ContainsFunc(limits.Ratios, func(r template.Ratio) bool {
				return strings.Contains(w, "lacks "+r.Service+",") || strings.Contains(w, "lacks "+r.Of+",")
			}) {
				continue
			}
		}
		return false
	}
	return true
}

// company returns the services that must be wherever one of set is.
func (b *changeBrute) company(set int) int {
	for range b.services {
		for _, g := range b.t.Constraints.MustCoexist {
			if group := b.bits(g); group&set != 0 {
				set |= group
			}
		}
	}
	return set
}

func (b *changeBrute) run() {
	stands := map[string]bool{}
	for _, n := range b.r.Nodes {
		for _, s := range n.Services {
			stands[s] = true
		}
	}
	for s := range stands {
		if !slices.Contains(b.r.Remove, s) {
			b.services = append(b.services, s)
		}
	}
	b.services = append(b.services, b.r.Add...)
	sort.Strings(b.services)
	shrinks := b.r.Size > 0 && b.r.Size < len(b.r.Nodes) && !b.r.AllowMoves
	options := make([][]int, len(b.r.Nodes))
	every := 0
	for i, s := range b.services {
		if b.everywhere(s) {
			every |= 1 << i
		}
	}
	for i, n := range b.r.Nodes {
		base := b.bits(n.Services)
		for set := range 1 << len(b.services) {
			ok := b.fine(set, n.Hardware, n.Image, n.Zone) && (set != 0 || base == 0)
			if !b.r.AllowMoves {
				ok = ok && set&base == base
			}
			if shrinks { // existing services move to no other node
				ok = ok && set&^b.company(b.bits(b.r.Add)|base)&^every == 0
				for k, s := range b.services {
					has := 1 << k
					if set&has != 0 && base&has == 0 && stands[s] && every&has == 0 && b.company(has)&base == 0 {
						ok = false
					}
				}
			}
			if ok {
				options[i] = append(options[i], set)
			}
		}
		if shrinks || b.r.AllowMoves {
			options[i] = append(options[i], -1)
		}
	}
	for set := 1; set < 1<<len(b.services); set++ {
		if shrinks && (set&^every == 0 || b.bits(sortedKeys(stands))&set&^every != 0) {
			continue
		}
		b.news = append(b.news, b.newNodes(set)...)
	}
	b.kinds = b.kindsInOrder()
	b.fate = make([]int, len(b.r.Nodes))
	b.each(0, options)
}

func (b *changeBrute) everywhere(s string) bool {
	limits := b.t.Constraints
	_, named := limits.Services[s]
	return !named && !slices.Contains(slices.Concat(slices.Concat(limits.MustCoexist, limits.CantCoexist, limits.CantCoexistPairs)...), s) &&
		!slices.ContainsFunc(limits.Ratios, func(r template.Ratio) bool { return r.Service == s || r.Of == s })
}

func (b *changeBrute) newNodes(set int) (out []bruteNew) {
	hardware, image := b.likeExisting()
	if price := func(h string) float64 { return b.c.Hardware[h].Providers["p"].CostPerHour }; len(hardware) == 2 &&
		b.c.Hardware["h1"] != nil && b.r.Prefer == template.PreferCheapest && price("h1") < price("h0") {
		slices.Reverse(hardware)
	}
	zones := []string{""}
	if b.t.Constraints.Zones != nil {
		zones = b.c.Providers["p"].Zones
	}
	for _, h := range hardware {
		for _, i := range image {
			if b.c.Hardware[h] == nil || !b.fine(set, h, i, zones[0]) {
				continue
			}
			for _, z := range zones {
				out = append(out, bruteNew{set, h, i, z})
			}
			if !b.t.Constraints.MixedHardware {
				return out
			}
		}
	}
	return out
}

// likeExisting returns the types of new nodes: those of all that stand, if all services accept them.
func (b *changeBrute) likeExisting() (hardware, images []string) {
	hardware, images = []string{"h0", "h1"}, []string{"i0"}
	one := b.r.Nodes[0].Hardware
	for _, n := range b.r.Nodes {
		if n.Hardware != one {
			return hardware, images
		}
	}
	needs := template.Requirements{}
	for _, s := range b.services {
		if b.everywhere(s) {
			needs.MemoryGB += b.c.Services[s].Needs.MemoryGB
		}
	}
	for i, s := range b.services {
		sc := b.t.Constraints.Services[s]
		all := needs
		if !b.everywhere(s) {
			for _, other := range b.named(b.company(1 << i)) {
				all.MemoryGB += b.c.Services[other].Needs.MemoryGB
			}
		}
		if has := b.c.Hardware[one].Providers["p"].MemoryGB; len(sc.Hardware) > 0 && !slices.Contains(sc.Hardware, one) ||
			has > 0 && all.MemoryGB > has {
			return hardware, images
		}
	}
	if can := b.t.Compatibility.Hardware; len(can) > 0 && !slices.Contains(can, one) {
		return hardware, images
	}
	return []string{one}, images
}

func (b *changeBrute) kindsInOrder() []string {
	type kind struct {
		services []string
		hardware string
	}
	var all []kind
	for set := range 1 << len(b.services) {
		all = append(all, kind{b.named(set), "h0"}, kind{b.named(set), "h1"})
	}
	sort.Slice(all, func(i, j int) bool {
		x, y := all[i], all[j]
		if len(x.services) != len(y.services) {
			return len(x.services) > len(y.services)
		}
		if x.hardware != y.hardware {
			return x.hardware < y.hardware
		}
		return slices.Compare(x.services, y.services) < 0
	})
	var out []string
	for _, k := range all {
		out = append(out, k.hardware+" "+strings.Join(k.services, " "))
	}
	return out
}

func (b *changeBrute) each(at int, options [][]int) {
	if at < len(options) {
		for _, set := range options[at] {
			b.fate[at] = set
			b.each(at+1, options)
		}
		return
	}
	b.more(0)
}

// more tries the nodes so far, then with one more new one, and so on.
func (b *changeBrute) more(from int) {
	n := len(b.fresh)
	for _, set := range b.fate {
		n += intIf(set >= 0)
	}
	if b.r.Size == 0 || n == b.r.Size {
		b.judge()
	}
	if b.r.Size > 0 && n >= b.r.Size || b.r.Size == 0 && b.found && n >= b.best[0] {
		return
	}
	if len(b.fresh) == b.maxNew || !b.r.AllowMoves && b.r.Size == len(b.r.Nodes) {
		return
	}
	for i := from; i < len(b.news); i++ {
		b.fresh = append(b.fresh, b.news[i])
		b.more(i)
		b.fresh = b.fresh[:len(b.fresh)-1]
	}
}

func (b *changeBrute) judge() {
	score, layout := b.score()
	if b.found && slices.Compare(score[:4], b.best[:4]) > 0 {
		return
	}
	low, high := b.r.Size, b.r.Size
	if b.r.Size == 0 {
		low, high = max(len(b.r.Nodes), b.t.Constraints.Size.Min), b.t.Constraints.Size.Max
	}
	if n := layout.Size(); n < low || n > high || len(changeBreaks(b.c, b.r, b.services, layout)) > 0 {
		return
	}
	score = append(score, b.liking(layout)...)
	if !b.found || slices.Compare(score, b.best) < 0 {
		b.found, b.best = true, score
	}
}

// liking is what is preferred, as numbers of which the first that differ decide, and less is better.
func (b *changeBrute) liking(l applayout.Layout) []int {
	var out []int
	switch b.r.Prefer {
	case template.PreferCheapest:
		cost := 0.0
		for _, g := range l.Groups {
			cost += b.c.Hardware[g.Hardware].Providers["p"].CostPerHour
		}
		out = append(out, int(cost*100))
	case template.PreferSpread:
		for size := len(b.services); size > 0; size-- {
			count := 0
			for _, g := range l.Groups {
				count += intIf(len(g.Services) == size)
			}
			out = append(out, count)
		}
	}
	for _, k := range b.kinds {
		hardware, services, _ := strings.Cut(k, " ")
		count := 0
		for _, g := range l.Groups {
			count += intIf(g.Hardware == hardware && strings.Join(g.Services, " ") == services)
		}
		out = append(out, -count)
	}
	return out
}

func (b *changeBrute) score() ([]int, applayout.Layout) {
	layout := applayout.Layout{Provider: "p"}
	touched, odd := len(b.fresh), 0
	for i, set := range b.fate {
		n := b.r.Nodes[i]
		if set < 0 {
			touched++
			continue
		}
		is := b.named(set)
		layout.Groups = append(layout.Groups, applayout.NodeGroup{Count: 1, Hardware: n.Hardware, Image: n.Image, Zone: n.Zone, Services: is})
		touched += intIf(!slices.Equal(is, n.Services))
		for _, s := range append(without(is, n.Services), without(n.Services, is)...) {
			odd += intIf(!slices.Contains(b.r.Add, s) && !slices.Contains(b.r.Remove, s) && !b.everywhere(s))
		}
	}
	for _, n := range b.fresh {
		layout.Groups = append(layout.Groups, applayout.NodeGroup{Count: 1, Hardware: n.hardware, Image: n.image, Zone: n.zone,
			Services: b.named(n.services)})
	}
	total := 0
	if b.r.Size == 0 {
		total = layout.Size()
	}
	return []int{total, touched, len(b.fresh), odd}, layout
}

// changeBreaks returns what Check finds wrong, but for what is allowed where something exists: nodes that were left
// empty, and equal services on other types.
func changeBreaks(c *template.Catalog, r applayout.ChangeRequest, services []string, l applayout.Layout) []string {
	wrong := solvertest.Check(c, applayout.Request{Template: r.Template, Services: services}, l)
	return slices.DeleteFunc(wrong, func(s string) bool {
		return strings.Contains(s, "as well as") || strings.HasPrefix(s, "A group of 1 node has 0 services")
	})
}

// smallChange makes a random question.
func smallChange(r *rand.Rand, moves bool) (*template.Catalog, applayout.ChangeRequest) {
	c := template.NewCatalog()
	p := &template.ProviderSpec{About: template.About{Name: "p"}}
	c.Providers["p"] = p
	hardware := []string{"h0", "h1"}[:1+r.Intn(2)]
	for i, h := range hardware {
		c.Hardware[h] = &template.HardwareType{Providers: map[string]template.Flavor{"p": {Flavor: h, MemoryGB: float64(r.Intn(3) * (i + 2)),
			CostPerHour: float64(r.Intn(4)) / 4}}}
	}
	c.Images["i0"] = &template.ImageType{Providers: map[string]template.Image{"p": {Image: "m"}}}
	most := 4
	if moves {
		most = 3
	}
	all := []string{"a", "b", "c", "d"}[:1+r.Intn(most)]
	for _, s := range all {
		c.Services[s] = &template.Service{About: template.About{Name: s}}
		if r.Intn(3) == 0 {
			c.Services[s].Needs.MemoryGB = float64(r.Intn(3))
		}
	}
	t := &template.Template{About: template.About{Name: "t"}, Defaults: template.Defaults{Provider: "p"}}
	c.Templates["t"] = t
	standing := 1 + r.Intn(5)
	if moves {
		standing = 1 + r.Intn(3)
	}
	t.Constraints = smallConstraints(r, all, standing)
	if t.Constraints.Zones != nil {
		p.Zones = []string{"y", "z"}
	}
	q := applayout.ChangeRequest{Template: "t", AllowMoves: moves}
	q.Prefer = []template.Preference{"", template.PreferPacked, template.PreferCheapest, template.PreferSpread}[r.Intn(4)]
	var present []string
	for _, s := range all {
		if r.Intn(4) > 0 {
			present = append(present, s)
		}
	}
	for i := range standing {
		n := applayout.ExistingNode{Name: fmt.Sprint("n", i+1), Hardware: hardware[r.Intn(len(hardware))*r.Intn(2)], Image: "i0"}
		if p.Zones != nil {
			n.Zone = p.Zones[r.Intn(2)]
		}
		for range 4 { // rather one that keeps the constraints
			n.Services = nil
			for _, s := range present {
				if r.Intn(2) == 0 {
					n.Services = append(n.Services, s)
				}
			}
			b := &changeBrute{c: c, t: t, services: present}
			if len(n.Services) > 0 && b.fine(b.bits(n.Services), n.Hardware, n.Image, n.Zone) {
				break
			}
		}
		q.Nodes = append(q.Nodes, n)
	}
	stands := map[string]bool{}
	for _, n := range q.Nodes {
		for _, s := range n.Services {
			stands[s] = true
		}
	}
	for _, s := range all {
		switch {
		case !stands[s] && r.Intn(3) > 0:
			q.Add = append(q.Add, s)
		case stands[s] && r.Intn(6) == 0:
			q.Remove = append(q.Remove, s)
		}
	}
	if r.Intn(3) > 0 {
		q.Size = max(1, standing-2+r.Intn(5))
	}
	return c, q
}

func smallConstraints(r *rand.Rand, all []string, standing int) template.Constraints {
	pick := func(least int) []string {
		var out []string
		for _, i := range r.Perm(len(all))[:min(len(all), least+r.Intn(2))] {
			out = append(out, all[i])
		}
		return out
	}
	limits := template.Constraints{Services: map[string]template.ServiceConstraint{}, Size: template.SizeRange{Min: 1, Max: standing + 2}}
	for _, s := range all {
		if r.Intn(5) == 0 {
			continue
		}
		sc := template.ServiceConstraint{Max: template.Unlimited}
		if r.Intn(3) == 0 {
			sc.Min, sc.MinSet = r.Intn(3), true
		}
		if r.Intn(3) == 0 {
			sc.Max = max(1, sc.Min, r.Intn(standing+2))
		}
		if r.Intn(5) == 0 {
			sc.Hardware = []string{"h1"}
		}
		limits.Services[s] = sc
	}
	if r.Intn(4) == 0 {
		limits.MustCoexist = [][]string{pick(2)}
	}
	for range r.Intn(3) {
		limits.CantCoexist = append(limits.CantCoexist, pick(2))
	}
	if r.Intn(5) == 0 {
		limits.CantCoexistPairs = [][]string{pick(2)}
	}
	if r.Intn(4) == 0 && len(all) > 1 {
		two := r.Perm(len(all))
		limits.Ratios = []template.Ratio{{Service: all[two[0]], Per: 1 + r.Intn(3), Of: all[two[1]]}}
	}
	if r.Intn(4) == 0 {
		limits.Zones = &template.ZoneRule{MaxSkew: 1 + r.Intn(2)}
		if r.Intn(2) == 0 {
			limits.Zones.Services = pick(1)
		}
	}
	limits.MixedHardware = r.Intn(3) == 0
	if r.Intn(6) == 0 {
		limits.Hardware = map[string]int{"h0": 1 + r.Intn(4)}
	}
	return limits
}

var rounds = flag.Int("rounds", 200, "how many random changes to compare with brute force")

func TestChangeSameAsBruteForce(t *testing.T) {
	for _, moves := range []bool{false, true} {
		t.Run(fmt.Sprintf("moves %t", moves), func(t *testing.T) {
			rounds := *rounds
			if testing.Short() {
				rounds /= 8
			}
			possible, asked := 0, 0
			for seed := range rounds {
				c, q := smallChange(rand.New(rand.NewSource(int64(seed))), moves)
				done, ok := compareChange(t, seed, c, q)
				asked += intIf(done)
				possible += intIf(ok)
			}
			t.Logf("%d of %d could be asked, %d could be done", asked, rounds, possible)
			if possible < asked/5 || possible > asked*9/10 {
				t.Errorf("%d of %d could be done, which tests one side too little", possible, asked)
			}
		})
	}
}

func compareChange(t *testing.T, seed int, c *template.Catalog, q applayout.ChangeRequest) (asked, possible bool) {
	t.Helper()
	got, err := New().Change(context.Background(), c, q)
	if code := app.CodeOf(err); code == app.EInvalid || code == app.ENotFound {
		return false, false
	}
	b := &changeBrute{c: c, t: c.Templates["t"], r: q, maxNew: 3}
	if q.AllowMoves {
		b.maxNew = 5
	}
	b.run()
	say := func() string {
		return fmt.Sprintf("seed %d\n%+v\n%+v\n%v", seed, c.Templates["t"].Constraints, q, b.best)
	}
	if !b.found {
		if app.CodeOf(err) != app.ENoLayout {
			t.Fatalf("got %v, %+v, want no layout\n%s", err, got, say())
		}
		return true, false
	}
	if err != nil {
		t.Fatalf("got %v\n%s", err, say())
	}
	score := scoreOf(b, got)
	if slices.Compare(score, b.best[:4]) != 0 {
		t.Fatalf("got %v\n%s\n%s", score, inGrid(got), say())
	}
	checkChange(t, c, q, b.services, got)
	_, layout := b.score()
	if liked := b.liking(layout); !slices.Equal(liked, b.best[4:]) {
		t.Fatalf("got %v\n%s\n%s", liked, inGrid(got), say())
	}
	return true, true
}

// scoreOf takes an answer apart as score does.
func scoreOf(b *changeBrute, got applayout.Change) []int {
	b.fate, b.fresh = make([]int, len(b.r.Nodes)), nil
	for _, n := range got.Nodes {
		at := slices.IndexFunc(b.r.Nodes, func(s applayout.ExistingNode) bool { return s.Name == n.Name })
		switch {
		case n.New:
			b.fresh = append(b.fresh, bruteNew{b.bits(n.Services), n.Hardware, n.Image, n.Zone})
		case n.Deleted:
			b.fate[at] = -1
		default:
			b.fate[at] = b.bits(n.Services)
		}
	}
	score, _ := b.score()
	return score
}

func inGrid(ch applayout.Change) string {
	var b strings.Builder
	Text(&b, ch)
	return b.String()
}

// checkChange checks what must hold of every answer.
func checkChange(t *testing.T, c *template.Catalog, q applayout.ChangeRequest, services []string, got applayout.Change) {
	t.Helper()
	layout := applayout.Layout{Provider: cmp.Or(q.Provider, c.Templates[q.Template].Defaults.Provider)}
	touched := 0
	for _, n := range got.Nodes {
		if n.Deleted || n.New || len(n.Added)+len(n.Removed) > 0 {
			touched++
		}
		if !n.Deleted {
			layout.Groups = append(layout.Groups, applayout.NodeGroup{Count: 1, Hardware: n.Hardware, Image: n.Image, Zone: n.Zone,
				Services: n.Services})
		}
		if lost := without(n.Removed, q.Remove); len(lost) > 0 && !q.AllowMoves {
			t.Fatalf("%s lost %v\n%s", n.Name, lost, inGrid(got))
		}
	}
	if touched != got.Touched {
		t.Fatalf("says %d touched\n%s", got.Touched, inGrid(got))
	}
	if q.Size > 0 && layout.Size() != q.Size {
		t.Fatalf("%d nodes instead of %d\n%s", layout.Size(), q.Size, inGrid(got))
	}
	if wrong := changeBreaks(c, q, services, layout); len(wrong) > 0 {
		t.Fatalf("%s\n%s\n%+v", strings.Join(wrong, "\n"), inGrid(got), c.Templates[q.Template].Constraints)
	}
}
