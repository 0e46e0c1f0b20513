package site

import (
	"context"
	"fmt"
	"net/http"

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

// Amending gives the power; nil where there is none.
func (p *Site) Amending() Amending {
	m, _ := p.Muster.(Amending)
	return m
}

// Amended is the answer to an amendment: 201 with the operation, 202 with the request that waits, or 200 where nothing was to
// be done.
type Amended struct {
	Status   int
	Location string `header:"Location" doc:"Where the cluster, or the request that waits, is to be found"`
	Body     app.AmendAnswer
}

// AnswerAmend says what became of something that was asked of a cluster.
func (p *Site) AnswerAmend(ctx context.Context, cluster string, answer app.AmendAnswer, err error) (*Amended, error) {
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	out := &Amended{Status: http.StatusOK, Location: "/api/v1/clusters/" + cluster, Body: answer}
	if v := answer.Cluster; v != nil {
		v.Nodes, v.Operations, v.Links = OrEmpty(v.Nodes), OrEmpty(v.Operations), OrEmpty(v.Links)
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
