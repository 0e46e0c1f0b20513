package solver

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"muster/app"
	"muster/app/layout"
	"muster/app/template"
	"muster/solver/internal/load"
	"muster/solver/internal/request"
)

// problem is a request narrowed to what decides the layout: every name it holds is known, allowed and sorted.
type problem struct {
	provider   string
	size       int
	hardware   []string    // candidates, by name
	images     []string    // candidates, by name
	services   []string    // all that were asked for, by name
	everywhere []string    // those without any constraint: they run on every node
	blocks     []block     // the others, by the name of their first service
	base       load.Load   // what those that go everywhere take of each node
	offers     []load.Load // what each hardware candidate has to give
	cant       [][]int     // blocks (by number) never all on one node
	ratios     []ratio
	limits     []int // per hardware candidate: how many nodes may be of it
	mixed      bool
	prefer     template.Preference
	zoneRule   *template.ZoneRule
	zones      []string
	pool       *hostPool // nil where machines are made as they are needed
	named      map[string]bool
	catalog    *template.Catalog
}

// block is a number of services that must coexist: a node has all of them or none. A service without such company is a
// block of its own.
type block struct {
	services []string // sorted
	min, max int      // nodes: the tightest of its services
	hardware []int    // candidates that all its services accept, ascending
	images   []int
	needs    load.Load
	cant     bool // its own services may not coexist, so it goes nowhere
}

// ratio asks for at least one node with a block for every per nodes with another.
type ratio struct{ service, per, of int }

// mostNodes is the most that is solved for. It is more than a cluster can have, since explanations look for layouts around it.
const mostNodes = 4 * template.MaxNodes

// narrow checks the request in the order in which Coopr does, and returns the problem that is left.
func narrow(c *template.Catalog, r layout.Request) (*problem, error) {
	if r.Size <= 0 {
		return nil, request.Refuse(app.EInvalid, request.BadRequest, "size", "Choose at least 1 node (you entered %d)", r.Size)
	}
	if r.Size > mostNodes {
		return nil, request.Refuse(app.EInvalid, request.WrongSize, "size", "a cluster has at most %d nodes, not %d", template.MaxNodes, r.Size)
	}
	t := c.Templates[r.Template]
	if t == nil {
		return nil, request.Refuse(app.ENotFound, request.MissingTemplate, "template", "cluster template %s doesn't exist.", r.Template)
	}
	if size := t.Constraints.Size; !size.Allows(r.Size) {
		return nil, request.Refuse(app.EInvalid, request.WrongSize, "size", "%s", size.Refusal(r.Size))
	}
	p := &problem{size: r.Size, provider: cmp.Or(r.Provider, t.Defaults.Provider), catalog: c}
	if p.provider == "" {
		return nil, request.Refuse(app.EInvalid, request.MissingProvider, "provider",
			"template %s has no default provider; name one in the request.", t.Name)
	}
	if c.Providers[p.provider] == nil {
		return nil, request.Refuse(app.ENotFound, request.MissingProvider, "provider", "provider %s doesn't exist.", p.provider)
	}
	if err := p.takeTypes(c, t, r); err != nil {
		return nil, err
	}
	if err := p.takeServices(c, t, r); err != nil {
		return nil, err
	}
	if err := p.takeRules(c, t, r); err != nil {
		return nil, err
	}
	p.takeConstraints(t)
	p.takeHosts(t, r)
	return p, nil
}

// takeRules takes the preference and the rules that are about no single service.
func (p *problem) takeRules(c *template.Catalog, t *template.Template, r layout.Request) error {
	p.prefer, p.mixed = request.Preferred(r.Prefer, t), t.Constraints.MixedHardware
	switch p.prefer {
	case "":
		p.prefer = template.PreferPacked
	case template.PreferPacked, template.PreferCheapest, template.PreferSpread:
	default:
		return &app.Error{Code: app.EInvalid, Reason: request.BadRequest, Field: "prefer",
			Message: fmt.Sprintf("unknown preference %s.", r.Prefer), Hint: "Use packed, cheapest or spread."}
	}
	if t.Constraints.Zones != nil {
		for _, zone := range c.Providers[p.provider].Zones {
			if !slices.Contains(p.zones, zone) {
				p.zones = append(p.zones, zone)
			}
		}
		if p.zoneRule = t.Constraints.Zones; len(p.zones) == 0 {
			return &app.Error{Code: app.EInvalid, Reason: request.BadRequest, Field: "provider",
				Message: fmt.Sprintf("template %s requires zones, and provider %s has none.", t.Name, p.provider),
				Hint:    "Add zones to the provider in the catalog, or remove the zones from the template's constraints."}
		}
	}
	for _, name := range p.hardware {
		limit, limited := t.Constraints.Hardware[name]
		if !limited {
			limit = template.Unlimited
		}
		p.limits = append(p.limits, limit)
	}
	return nil
}

// takeTypes finds the hardware and image types that template, provider and request leave.
func (p *problem) takeTypes(c *template.Catalog, t *template.Template, r layout.Request) error {
	want := cmp.Or(r.Hardware, t.Defaults.Hardware)
	for name, h := range c.Hardware {
		if limit, limited := t.Constraints.Hardware[name]; limited && limit <= 0 {
			continue
		}
		if request.Allowed(name, want, t.Compatibility.Hardware) && h.Providers[p.provider].Flavor != "" {
			p.hardware = append(p.hardware, name)
		}
	}
	if len(p.hardware) == 0 {
		return request.Refuse(app.EInvalid, request.NoHardwareTypes, "hardware",
			"no hardware types are available to use with template %s and provider %s", r.Template, p.provider)
	}
	want = cmp.Or(r.Image, t.Defaults.Image)
	for name, i := range c.Images {
		if request.Allowed(name, want, t.Compatibility.Images) && i.Providers[p.provider].Image != "" {
			p.images = append(p.images, name)
		}
	}
	if len(p.images) == 0 {
		return request.Refuse(app.EInvalid, request.NoImageTypes, "image",
			"no image types are available to use with template %s and provider %s", r.Template, p.provider)
	}
	sort.Strings(p.hardware)
	sort.Strings(p.images)
	return nil
}

// takeServices checks that the services exist, may be used, and have what they require.
func (p *problem) takeServices(c *template.Catalog, t *template.Template, r layout.Request) error {
	asked := r.Services
	if len(asked) == 0 {
		asked = t.Defaults.Services
	}
	if len(asked) == 0 {
		return request.Refuse(app.EInvalid, request.BadRequest, "services", "a cluster needs at least one service")
	}
	p.named = make(map[string]bool, len(asked))
	var unfit []string
	for _, name := range asked { // in the order of the request, which is how the message lists them
		if p.named[name] {
			continue
		}
		p.named[name] = true
		p.services = append(p.services, name)
		if len(t.Compatibility.Services) > 0 && !slices.Contains(t.Compatibility.Services, name) {
			unfit = append(unfit, name)
		}
	}
	if len(unfit) > 0 {
		return request.Refuse(app.EInvalid, request.IncompatibleServices, "services", "%s are incompatible with the cluster",
			strings.Join(unfit, ","))
	}
	sort.Strings(p.services)
	for _, name := range p.services {
		if c.Services[name] == nil {
			return request.Refuse(app.ENotFound, request.MissingService, "services", "service %s doesn't exist", name)
		}
	}
	if lines := p.missing(c); len(lines) > 0 {
		return request.Refuse(app.EInvalid, request.MissingDependency, "services", "%s", strings.Join(lines, "\n"))
	}
	if lines := p.conflicts(c); len(lines) > 0 {
		return request.Refuse(app.EInvalid, request.ConflictingServices, "services", "%s", strings.Join(lines, "\n"))
	}
	return nil
}

// missing returns a line for every requirement that neither a service's name nor what a service provides fulfils.
func (p *problem) missing(c *template.Catalog) []string {
	have := make(map[string]bool, len(p.services))
	for _, name := range p.services {
		have[name] = true
		for _, alias := range c.Services[name].Provides {
			have[alias] = true
		}
	}
	var lines []string
	for _, name := range p.services {
		s := c.Services[name]
		for _, need := range slices.Concat(s.Install.Requires, s.Runtime.Requires) {
			line := fmt.Sprintf("%s requires %s, which isn't on the cluster.", name, need)
			if !have[need] && !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	sort.Strings(lines)
	return lines
}

// conflicts returns a line for every service that names another one of the cluster as its enemy. As in Coopr only
// services' own names count here, not what they provide.
func (p *problem) conflicts(c *template.Catalog) []string {
	var lines []string
	for _, name := range p.services {
		for _, enemy := range c.Services[name].Conflicts {
			line := fmt.Sprintf("%s conflicts with %s.", name, enemy)
			if p.named[enemy] && !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	sort.Strings(lines)
	return lines
}
