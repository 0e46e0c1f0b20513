package run

import (
	"context"

	"muster/app"
	"muster/app/cluster"
)

// Ask is a command that is to be run.
type Ask struct {
	Command string   `json:"command"`
	On      []string `json:"on,omitempty"` // selectors, see Select; none is all nodes
	Batch   int      `json:"batch,omitempty"`
	Timeout string   `json:"timeout,omitempty"`
}

// RunCommand runs a command on nodes of a cluster, or requests it where policies want approvals. Who may sign in to the cluster's nodes may
// run commands on them.
func (s *Service) RunCommand(ctx context.Context, actor app.Actor, id string, ask Ask) (cluster.UpdateAnswer, error) {
	c, err := s.Clusters.AuthorizedCluster(ctx, actor, "RunCommand", id)
	if err != nil {
		return cluster.UpdateAnswer{}, err
	}
	if err := actor.MayChange("RunCommand", c); err != nil {
		return cluster.UpdateAnswer{}, err
	}
	m := cluster.Update{Kind: app.OperationRun, Command: ask.Command, Batch: ask.Batch, Timeout: ask.Timeout}
	if len(ask.On) > 0 {
		nodes, err := s.Store.Nodes(ctx, c.Tenant, c.ID)
		if err != nil {
			return cluster.UpdateAnswer{}, err
		}
		if m.Nodes, err = Select(nodes, ask.On); err != nil {
			return cluster.UpdateAnswer{}, err
		}
	}
	return s.Updates.Update(ctx, actor, c.ID, m)
}
