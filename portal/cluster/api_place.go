package cluster

import (
	"context"

	"muster/app/layout"
	"muster/portal/site"
)

// places is the REST operation of the places in which a cluster was tried.
type places struct{ *site.Site }

func (p *places) routes() []site.Route { return nil }

func (p *places) operations() []site.Operation {
	return []site.Operation{site.Get("/clusters/{id}/places", p.APIShow, site.About("Show the places of a cluster's request, and what was tried"))}
}

func (p *places) APIShow(ctx context.Context, in *site.IDInput) (*site.Body[layout.Places], error) {
	found, err := p.Creates.Places(ctx, site.Caller(ctx), in.ID)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	if found == nil {
		found = &layout.Places{}
	}
	found.Candidates = site.OrEmpty(found.Candidates)
	return &site.Body[layout.Places]{Body: *found}, nil
}
