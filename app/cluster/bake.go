package cluster

import (
	"context"
	"fmt"
	"time"

	"muster/app/bake"
	"muster/app/humanize"
	appplan "muster/app/plan"
	"muster/app/template"
)

// Images finds the baked images that new nodes start from.
type Images interface {
	// ForCreate returns them by node, and a sentence for each reason why installs are not baked. A template whose images are not baked has none.
	ForCreate(ctx context.Context, tenant, template string, p *template.ProviderSpec, nodes []appplan.Node, d Definition,
		hooks []template.OperationHook) (*bake.Use, []string, error)
}

// startBaked has the nodes of a draft start from the longest layers that exist.
func (a *Creates) startBaked(ctx context.Context, tenant string, p *template.ProviderSpec, d *Draft,
	hooks []template.OperationHook) (notes []string, err error) {
	if a.Images == nil || p == nil {
		return nil, nil
	}
	if d.Definition.Baked, notes, err = a.Images.ForCreate(ctx, tenant, d.Template.Name, p, d.Nodes, d.Definition, hooks); err != nil {
		return nil, err
	}
	for i, n := range d.Nodes {
		if image := d.Definition.Baked.Of(n.Name); image != nil {
			d.Nodes[i].Baked = image.Services
		}
	}
	return notes, nil
}

// BakedNotes say what a plan saves by baked images, and what isn't baked.
func BakedNotes(p appplan.Plan, notes []string) []string {
	if len(p.Baked) == 0 {
		return notes
	}
	words := humanize.Count(len(p.Baked), "node") + " start from a baked image"
	if len(p.Baked) == 1 {
		words = "1 node starts from a baked image"
	}
	if p.Saves >= time.Second {
		words += fmt.Sprintf(": saves about %s", humanize.Duration(p.Saves))
	}
	return append([]string{words + "."}, notes...)
}
