package app

import (
	"slices"
	"sync"
)

// Allowance is a use case that an actor was allowed; with an owner, to something of that user's, with a cluster, to that one. With a
// cluster and no use case, the actor could see the cluster.
type Allowance struct {
	UseCase string `json:"use_case"`
	Owner   string `json:"owner,omitempty"`
	Cluster string `json:"cluster,omitempty"`
}

// Allowances are what an actor was allowed since Noting. They may be added to by several goroutines.
type Allowances struct {
	mu  sync.Mutex
	all []Allowance
}

func (n *Allowances) Add(x Allowance) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.all, x) {
		n.all = append(n.all, x)
	}
}

// List gives them.
func (n *Allowances) List() []Allowance {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.all)
}

// Noting gives the actor for a request whose answer is kept, and what it will have been allowed.
func (a Actor) Noting() (Actor, *Allowances) {
	a.Noted = &Allowances{}
	return a, a.Noted
}
