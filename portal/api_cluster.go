package portal

import (
	"context"

	"muster/app"
)

// body is an answer in JSON.
type body[T any] struct{ Body T }

type IDInput struct {
	ID string `path:"id" maxLength:"128" doc:"The cluster's id"`
}

type requestInput struct{ Body app.ClusterRequest }

type clusterListInput struct {
	Deleted bool   `query:"deleted" doc:"Also those that are gone"`
	Name    string `query:"name" maxLength:"128" doc:"Only this exact name"`
	Limit   int    `query:"limit" minimum:"0" maximum:"1000" doc:"At most so many; 0 means 200"`
}

type clusterList struct {
	Clusters []app.ClusterSummary `json:"clusters" nullable:"false"`
}

type clusterKey struct {
	User string `json:"user" doc:"Who to sign in as"`
	Key  string `json:"private_key" doc:"OpenSSH PEM, for ssh -i"`
}

func (p *Portal) apiPreview(ctx context.Context, in *requestInput) (*body[app.Preview], error) {
	v, err := p.muster.Preview(ctx, caller(ctx), in.Body)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[app.Preview]{v}, nil
}

func (p *Portal) apiExplain(ctx context.Context, in *requestInput) (*body[app.Explanation], error) {
	x, err := p.muster.(Explainer).Explain(ctx, caller(ctx), in.Body)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[app.Explanation]{x}, nil
}

func (p *Portal) apiClusterList(ctx context.Context, in *clusterListInput) (*body[clusterList], error) {
	cs, err := p.muster.Clusters(ctx, caller(ctx), app.ClusterFilter{Deleted: in.Deleted, Name: in.Name, Limit: in.Limit})
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[clusterList]{clusterList{orEmpty(cs)}}, nil
}

func (p *Portal) apiClusterShow(ctx context.Context, in *IDInput) (*body[app.ClusterView], error) {
	return p.view(ctx)(p.muster.Cluster(ctx, caller(ctx), in.ID))
}

func (p *Portal) apiClusterDelete(ctx context.Context, in *IDInput) (*body[app.ClusterView], error) {
	return p.view(ctx)(p.muster.DeleteCluster(ctx, caller(ctx), in.ID))
}

func (p *Portal) apiClusterResume(ctx context.Context, in *IDInput) (*body[app.ClusterView], error) {
	return p.view(ctx)(p.muster.ResumeOperation(ctx, caller(ctx), in.ID, 0))
}

func (p *Portal) apiClusterKey(ctx context.Context, in *IDInput) (*body[clusterKey], error) {
	user, pem, err := p.muster.ClusterKey(ctx, caller(ctx), in.ID)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[clusterKey]{clusterKey{User: user, Key: string(pem)}}, nil
}

// view answers with what a use case gave.
func (p *Portal) view(ctx context.Context) func(app.ClusterView, error) (*body[app.ClusterView], error) {
	return func(v app.ClusterView, err error) (*body[app.ClusterView], error) {
		if err != nil {
			return nil, p.fail(ctx, err)
		}
		v.Nodes, v.Operations, v.Links = orEmpty(v.Nodes), orEmpty(v.Operations), orEmpty(v.Links)
		return &body[app.ClusterView]{v}, nil
	}
}

// orEmpty makes a list that is empty an empty list in JSON too, not null.
func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
