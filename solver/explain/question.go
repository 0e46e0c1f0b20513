package explain

import (
	"cmp"
	"context"
	"math"
	"slices"

	"muster/app"
	"muster/app/layout"
	apptemplate "muster/app/template"
	"muster/solver/internal/request"
)

// question is a request without a layout, taken apart into clauses.
type question struct {
	ctx      context.Context
	solver   layout.Solver
	catalog  *apptemplate.Catalog
	template *apptemplate.Template
	request  layout.Request
	provider string
	services []string // asked for, by name
	hardware []string // what the provider has, by name, whether allowed or not
	images   []string
	clauses  []*clause // in the order in which people should read them
	texts    map[string]bool
	ended    bool // ctx was done while something was asked
}

func newQuestion(ctx context.Context, s layout.Solver, c *apptemplate.Catalog, r layout.Request) *question {
	t := c.Templates[r.Template]
	q := &question{ctx: ctx, solver: s, catalog: c, template: t, request: r, provider: cmp.Or(r.Provider, t.Defaults.Provider),
		services: askedFor(t, r), texts: map[string]bool{}}
	q.hardware, q.images = request.Offered(c, q.provider)
	q.list()
	return q
}

// askedFor returns the services of the request, by name and each once.
func askedFor(t *apptemplate.Template, r layout.Request) []string {
	services := slices.Clone(r.Services)
	if len(services) == 0 {
		services = slices.Clone(t.Defaults.Services)
	}
	slices.Sort(services)
	return slices.Compact(services)
}

// byPrice returns the hardware that the provider has, what costs least first; what has no known price comes last.
func (q *question) byPrice() []string {
	price := func(name string) float64 {
		if c := q.catalog.Hardware[name].Providers[q.provider].CostPerHour; c > 0 {
			return c
		}
		return math.Inf(1)
	}
	return slices.SortedStableFunc(slices.Values(q.hardware), func(a, b string) int { return cmp.Compare(price(a), price(b)) })
}

// ask reports whether there is a layout. known is false where the time was over first, and then stays so.
func (q *question) ask(c *apptemplate.Catalog, r layout.Request) (found, known bool) {
	if q.ended {
		return false, false
	}
	r.Prefer = apptemplate.PreferPacked // all preferences choose among the same layouts, and this one is found fastest
	err := ask(q.ctx, q.solver, c, r)
	q.ended = app.CodeOf(err) == app.ETimeout
	return err == nil, !q.ended
}

// possible reports whether there is a layout that keeps the clauses, all others left out.
func (q *question) possible(clauses []*clause) (found, known bool) {
	d := q.draft(clauses)
	if d.size > 0 {
		return q.ask(q.stated(d, d.size))
	}
	n, known := q.anySize(d)
	return n > 0, known
}

// anySize finds a number of nodes on which a draft has a layout; 0 where it finds none.
//
// As many nodes as all minima add up to are enough if any number is: everything could stand alone. Nor are they too
// many, since no maximum is below its minimum then. That argument fails where hardware is limited, or where ratios and
// zones bind counts to each other, so there smaller and some larger numbers are tried as well.
func (q *question) anySize(d *draft) (n int, known bool) {
	for _, n := range d.sizes() {
		if found, known := q.ask(q.stated(d, n)); found || !known {
			return n, known
		}
	}
	return 0, true
}

// scanned is how many sizes are tried one by one, where they have to be tried.
const scanned = 64

func (d *draft) sizes() []int {
	n := d.alone()
	out := []int{n}
	if len(d.limits.Hardware) == 0 && len(d.limits.Ratios) == 0 && d.limits.Zones == nil && d.pool == nil {
		return out
	}
	for i := range min(n-1, scanned) {
		out = append(out, n-1-i)
	}
	for i := n - 2*scanned; i > 0; i -= max(1, i/4) {
		out = append(out, i)
	}
	for i := range 4 {
		out = append(out, n+1+i)
	}
	return append(out, 2*n)
}

// alone is the number of nodes if nothing shared one: the minima of all that must coexist, added up, where a ratio may
// raise a minimum.
func (d *draft) alone() int {
	leader := request.Leaders{}
	for s := range d.written {
		leader[s] = s
	}
	for _, g := range d.limits.MustCoexist {
		leader.Join(g)
	}
	need := map[string]int{}
	least := func(s string, n int) bool {
		if top := leader.Find(s); need[top] < n {
			need[top] = n
			return true
		}
		return false
	}
	for s, c := range d.written {
		least(s, c.Min)
	}
	for again, round := true, 0; again && round < 64; round++ { // ratios can run in a circle
		again = false
		for _, r := range d.limits.Ratios {
			of := need[leader.Find(r.Of)]
			again = least(r.Service, (of+max(1, r.Per)-1)/max(1, r.Per)) || again
		}
	}
	sum := 0
	for _, n := range need {
		sum = min(sum+n, math.MaxInt32/4)
	}
	return max(1, sum)
}

// draft is a request in the making: at first everything goes, and clauses restrict it.
type draft struct {
	written         map[string]*apptemplate.ServiceConstraint // services that some clause speaks of, but not on every node
	onAll           map[string]bool
	needs           map[string]bool         // whose needs count
	limits          apptemplate.Constraints // groups, ratios, zones, hardware
	compatibility   apptemplate.Compatibility
	pool            *layout.HostPool
	hardware, image string
	size            int  // 0: any
	filled          bool // no node may stay empty
}

// filler is a service that may be on any node and nowhere has to be, so that no node needs to stay empty.
const filler = "(nothing)"

func (q *question) draft(clauses []*clause) *draft {
	d := &draft{written: map[string]*apptemplate.ServiceConstraint{}, onAll: map[string]bool{}, needs: map[string]bool{}}
	d.limits.MixedHardware = q.template.Constraints.MixedHardware || len(q.template.Constraints.Hardware) > 0 || q.pooled()
	for _, k := range clauses {
		k.put(d)
	}
	return d
}

// limit returns the constraint of a service, which is at first that it may be anywhere or nowhere.
func (d *draft) limit(s string) *apptemplate.ServiceConstraint {
	if d.written[s] == nil {
		d.written[s] = &apptemplate.ServiceConstraint{MinSet: true, Max: apptemplate.Unlimited}
	}
	return d.written[s]
}

// stated puts a draft in the words of a catalog. Services of which no clause speaks are left out, since they could be on
// every node as well as on none; one of them stays where no node may be empty.
func (q *question) stated(d *draft, size int) (*apptemplate.Catalog, layout.Request) {
	c, t := *q.catalog, *q.template
	c.Services = map[string]*apptemplate.Service{}
	t.Constraints = d.limits
	t.Constraints.Size = apptemplate.SizeRange{Min: 1, Max: apptemplate.Unlimited}
	t.Constraints.Services = map[string]apptemplate.ServiceConstraint{}
	t.Compatibility = d.compatibility
	t.Defaults.Hardware, t.Defaults.Image = "", ""
	var services []string
	if !d.filled {
		c.Services[filler] = &apptemplate.Service{}
		services = append(services, filler)
	}
	free := d.filled
	// Where nodes with the same services are alike, one that is free tells nodes apart; and a host may be closed to some of
	// those that are free.
	telling := !d.limits.MixedHardware && len(d.limits.Hardware) > 0 || d.pool != nil
	for _, s := range q.services {
		one := &apptemplate.Service{About: q.catalog.Services[s].About}
		limits := d.written[s]
		switch {
		case d.onAll[s]:
		case limits != nil:
			t.Constraints.Services[s] = *limits
		case d.needs[s]:
			t.Constraints.Services[s] = apptemplate.ServiceConstraint{MinSet: true, Max: apptemplate.Unlimited}
		case telling:
			t.Constraints.Services[s] = apptemplate.ServiceConstraint{MinSet: true, Max: apptemplate.Unlimited}
		case free:
			free = false
		default:
			continue
		}
		if d.needs[s] {
			one.Needs = q.catalog.Services[s].Needs
		}
		c.Services[s] = one
		services = append(services, s)
	}
	t.Defaults.Services = services
	c.Templates = map[string]*apptemplate.Template{q.request.Template: &t}
	return &c, layout.Request{Template: q.request.Template, Size: size, Provider: q.provider, Services: services,
		Hardware: d.hardware, Image: d.image, Prefer: q.request.Prefer, Pool: d.pool}
}
