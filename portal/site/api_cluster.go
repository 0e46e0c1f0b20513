package site

import (
	"context"
	"muster/app/cluster"
)

// Body is a JSON response.
type Body[T any] struct{ Body T }

type IDInput struct {
	ID string `path:"id" maxLength:"128" doc:"ID of the cluster"`
}

// OrEmpty makes a nil list an empty one, so that JSON has no null.
func OrEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// AnswerCluster responds with a use case's cluster.
func (p *Site) AnswerCluster(ctx context.Context) func(cluster.View, error) (*Body[cluster.View], error) {
	return func(v cluster.View, err error) (*Body[cluster.View], error) {
		if err != nil {
			return nil, p.Fail(ctx, err)
		}
		v.Nodes, v.Operations, v.Links = OrEmpty(v.Nodes), OrEmpty(v.Operations), OrEmpty(v.Links)
		return &Body[cluster.View]{Body: v}, nil
	}
}
