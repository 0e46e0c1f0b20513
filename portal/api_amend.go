package portal

import (
	"context"
	"fmt"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"muster/app"
)

// Amending is a power that a Muster may have: to change clusters that stand. A portal without it makes and deletes only.
type Amending interface {
	// PreviewAmend works out what an amendment would do. EConflict where the cluster cannot be amended as it is now.
	PreviewAmend(ctx context.Context, a app.Actor, cluster string, m app.Amendment) (app.AmendPreview, error)
	// Amend gives the operation, or the request that waits; neither where the cluster is so already. EConflict, reason
	// plan_changed, where another plan was shown; EForbidden, reason policy, where a policy refuses.
	Amend(ctx context.Context, a app.Actor, cluster string, m app.Amendment) (app.AmendAnswer, error)
	// ClusterConfig gives a cluster's configuration to those who may amend it; what may be secret is app.HiddenValue.
	ClusterConfig(ctx context.Context, a app.Actor, cluster string) (map[string]any, error)
}

// amending gives the power; nil where there is none.
func (p *Portal) amending() Amending {
	m, _ := p.muster.(Amending)
	return m
}

// The most that an amendment may name. Clusters have fewer nodes, and catalogs fewer services.
const (
	mostNodes    = 100_000
	mostServices = 1000
	longestName  = 128
)

// boundAmendments puts the limits of an amendment into its schema.
func boundAmendments(schema huma.Registry) {
	schema.Schema(reflect.TypeFor[app.Amendment](), true, "")
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
	IDInput
	Body app.Amendment
}

func (p *Portal) apiAmendPreview(ctx context.Context, in *amendInput) (*body[app.AmendPreview], error) {
	v, err := p.amending().PreviewAmend(ctx, caller(ctx), in.ID, in.Body)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	v.Nodes, v.Changes, v.Notes, v.Plan.Steps = orEmpty(v.Nodes), orEmpty(v.Changes), orEmpty(v.Notes), orEmpty(v.Plan.Steps)
	for i := range v.Nodes {
		v.Nodes[i].Services = orEmpty(v.Nodes[i].Services)
	}
	return &body[app.AmendPreview]{v}, nil
}

type clusterConfig struct {
	Config map[string]any `json:"config" doc:"Values that may be secret are hidden"`
}

func (p *Portal) apiClusterConfig(ctx context.Context, in *IDInput) (*body[clusterConfig], error) {
	config, err := p.amending().ClusterConfig(ctx, caller(ctx), in.ID)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[clusterConfig]{clusterConfig{config}}, nil
}

// amended is the answer to an amendment: 201 with the operation, 202 with the request that waits, or 200 where nothing was to
// be done.
type amended struct {
	Status   int
	Location string `header:"Location" doc:"Where the cluster, or the request that waits, is to be found"`
	Body     app.AmendAnswer
}

func (p *Portal) apiAmend(ctx context.Context, in *amendInput) (*amended, error) {
	answer, err := p.amending().Amend(ctx, caller(ctx), in.ID, in.Body)
	return p.answerAmend(ctx, in.ID, answer, err)
}

// answerAmend says what became of something that was asked of a cluster.
func (p *Portal) answerAmend(ctx context.Context, cluster string, answer app.AmendAnswer, err error) (*amended, error) {
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	out := &amended{Status: http.StatusOK, Location: "/api/v1/clusters/" + cluster, Body: answer}
	if v := answer.Cluster; v != nil {
		v.Nodes, v.Operations, v.Links = orEmpty(v.Nodes), orEmpty(v.Operations), orEmpty(v.Links)
		out.Location = "/api/v1/clusters/" + v.ID
	}
	switch {
	case answer.Operation != 0:
		out.Status = http.StatusCreated
	case answer.Request != nil && answer.Request.Status.Open():
		out.Status, out.Location = http.StatusAccepted, fmt.Sprintf("/api/v1/requests/%d", answer.Request.ID)
	}
	return out, nil
}

// eitherAmend documents the answers.
func eitherAmend(o *huma.Operation) {
	answer := map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/AmendAnswer"}}}
	o.DefaultStatus = http.StatusCreated
	o.Responses = map[string]*huma.Response{
		"200": {Description: "The cluster is so already; nothing was to be done", Content: answer},
		"201": {Description: "The operation, and the cluster as it is now", Content: answer},
		"202": {Description: "The request waits for approvals", Content: answer},
	}
}
