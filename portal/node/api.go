package node

import (
	"context"

	"muster/app/node"
	"muster/portal/site"
)

type listInput struct {
	Text     string `query:"q" maxLength:"100" doc:"Only nodes with this text in their host name, machine ID, an address, or their cluster's name"`
	State    string `query:"state" enum:"planned,created,ready,lost" doc:"Only nodes in this state"`
	Cluster  string `query:"cluster" maxLength:"255" doc:"Only nodes of this cluster, by ID or name"`
	Owner    string `query:"owner" maxLength:"255" doc:"Only nodes of this user's clusters; me is the caller"`
	Template string `query:"template" maxLength:"255" doc:"Only nodes of clusters from this template"`
	Provider string `query:"provider" maxLength:"255" doc:"Only nodes at this provider"`
	Hardware string `query:"hardware" maxLength:"255" doc:"Only nodes of this hardware type"`
	Image    string `query:"image" maxLength:"255" doc:"Only nodes with this image"`
	Zone     string `query:"zone" maxLength:"255" doc:"Only nodes in this zone"`
	Service  string `query:"service" maxLength:"255" doc:"Only nodes with this service"`
	Limit    int    `query:"limit" minimum:"0" maximum:"1000" doc:"Maximum number of nodes; 0 means 200"`
	After    string `query:"after" maxLength:"255" doc:"Cursor: the next value of the previous page"`
}

func (p *Service) apiList(ctx context.Context, in *listInput) (*site.Body[node.Page], error) {
	a := site.Caller(ctx)
	list, err := p.Nodes.Nodes(ctx, a, mine(node.Filter{Text: in.Text, State: in.State, Cluster: in.Cluster, Owner: in.Owner, Template: in.Template,
		Provider: in.Provider, Hardware: in.Hardware, Image: in.Image, Zone: in.Zone, Service: in.Service, Limit: in.Limit, After: in.After}, a))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	list.Nodes = site.OrEmpty(list.Nodes)
	return &site.Body[node.Page]{Body: list}, nil
}
