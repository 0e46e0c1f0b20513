package image

import (
	"context"
	"slices"
	"strings"

	"muster/app"
	"muster/app/bake"
	"muster/app/cluster"
	"muster/app/plan"
	"muster/app/template"
)

// FinderStore is what a finder needs of the database.
type FinderStore interface {
	// ReadyImages returns the provider's names of a tenant's images that machines can start from, by key.
	ReadyImages(ctx context.Context, tenant string) (map[string]string, error)
}

// FinderConfig is what a finder is created from. Only what says so may be nil.
type FinderConfig struct {
	Store FinderStore
	// Inputs says what an install sees of a configuration; nil: nothing is baked.
	Inputs bake.Inputs
	// Bakes reports whether a type of provider can make images of machines; nil: none can.
	Bakes func(kind string) bool
}

// Finder finds the images that nodes start from.
type Finder struct{ FinderConfig }

// NewFinder returns one on top of what c holds.
func NewFinder(c FinderConfig) *Finder {
	if c.Bakes == nil || c.Inputs == nil {
		c.Bakes = func(string) bool { return false }
	}
	return &Finder{FinderConfig: c}
}

var _ cluster.Images = (*Finder)(nil)

// group is nodes that are alike.
type group struct {
	node   plan.Node // the first of them
	names  []string
	layers []bake.Layer
	stop   bake.Stop
}

// groups puts nodes together that have the same layers.
func (f *Finder) groups(tenant string, p *template.ProviderSpec, nodes []plan.Node, d cluster.Definition, hooks []template.OperationHook) []*group {
	var list []*group
	known := map[string]*group{}
	for _, n := range nodes {
		flavor := d.Hardware[n.Hardware]
		id := strings.Join(append([]string{n.Zone, n.Image, flavor.Extra["user_data"]}, n.Services...), "\x00")
		g := known[id]
		if g == nil {
			g = &group{node: n}
			g.layers, g.stop = bake.Layers(bake.Node{Provider: p, Tenant: tenant, Zone: n.Zone, Image: d.Images[n.Image], Services: n.Services, Entries: d.Services,
				Config: d.Config, Hooks: hooks, Hardware: flavor}, f.Inputs)
			known[id] = g
			list = append(list, g)
		}
		g.names = append(g.names, n.Name)
	}
	return list
}

// left says why installs are not baked, each once.
func left(groups []*group) (out []string) {
	for _, g := range groups {
		if text := g.stop.Text(); text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// ForCreate implements cluster.Images.
func (f *Finder) ForCreate(ctx context.Context, tenant, name string, p *template.ProviderSpec, nodes []plan.Node, d cluster.Definition,
	hooks []template.OperationHook) (*bake.Use, []string, error) {
	if !f.Bakes(p.Type) {
		return nil, nil, nil
	}
	ready, err := f.Store.ReadyImages(ctx, tenant)
	if err != nil || len(ready) == 0 {
		return nil, nil, err
	}
	use := &bake.Use{}
	groups := f.groups(tenant, p, nodes, d, hooks)
	for _, g := range groups {
		for _, l := range slices.Backward(g.layers) {
			image := ready[l.Key]
			if image == "" {
				continue
			}
			for _, node := range g.names {
				use.Add(node, bake.Image{Key: l.Key, Image: image, Services: l.Services, Configs: l.Configs})
			}
			break
		}
	}
	if len(use.Nodes) == 0 {
		return nil, nil, nil
	}
	return use, left(groups), nil
}

// recipes are the images to build for nodes: of each kind of node the longest layer, the shortest first, since others may start from it.
func (f *Finder) recipes(tenant, name, provider string, groups []*group, d cluster.Definition) (list []Image) {
	for _, g := range groups {
		if len(g.layers) == 0 {
			continue
		}
		l := g.layers[len(g.layers)-1]
		if slices.ContainsFunc(list, func(i Image) bool { return i.Key == l.Key }) {
			continue
		}
		r := Recipe{Layer: bake.Image{Key: l.Key, Services: l.Services, Configs: l.Configs}, Node: g.node, Definition: cluster.Definition{
			Services: map[string]*template.Service{}, Hardware: map[string]template.Flavor{g.node.Hardware: d.Hardware[g.node.Hardware]},
			Images: map[string]template.Image{g.node.Image: d.Images[g.node.Image]}}}
		r.Node.Name, r.Node.Services, r.Node.Baked, r.Node.Bakes = "n1", slices.Sorted(slices.Values(l.Services)), nil, true
		r.Definition.Baked = &bake.Use{}
		r.Definition.Baked.Add(r.Node.Name, r.Layer)
		for _, s := range l.Services {
			r.Definition.Config = template.MergeConfig(r.Definition.Config, l.Configs[s])
			r.Definition.Services[s] = installOnly(d.Services[s])
		}
		list = append(list, Image{Tenant: tenant, Key: l.Key, Template: name, Provider: provider, Zone: g.node.Zone, Hardware: g.node.Hardware, Base: g.node.Image,
			Services: l.Services, State: StateWaiting, Recipe: r})
	}
	slices.SortStableFunc(list, func(a, b Image) int { return len(a.Services) - len(b.Services) })
	return list
}

// installOnly leaves of a service what is done for an image.
func installOnly(s *template.Service) *template.Service {
	return &template.Service{About: s.About, Provides: s.Provides, Install: s.Install,
		Actions: map[app.Action]*template.ServiceAction{app.ActionInstall: s.Actions[app.ActionInstall]}}
}
