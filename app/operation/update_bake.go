package operation

import (
	"context"

	"muster/app"
	appplan "muster/app/plan"
)

// startBaked has the machines that an update creates start from the longest layers that exist, and returns why installs aren't baked. Nodes are changed in
// place. Machines in an account of the user's own can't see the images, which are in the provider's.
func (a *Builder) startBaked(ctx context.Context, d *updateBuilder, nodes []appplan.Node) (left []string, err error) {
	var fresh []appplan.Node
	for _, n := range nodes {
		if n.Change == appplan.NodeNew || n.Change == appplan.NodeReplaced {
			fresh = append(fresh, n)
		}
	}
	spec := d.catalog.Providers[d.Provider]
	if len(fresh) == 0 || a.Images == nil || spec == nil || d.reused != nil { // a machine that exists starts from no image
		return nil, nil
	}
	if d.again {
		d.definition.Baked = d.chosen
	} else if left, err = a.findBaked(ctx, d, fresh); err != nil {
		return nil, err
	}
	for i, n := range nodes {
		if image := d.definition.Baked.Of(n.Name); image != nil {
			nodes[i].Baked = image.Services
		}
	}
	return left, nil
}

func (a *Builder) findBaked(ctx context.Context, d *updateBuilder, fresh []appplan.Node) (left []string, err error) {
	if a.OwnAccount != nil {
		if own, err := a.OwnAccount(ctx, d.Tenant, d.ID); err != nil || own {
			return nil, err
		}
	}
	hooks, err := a.Plans.Scripts(ctx, d.Tenant, app.OperationCreate, d.definition) // what is in an image follows from a create's
	if err != nil {
		return nil, err
	}
	d.definition.Baked, left, err = a.Images.ForCreate(ctx, d.Tenant, d.Template, d.catalog.Providers[d.Provider], fresh, d.definition, hooks)
	return left, err
}
