package cluster

import (
	"context"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/label"
	"muster/app/layout"
	"muster/app/template"
	"muster/portal/policy"
	"muster/portal/site"
)

type clusterListInput struct {
	Deleted bool   `query:"deleted" doc:"Include deleted clusters"`
	Name    string `query:"name" maxLength:"128" doc:"Only this exact name"`
	Limit   int    `query:"limit" minimum:"0" maximum:"1000" doc:"Maximum number of clusters; 0 means 200"`

	Owner    string            `query:"owner" maxLength:"255" doc:"Only clusters of this user; me is the caller"`
	Status   app.ClusterStatus `query:"status" enum:"pending,active,asleep,failed,deleted" doc:"Only clusters with this status"`
	Template string            `query:"template" maxLength:"255" doc:"Only clusters from this template"`
	Provider string            `query:"provider" maxLength:"255" doc:"Only clusters at this provider"`
	Labels   string            `query:"label" maxLength:"2600" doc:"Only clusters with this label, key=value, or a key for any value; separate several with commas"`
	Text     string            `query:"q" maxLength:"100" doc:"Only clusters with this text in their name, ID, owner, template or a label's value"`
	Sort     app.ClusterSort   `query:"sort" enum:"name,lease,cost" doc:"By name, by lease expiry, or by cost (highest first); newest first by default"`
	After    string            `query:"after" maxLength:"128" doc:"Cursor: the next value of the previous page"`
}

type Key struct {
	User string `json:"user" doc:"User to sign in as"`
	Key  string `json:"private_key" doc:"OpenSSH PEM, for ssh -i"`
}

func (p *creates) APIPreview(ctx context.Context, in *policy.RequestInput) (*site.Body[cluster.Preview], error) {
	v, err := p.Creates.Preview(ctx, site.Caller(ctx), in.Body)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[cluster.Preview]{Body: v}, nil
}

func (p *creates) APIExplain(ctx context.Context, in *policy.RequestInput) (*site.Body[layout.Explanation], error) {
	x, err := p.Creates.Explain(ctx, site.Caller(ctx), in.Body)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[layout.Explanation]{Body: x}, nil
}

func (p *lists) APIList(ctx context.Context, in *clusterListInput) (*site.Body[cluster.Page], error) {
	f := app.ClusterFilter{Deleted: in.Deleted, Name: in.Name, Limit: in.Limit, Owner: in.Owner, Status: in.Status, Template: in.Template,
		Provider: in.Provider, Text: in.Text, Sort: in.Sort, After: in.After}
	var err error
	if f.Labels, err = label.Selectors(strings.Split(in.Labels, ",")); err != nil {
		return nil, p.Fail(ctx, err)
	}
	if f.Owner == "me" {
		f.Owner = site.Caller(ctx).Name()
	}
	cs, err := p.Clusters.ClusterPage(ctx, site.Caller(ctx), f)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	cs.Clusters = site.OrEmpty(cs.Clusters)
	return &site.Body[cluster.Page]{Body: cs}, nil
}

func (p *clusterPage) APIShow(ctx context.Context, in *site.IDInput) (*site.Body[cluster.View], error) {
	return p.AnswerCluster(ctx)(p.Clusters.Cluster(ctx, site.Caller(ctx), in.ID))
}

// deleteInput is a delete, with what happens to the cluster's volumes.
type deleteInput struct {
	site.IDInput
	Volumes template.VolumeChoice `query:"volumes" enum:"keep,delete" doc:"What happens to the cluster's volumes; default: what each volume says"`
}

func (p *managePages) APIDelete(ctx context.Context, in *deleteInput) (*site.Body[cluster.View], error) {
	return p.AnswerCluster(ctx)(p.Deletes.DeleteClusterWith(ctx, site.Caller(ctx), in.ID, in.Volumes))
}

func (p *managePages) APIResume(ctx context.Context, in *site.IDInput) (*site.Body[cluster.View], error) {
	return p.AnswerCluster(ctx)(p.Operations.ResumeOperation(ctx, site.Caller(ctx), in.ID, 0))
}

func (p *accessPages) APIKey(ctx context.Context, in *site.IDInput) (*site.Body[Key], error) {
	user, pem, err := p.ClusterAccess.ClusterKey(ctx, site.Caller(ctx), in.ID)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[Key]{Body: Key{User: user, Key: string(pem)}}, nil
}
