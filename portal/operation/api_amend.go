package operation

import (
	"context"
	"reflect"

	"muster/app"
	"muster/app/cluster"
	"muster/portal/site"

	"github.com/danielgtaylor/huma/v2"
)

// The limits of a change. Clusters have fewer nodes, and catalogs fewer services.
const (
	mostNodes    = 100_000
	mostServices = 1000
	longestName  = 128
)

// BoundAmendments adds the limits of a change to its schema.
func BoundAmendments(schema huma.Registry) {
	schema.Schema(reflect.TypeFor[cluster.Amendment](), true, "")
	s := schema.Map()["Amendment"]
	if s == nil {
		return
	}
	kinds := make([]any, len(app.Amendments))
	for i, k := range app.Amendments {
		kinds[i] = string(k)
	}
	bound := func(property string, change func(*huma.Schema)) {
		if f := s.Properties[property]; f != nil {
			change(f)
			f.PrecomputeMessages()
		}
	}
	bound("kind", func(f *huma.Schema) { f.Enum = kinds })
	bound("on_failure", func(f *huma.Schema) {
		f.Enum = []any{string(app.FailureLeave)}
		for _, c := range app.FailureChoices() {
			f.Enum = append(f.Enum, string(c))
		}
	})
	for property, most := range map[string]float64{"size": mostNodes, "batch": mostNodes} {
		bound(property, func(f *huma.Schema) { f.Minimum, f.Maximum = new(float64), &most })
	}
	for property, most := range map[string]int{"nodes": mostNodes, "services": mostServices} {
		bound(property, func(f *huma.Schema) {
			f.MaxItems = &most
			longest := longestName
			f.Items.MaxLength = &longest
			f.Items.PrecomputeMessages()
		})
	}
	for property, longest := range map[string]int{"hardware": longestName, "image": longestName, "plan_hash": 64, "at_least": 8} {
		bound(property, func(f *huma.Schema) { f.MaxLength = &longest })
	}
}

type amendInput struct {
	site.IDInput
	Body cluster.Amendment
}

func (p *Service) apiAmendPreview(ctx context.Context, in *amendInput) (*site.Body[cluster.AmendPreview], error) {
	v, err := p.Amendments.PreviewAmend(ctx, site.Caller(ctx), in.ID, in.Body)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	v.Nodes, v.Changes, v.Notes, v.Plan.Steps = site.OrEmpty(v.Nodes), site.OrEmpty(v.Changes), site.OrEmpty(v.Notes), site.OrEmpty(v.Plan.Steps)
	for i := range v.Nodes {
		v.Nodes[i].Services = site.OrEmpty(v.Nodes[i].Services)
	}
	return &site.Body[cluster.AmendPreview]{Body: v}, nil
}

type clusterConfig struct {
	Config map[string]any `json:"config" doc:"Configuration, with secret values hidden"`
}

func (p *Service) apiClusterConfig(ctx context.Context, in *site.IDInput) (*site.Body[clusterConfig], error) {
	config, err := p.Specs.ClusterConfig(ctx, site.Caller(ctx), in.ID)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[clusterConfig]{Body: clusterConfig{config}}, nil
}

func (p *Service) apiAmend(ctx context.Context, in *amendInput) (*site.Amended, error) {
	answer, err := p.Amendments.Amend(ctx, site.Caller(ctx), in.ID, in.Body)
	return p.AnswerAmend(ctx, in.ID, answer, err)
}
