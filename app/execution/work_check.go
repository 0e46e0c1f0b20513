package execution

import (
	"context"
	"time"

	"muster/app"
)

// assignCheck hands out a step that waits until a service is healthy.
func (a *Service) assignCheck(ctx context.Context, as *Assignment, c *ClaimedStep, oc *operationConfig) error {
	svc := oc.definition.Services[as.Service]
	if svc == nil || svc.Health == nil {
		return app.Errorf(app.EInternal, "service %s has no health check", as.Service)
	}
	config, hosts, secret, err := oc.expand(ctx, a, c.Cluster, c.Node, false)
	if err != nil {
		return err
	}
	oc.mu.Lock()
	nodes := oc.nodes
	oc.mu.Unlock()
	if as.Health, err = svc.Health.Expand(nodes, c.Node, config); err != nil {
		return err
	}
	as.Hosts, as.HostsHash, as.HostsWhole, as.Secrets = hosts, hostsHash(hosts), oc.tooMany(), secret
	// The check says by itself when it has waited long enough; the limit is for a node that hangs.
	as.Timeout = as.Health.WaitOr60s() + as.Health.TimeoutOr5s() + time.Minute
	return nil
}
