package jobs

import (
	"context"
	"sync"

	"muster/app/execution"
	"muster/app/family"
)

// hostLists keeps lists of hosts by their hash: the nodes of a cluster mostly share one, and it may be long.
type hostLists struct {
	mu    sync.Mutex
	known map[string][]family.HostEntry
}

// maxHostLists is how many lists are kept; a worker serves few clusters at a time.
const maxHostLists = 256

// learnHosts fills in the assignment's hosts where they did not travel with it.
func (w *actions) learnHosts(ctx context.Context, as *execution.Assignment) error {
	if as.HostsHash == "" || as.Hosts != nil {
		return nil
	}
	b := &w.hosts
	b.mu.Lock()
	as.Hosts = b.known[as.HostsHash]
	b.mu.Unlock()
	if as.Hosts != nil {
		return nil
	}
	hosts, err := w.Coordinator.Hosts(ctx, w.id(), as.Fence)
	if err != nil {
		return err
	}
	as.Hosts = hosts
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.known) >= maxHostLists || b.known == nil {
		b.known = map[string][]family.HostEntry{}
	}
	b.known[as.HostsHash] = hosts
	return nil
}
