package run

import (
	"context"

	"muster/app"
	"muster/app/cluster"
	"muster/app/plan"
	"muster/app/template"
)

// Ask is a command that is to be run.
type Ask struct {
	Command string `json:"command,omitempty"`
	// Action is one of the template's to run instead, with values of its Parameters.
	Action     string         `json:"action,omitempty"`
	Parameters map[string]any `json:"parameters,omitempty"`
	On         []string       `json:"on,omitempty"` // selectors, see plan.Select; none is all nodes
	Batch      int            `json:"batch,omitempty"`
	Timeout    string         `json:"timeout,omitempty"`
}

// RunCommand runs a command on nodes of a cluster, or requests it where policies want approvals. Who may sign in to the cluster's nodes may
// run commands on them.
func (s *Service) RunCommand(ctx context.Context, actor app.Actor, id string, ask Ask) (cluster.UpdateAnswer, error) {
	c, err := s.mayIn(ctx, actor, "RunCommand", id)
	if err != nil {
		return cluster.UpdateAnswer{}, err
	}
	m, err := s.updateOf(ctx, c, ask)
	if err != nil {
		return cluster.UpdateAnswer{}, err
	}
	return s.Updates.Update(ctx, actor, c.ID, m)
}

// mayIn returns a cluster to those who may do something in it.
func (s *Service) mayIn(ctx context.Context, actor app.Actor, useCase, id string) (app.Cluster, error) {
	c, err := s.Clusters.AuthorizedCluster(ctx, actor, useCase, id)
	if err == nil {
		err = actor.MayChange(useCase, c)
	}
	return c, err
}

// updateOf is the update that runs it, on nodes as they are now.
func (s *Service) updateOf(ctx context.Context, c app.Cluster, ask Ask) (cluster.Update, error) {
	m := cluster.Update{Kind: app.OperationRun, Command: ask.Command, Action: ask.Action, Parameters: ask.Parameters,
		Batch: ask.Batch, Timeout: ask.Timeout}
	if len(ask.On) == 0 {
		return m, nil
	}
	nodes, err := s.Store.Nodes(ctx, c.Tenant, c.ID)
	if err != nil {
		return m, err
	}
	m.Nodes, err = plan.Select(nodes, ask.On)
	return m, err
}

// Action is an action of the cluster's template.
type Action struct {
	template.SavedAction
	Title string `json:"title"`
	// May says that the one who asks may run it.
	May bool `json:"may"`
}

// Actions returns the actions that the cluster's template offers, as it was when the cluster was created or last upgraded.
func (s *Service) Actions(ctx context.Context, actor app.Actor, id string) ([]Action, error) {
	c, err := s.mayIn(ctx, actor, "Actions", id)
	if err != nil {
		return nil, err
	}
	d, err := s.Store.Definition(ctx, c.Tenant, c.ID)
	if err != nil {
		return nil, err
	}
	all := []Action{}
	for _, a := range d.Actions {
		all = append(all, Action{SavedAction: a, Title: a.Title(), May: actor.MayIn("RunCommand", c) && cluster.MayAct(actor, c, a) == nil})
	}
	return all, nil
}
