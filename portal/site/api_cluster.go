package site

import (
	"context"
	"muster/app/cluster"
)

// Body is an answer in JSON.
type Body[T any] struct{ Body T }

type IDInput struct {
	ID string `path:"id" maxLength:"128" doc:"ID of the cluster"`
}

// OrEmpty makes a list that is empty an empty list in JSON too, not null.
func OrEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// AnswerCluster answers with what a use case gave.
func (p *Site) AnswerCluster(ctx context.Context) func(cluster.ClusterView, error) (*Body[cluster.ClusterView], error) {
	return func(v cluster.ClusterView, err error) (*Body[cluster.ClusterView], error) {
		if err != nil {
			return nil, p.Fail(ctx, err)
		}
		v.Nodes, v.Operations, v.Links = OrEmpty(v.Nodes), OrEmpty(v.Operations), OrEmpty(v.Links)
		return &Body[cluster.ClusterView]{Body: v}, nil
	}
}
