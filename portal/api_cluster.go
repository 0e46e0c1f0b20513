package portal

import (
	"context"

	"muster/app"
	"muster/app/cluster"
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

	Owner    string            `query:"owner" maxLength:"255" doc:"Only those of this user; me is who asks"`
	Status   app.ClusterStatus `query:"status" enum:"pending,active,asleep,failed,deleted" doc:"Only those of this status"`
	Template string            `query:"template" maxLength:"255" doc:"Only those of this template"`
	Provider string            `query:"provider" maxLength:"255" doc:"Only those at this provider"`
	Text     string            `query:"q" maxLength:"100" doc:"Only those that have it in name, id, owner or template"`
	Sort     app.ClusterSort   `query:"sort" enum:"name,lease,cost" doc:"By name, by the end of the lease, or by cost with the dearest first; the newest first where it is left out"`
	After    string            `query:"after" maxLength:"128" doc:"Go on after this: what the page before gave as next"`
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

func (p *Portal) apiClusterList(ctx context.Context, in *clusterListInput) (*body[cluster.ClusterPage], error) {
	f := app.ClusterFilter{Deleted: in.Deleted, Name: in.Name, Limit: in.Limit, Owner: in.Owner, Status: in.Status, Template: in.Template,
		Provider: in.Provider, Text: in.Text, Sort: in.Sort, After: in.After}
	if f.Owner == "me" {
		f.Owner = caller(ctx).Name()
	}
	cs, err := p.muster.ClusterPage(ctx, caller(ctx), f)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	cs.Clusters = orEmpty(cs.Clusters)
	return &body[cluster.ClusterPage]{cs}, nil
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
