package app

import "time"

// stepTime is how long one attempt may take where its service says nothing.
const (
	MachineStepTime = 10 * time.Minute
	ServiceStepTime = 30 * time.Minute
)

// NodeUpdate is what a success means for the node.
func (r Report) NodeUpdate() *NodeUpdate {
	if r.Err != nil {
		return nil
	}
	switch r.Action {
	case ActionCreate:
		return &NodeUpdate{Status: NodeCreated, Machine: r.Machine}
	case ActionConfirm:
		return &NodeUpdate{Status: NodeReady, Machine: r.Machine, HostKey: r.HostKey, Owned: true}
	case ActionWake:
		return &NodeUpdate{Machine: r.Machine}
	case ActionDelete:
		return &NodeUpdate{Status: NodeDeleted, Gone: true}
	}
	return nil
}
