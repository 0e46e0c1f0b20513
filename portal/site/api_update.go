package site

import (
	"context"
	"fmt"
	"net/http"

	appcluster "muster/app/cluster"
)

// Updated is the response to a change: 201 with the operation, 202 with the request waiting for approval, or 200 if there was nothing to
// change.
type Updated struct {
	Status   int
	Location string `header:"Location" doc:"URL of the cluster, or of the request waiting for approval"`
	Body     appcluster.UpdateAnswer
}

// AnswerUpdate is the response to a change of a cluster.
func (p *Site) AnswerUpdate(ctx context.Context, cluster string, answer appcluster.UpdateAnswer, err error) (*Updated, error) {
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	out := &Updated{Status: http.StatusOK, Location: "/api/v1/clusters/" + cluster, Body: answer}
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
