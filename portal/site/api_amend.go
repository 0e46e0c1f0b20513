package site

import (
	"context"
	"fmt"
	"net/http"

	appcluster "muster/app/cluster"
)

// Amended is the answer to an amendment: 201 with the operation, 202 with the request that waits, or 200 where nothing was to
// be done.
type Amended struct {
	Status   int
	Location string `header:"Location" doc:"URL of the cluster, or of the request waiting for approval"`
	Body     appcluster.AmendAnswer
}

// AnswerAmend says what happened to something that was asked of a cluster.
func (p *Site) AnswerAmend(ctx context.Context, cluster string, answer appcluster.AmendAnswer, err error) (*Amended, error) {
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
