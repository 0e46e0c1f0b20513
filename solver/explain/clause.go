package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"muster/app/humanize"
	"muster/app/layout"
	"muster/app/template"
	"muster/solver/internal/request"
)

// The kinds of clauses, as app.Clause states them.
const (
	kindSize          = "size"
	kindMin           = "min"
	kindMax           = "max"
	kindPlaced        = "placed"
	kindMust          = "must_coexist"
	kindCant          = "cant_coexist"
	kindHardware      = "hardware"
	kindImage         = "image"
	kindResources     = "resources"
	kindRatio         = "ratio"
	kindZones         = "zones"
	kindHosts         = "hosts"
	kindCompatibility = "compatibility"
)

// clause is one constraint, with how it is put on a draft and what could be changed about it. remedies are in order of
// preference; the last one leaves nothing of the clause. Those of the size are found by asking, so it has none here; and
// nothing can be done about empty nodes but with other clauses.
type clause struct {
	layout.Clause
	put      func(d *draft)
	remedies []remedy
}

// add takes a clause, unless one with the same words is there already.
func (q *question) add(k clause, format string, args ...any) {
	k.Text = fmt.Sprintf(format, args...)
	if slices.ContainsFunc(k.Services, func(s string) bool { return !slices.Contains(q.services, s) }) || q.texts[k.Text] {
		return
	}
	q.texts[k.Text] = true
	q.clauses = append(q.clauses, &k)
}

// written starts a clause from the template, at a path.
func (q *question) written(kind, path string, services ...string) clause {
	return clause{Clause: layout.Clause{Kind: kind, Services: services, Origin: q.template.At(path).String()}}
}

// limited starts a clause from the template under a service.
func (q *question) limited(kind, s, key string) clause {
	path := "constraints.services." + s
	return clause{Clause: layout.Clause{Kind: kind, Services: []string{s}, Origin: q.template.At(path+"."+key, path, "defaults.services."+s).String()}}
}

// list takes the question apart. Constraints that say nothing about this request are left out.
func (q *question) list() {
	q.listSize()
	everywhere := q.unnamed()
	for _, s := range q.services {
		c, written := q.template.Constraints.Services[s]
		q.listMinimum(s, c, everywhere[s])
		if written {
			q.listMaximum(s, c)
			q.listTypes(s, c)
		}
		q.listNeeds(s)
	}
	q.listGroups()
	q.listRatios()
	q.listZones()
	q.listHardware()
	q.listHosts()
	q.listAsked()
	q.listCompatible()
}

// unnamed returns the services that no constraint names, so that they run on every node.
func (q *question) unnamed() map[string]bool {
	c := q.template.Constraints
	out := map[string]bool{}
	for _, s := range q.services {
		_, named := c.Services[s]
		out[s] = !named
	}
	for _, s := range slices.Concat(slices.Concat(c.MustCoexist, c.CantCoexist, c.CantCoexistPairs)...) {
		delete(out, s)
	}
	for _, r := range c.Ratios {
		delete(out, r.Service)
		delete(out, r.Of)
	}
	return out
}

func (q *question) listSize() {
	n := q.request.Size
	q.add(clause{Clause: layout.Clause{Kind: kindSize}, put: func(d *draft) { d.size = n }}, "%s %s requested", humanize.Count(n, "node"), was(n))
	k := clause{Clause: layout.Clause{Kind: kindPlaced}, put: func(d *draft) { d.filled = true }}
	q.add(k, "every node must run a service")
}

func was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

func (q *question) listMinimum(s string, c template.ServiceConstraint, everywhere bool) {
	switch {
	case everywhere:
		k := q.written(kindPlaced, "defaults.services."+s, s)
		k.put = func(d *draft) { d.onAll[s] = true }
		k.remedies = []remedy{notEverywhere(s)}
		q.add(k, "%s runs on every node, since no constraint names it", s)
	case c.Min > 0:
		k := q.limited(kindMin, s, "min")
		k.put = func(d *draft) { d.limit(s).Min = c.Min }
		k.remedies = []remedy{lowerMin(s, c.Min)}
		q.add(k, "%s must be on at least %s (min %d)", s, humanize.Count(c.Min, "node"), c.Min)
	case !c.MinSet:
		k := q.limited(kindPlaced, s, "min")
		k.put = func(d *draft) { d.limit(s).Min = 1 }
		k.remedies = []remedy{leaveOut(s)}
		q.add(k, "every requested service must run somewhere: %s", s)
	}
}

func (q *question) listMaximum(s string, c template.ServiceConstraint) {
	if c.Max >= template.Unlimited {
		return
	}
	k := q.limited(kindMax, s, "max")
	k.put = func(d *draft) { d.limit(s).Max = c.Max }
	k.remedies = []remedy{raiseMax(s, max(0, c.Max), q.most())}
	if c.Max <= 0 {
		q.add(k, "%s can't be on any node (max %d)", s, c.Max)
		return
	}
	q.add(k, "%s can be on at most %s (max %d)", s, humanize.Count(c.Max, "node"), c.Max)
}

// most is a number of nodes that no change has to go beyond.
func (q *question) most() int {
	most := q.request.Size
	for _, s := range q.services {
		most = max(most, q.template.Constraints.Services[s].Min)
	}
	return most + 1
}

func (q *question) listTypes(s string, c template.ServiceConstraint) {
	if len(c.Hardware) > 0 {
		k := q.limited(kindHardware, s, "hardware")
		k.put = func(d *draft) { d.limit(s).Hardware = c.Hardware }
		k.remedies = allowType(request.Hardware, s, c.Hardware, q.byPrice())
		q.add(k, "%s can only be on hardware %s%s", s, humanize.Or(c.Hardware), q.lacking(c.Hardware, q.hardware))
	}
	if len(c.Images) > 0 {
		k := q.limited(kindImage, s, "images")
		k.put = func(d *draft) { d.limit(s).Images = c.Images }
		k.remedies = allowType(request.Images, s, c.Images, q.images)
		q.add(k, "%s can only be on image %s%s", s, humanize.Or(c.Images), q.lacking(c.Images, q.images))
	}
}

// lacking says that the provider has none of the types of a list, where that is so.
func (q *question) lacking(list, offered []string) string {
	if slices.ContainsFunc(list, func(name string) bool { return slices.Contains(offered, name) }) {
		return ""
	}
	if len(list) == 1 {
		return fmt.Sprintf(", which provider %s doesn't have", q.provider)
	}
	return fmt.Sprintf(", none of which provider %s has", q.provider)
}

func (q *question) listNeeds(s string) {
	service := q.catalog.Services[s]
	needs := inWhat(service.Needs)
	if needs == "" {
		return
	}
	k := clause{Clause: layout.Clause{Kind: kindResources, Services: []string{s}, Origin: service.At("needs").String()}}
	k.put = func(d *draft) {
		d.limit(s)
		d.needs[s] = true
	}
	k.remedies = []remedy{needLess(s, service.Needs)}
	q.add(k, "%s needs %s%s", s, needs, q.tooMuch(service.Needs))
}

// tooMuch says of what a service needs more than any hardware of the provider has, where that is so.
func (q *question) tooMuch(needs template.Requirements) string {
	compare := func(need float64, has func(f template.Flavor) float64) string {
		most := 0.0
		for _, name := range q.hardware {
			n := has(q.catalog.Hardware[name].Providers[q.provider])
			if n <= 0 || n >= need { // what is not stated is not limited
				return ""
			}
			most = max(most, n)
		}
		return fmt.Sprintf(", but no hardware of provider %s has more than %g", q.provider, most)
	}
	return cmp.Or(compare(needs.CPU, func(f template.Flavor) float64 { return f.CPU }),
		cmp.Or(compare(needs.MemoryGB, func(f template.Flavor) float64 { return f.MemoryGB }),
			compare(needs.DiskGB, func(f template.Flavor) float64 { return f.DiskGB })), q.tooManyGPUs(needs.GPUs))
}

// tooManyGPUs is tooMuch for GPUs, of which hardware has none where it does not state any.
func (q *question) tooManyGPUs(need int) string {
	most := 0
	for _, name := range q.hardware {
		most = max(most, q.catalog.Hardware[name].Providers[q.provider].GPUs)
	}
	switch {
	case need <= most:
		return ""
	case most == 0:
		return fmt.Sprintf(", but no hardware of provider %s has one", q.provider)
	}
	return fmt.Sprintf(", but no hardware of provider %s has more than %d", q.provider, most)
}

func (q *question) listGroups() {
	c := q.template.Constraints
	for i, g := range c.MustCoexist {
		if g = q.present(g); len(g) > 1 {
			k := q.written(kindMust, groupPath("must_coexist", i), g...)
			k.put = func(d *draft) { d.limits.MustCoexist = append(d.limits.MustCoexist, d.touch(g)) }
			k.remedies = []remedy{dropMust(g, q.present)}
			q.add(k, "%s must share their nodes", humanize.And(g))
		}
	}
	for i, written := range c.CantCoexist { // complete on no node where a service is not asked for
		if g := q.present(written); len(g) > 0 && len(g) == len(request.Distinct(written)) {
			q.addCant(g, groupPath("cant_coexist", i))
		}
	}
	for i, g := range c.CantCoexistPairs {
		if g = q.present(g); len(g) == 2 {
			q.addCant(g, groupPath("cant_coexist_pairs", i))
		} else if len(g) > 2 {
			k := q.written(kindCant, groupPath("cant_coexist_pairs", i), g...)
			k.put = func(d *draft) { d.limits.CantCoexistPairs = append(d.limits.CantCoexistPairs, d.touch(g)) }
			k.remedies = append(allowPairs(g), dropPairs(g, q.present))
			q.add(k, "no two of %s can share a node", humanize.And(g))
		}
	}
}

func groupPath(key string, i int) string { return fmt.Sprintf("constraints.%s[%d]", key, i) }

func (q *question) addCant(g []string, path string) {
	k := q.written(kindCant, path, g...)
	k.put = func(d *draft) { d.limits.CantCoexist = append(d.limits.CantCoexist, d.touch(g)) }
	k.remedies = []remedy{dropCant(g, q.present)}
	switch len(g) {
	case 1:
		q.add(k, "%s alone is a group that can't coexist, so it can't be on any node", g[0])
	case 2:
		q.add(k, "%s can't share a node", humanize.And(g))
	default:
		q.add(k, "%s can't all be on one node", humanize.And(g))
	}
}

// present cuts a group down to the services of the request, by name.
func (q *question) present(group []string) []string {
	return slices.DeleteFunc(request.Distinct(group), func(s string) bool { return !slices.Contains(q.services, s) })
}

// touch makes the services of a group ones that some clause speaks of.
func (d *draft) touch(group []string) []string {
	for _, s := range group {
		d.limit(s)
	}
	return group
}

func (q *question) listRatios() {
	for i, r := range q.template.Constraints.Ratios {
		k := q.written(kindRatio, groupPath("ratios", i), r.Service, r.Of)
		k.put = func(d *draft) {
			d.touch([]string{r.Service, r.Of})
			d.limits.Ratios = append(d.limits.Ratios, r)
		}
		k.remedies = []remedy{widenRatio(r, q.most()), dropRatio(r)}
		if r.Per <= 1 {
			q.add(k, "%s must be on at least as many nodes as %s (ratio 1 per 1)", r.Service, r.Of)
			continue
		}
		q.add(k, "%s needs 1 node for every %d with %s, rounded up", r.Service, r.Per, r.Of)
	}
}

func (q *question) listZones() {
	z := q.template.Constraints.Zones
	if z == nil {
		return
	}
	rule := template.ZoneRule{MaxSkew: z.MaxSkew, Services: q.present(z.Services)}
	if len(z.Services) > 0 && len(rule.Services) == 0 {
		if q.pooled() { // all that is left of the rule is that hosts elsewhere are no use
			k := q.written(kindZones, "constraints.zones")
			k.put = func(d *draft) { d.limits.Zones = z }
			k.remedies = []remedy{dropZones()}
			q.add(k, "nodes can only be in the zones of provider %s", q.provider)
		}
		return
	}
	k := q.written(kindZones, "constraints.zones", rule.Services...)
	k.put = func(d *draft) {
		d.touch(rule.Services)
		d.limits.Zones = &rule
	}
	k.remedies = []remedy{raiseSkew(max(1, z.MaxSkew), q.most()), dropZones()}
	who := ""
	if len(rule.Services) > 0 {
		who = " with " + humanize.And(rule.Services)
	}
	if len(rule.Services) > 1 {
		who = " with each of " + humanize.And(rule.Services)
	}
	q.add(k, "the zones of provider %s can differ by at most %s%s (max skew %d)", q.provider,
		humanize.Count(max(1, z.MaxSkew), "node"), who, z.MaxSkew)
}

func (q *question) listHardware() {
	limits := q.template.Constraints.Hardware
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		if !slices.Contains(q.hardware, name) {
			continue
		}
		n := max(0, limits[name])
		k := q.written(kindHardware, "constraints.hardware."+name)
		k.put = func(d *draft) {
			if d.limits.Hardware == nil {
				d.limits.Hardware = map[string]int{}
			}
			d.limits.Hardware[name] = n
		}
		k.remedies = []remedy{raiseHardware(name, n, q.most())}
		q.add(k, "at most %s can have hardware %s", humanize.Count(n, "node"), name)
	}
	if (len(limits) > 0 || q.pooled()) && !q.template.Constraints.MixedHardware {
		k := q.written(kindHardware, "constraints.mixed_hardware")
		k.put = func(d *draft) { d.limits.MixedHardware = false }
		k.remedies = []remedy{mixHardware()}
		q.add(k, "nodes with the same services must have the same hardware and image (no mixed hardware)")
	}
}

// listAsked lists the hardware and image type that the request, or else the template, wants.
func (q *question) listAsked() {
	t, r := q.template, q.request
	if name := cmp.Or(r.Hardware, t.Defaults.Hardware); name != "" {
		k := clause{Clause: layout.Clause{Kind: kindHardware}, put: func(d *draft) { d.hardware = name }}
		k.remedies = otherTypes(request.Hardware, name, q.byPrice())
		k.Origin = q.defaultOrigin(r.Hardware, "hardware")
		q.add(k, "hardware %s %s", name, whoAsked(r.Hardware))
	}
	if name := cmp.Or(r.Image, t.Defaults.Image); name != "" {
		k := clause{Clause: layout.Clause{Kind: kindImage}, put: func(d *draft) { d.image = name }}
		k.remedies = otherTypes(request.Images, name, q.images)
		k.Origin = q.defaultOrigin(r.Image, "image")
		q.add(k, "image %s %s", name, whoAsked(r.Image))
	}
}

func (q *question) defaultOrigin(asked, key string) string {
	if asked != "" {
		return ""
	}
	return q.template.At("defaults." + key).String()
}

func whoAsked(asked string) string {
	if asked != "" {
		return "was requested"
	}
	return "is the template's default"
}

func (q *question) listCompatible() {
	list := q.template.Compatibility
	if len(list.Hardware) > 0 {
		k := q.written(kindCompatibility, "compatibility.hardware")
		k.put = func(d *draft) { d.compatibility.Hardware = list.Hardware }
		k.remedies = compatibleType(request.Hardware, list.Hardware, q.byPrice())
		q.add(k, "the template allows only hardware %s", humanize.Or(list.Hardware))
	}
	if len(list.Images) > 0 {
		k := q.written(kindCompatibility, "compatibility.images")
		k.put = func(d *draft) { d.compatibility.Images = list.Images }
		k.remedies = compatibleType(request.Images, list.Images, q.images)
		q.add(k, "the template allows only image %s", humanize.Or(list.Images))
	}
}

// inWhat says what a service takes of its node; "" where it says nothing.
func inWhat(r template.Requirements) string {
	var out []string
	if r.CPU > 0 {
		out = append(out, fmt.Sprintf("%g CPU", r.CPU))
	}
	if r.MemoryGB > 0 {
		out = append(out, fmt.Sprintf("%g GB of memory", r.MemoryGB))
	}
	if r.DiskGB > 0 {
		out = append(out, fmt.Sprintf("%g GB of disk", r.DiskGB))
	}
	if r.GPUs > 0 {
		out = append(out, humanize.Count(r.GPUs, "GPU"))
	}
	return humanize.And(out)
}
