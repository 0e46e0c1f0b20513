package operation

import (
	"context"
	"reflect"

	"muster/app"
	"muster/app/cluster"
	"muster/app/plan"
	"muster/portal/site"

	"github.com/danielgtaylor/huma/v2"
)

// The limits of a change. Clusters have fewer nodes, and catalogs fewer services.
const (
	maxNodes    = 100_000
	maxServices = 1000
	longestName = 128
)

// BoundUpdates adds the limits of a change to its schema.
func BoundUpdates(schema huma.Registry) {
	schema.Schema(reflect.TypeFor[cluster.Update](), true, "")
	s := schema.Map()["ClusterUpdate"]
	if s == nil {
		return
	}
	kinds := make([]any, len(app.Updates))
	for i, k := range app.Updates {
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
	for property, most := range map[string]float64{"size": maxNodes, "batch": maxNodes} {
		bound(property, func(f *huma.Schema) { f.Minimum, f.Maximum = new(float64), &most })
	}
	for property, most := range map[string]int{"nodes": maxNodes, "services": maxServices} {
		bound(property, func(f *huma.Schema) {
			f.MaxItems = &most
			longest := longestName
			f.Items.MaxLength = &longest
			f.Items.PrecomputeMessages()
		})
	}
	for property, longest := range map[string]int{"hardware": longestName, "image": longestName, "kept_machine": longestName, "plan_hash": 64, "min_available": 8, "keep_failed": 20,
		"command": plan.MostCommand, "timeout": 20} {
		bound(property, func(f *huma.Schema) { f.MaxLength = &longest })
	}
}

type updateInput struct {
	site.IDInput
	Body cluster.Update
}

func (p *Service) apiUpdatePreview(ctx context.Context, in *updateInput) (*site.Body[cluster.UpdatePreview], error) {
	v, err := p.Updates.PreviewUpdate(ctx, site.Caller(ctx), in.ID, in.Body)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	v.Nodes, v.Changes, v.Notes, v.Plan.Steps = site.OrEmpty(v.Nodes), site.OrEmpty(v.Changes), site.OrEmpty(v.Notes), site.OrEmpty(v.Plan.Steps)
	for i := range v.Nodes {
		v.Nodes[i].Services = site.OrEmpty(v.Nodes[i].Services)
	}
	return &site.Body[cluster.UpdatePreview]{Body: v}, nil
}

// configs serves the configuration of a cluster.
type configs struct{ *site.Site }

type clusterConfig struct {
	Config map[string]any `json:"config" doc:"Configuration, with secret values hidden"`
}

func (p configs) show(ctx context.Context, in *site.IDInput) (*site.Body[clusterConfig], error) {
	config, err := p.Specs.ClusterConfig(ctx, site.Caller(ctx), in.ID)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[clusterConfig]{Body: clusterConfig{config}}, nil
}

type configInput struct {
	site.IDInput
	Body struct {
		Config    map[string]any `json:"config" doc:"The whole configuration: keys that it leaves out are removed. Hidden values stay as they are"`
		NoRestart bool           `json:"no_restart,omitempty" doc:"Only write the configuration; services read it at their next restart"`
		Batch     int            `json:"batch,omitempty" minimum:"0" doc:"Number of nodes to change at a time; 0: all at once"`
		PlanHash  string         `json:"plan_hash,omitempty" maxLength:"64" doc:"Hash of the previewed plan; if the plan has changed, the request fails with a conflict"`
	}
}

func (p configs) replace(ctx context.Context, in *configInput) (*site.Updated, error) {
	b := in.Body
	answer, err := p.Updates.Update(ctx, site.Caller(ctx), in.ID, cluster.Update{Kind: app.OperationReconfigure, Config: b.Config, Replace: true,
		NoRestart: b.NoRestart,
		Batch:     b.Batch, PlanHash: b.PlanHash})
	return p.AnswerUpdate(ctx, in.ID, answer, err)
}

func (p *Service) apiUpdate(ctx context.Context, in *updateInput) (*site.Updated, error) {
	answer, err := p.Updates.Update(ctx, site.Caller(ctx), in.ID, in.Body)
	return p.AnswerUpdate(ctx, in.ID, answer, err)
}
