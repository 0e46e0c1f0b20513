package vsphere

import (
	"context"
	"slices"
	"strconv"

	"muster/app"

	"github.com/vmware/govmomi/vim25/types"
)

// place is where a machine goes.
type place struct {
	zone    string
	cluster object
	pool    ref
	store   *object
	network *object
}

func (c *inventory) place(ctx context.Context, s *site, zone string) (p place, err error) {
	cluster, err := s.cluster(zone, c.cluster)
	if err != nil {
		return p, err
	}
	p.cluster, p.zone = cluster, plain(prop[string](cluster, "name"))
	if p.pool, err = c.poolOf(ctx, cluster); err != nil {
		return p, err
	}
	if p.store, err = s.store(c.datastore, cluster); err != nil {
		return p, err
	}
	p.network, err = s.port(c.network, cluster)
	return p, err
}

// propDRS says whether a cluster places machines on its hosts by itself.
const propDRS = "configuration.drsConfig.enabled"

// hostOf returns the host for a machine; nil where the cluster finds one itself. Where it doesn't, machines are spread over the hosts that have what they
// need.
func (c *inventory) hostOf(ctx context.Context, p place, key string) (*ref, error) {
	if p.cluster.Type != typeDRS || prop[bool](p.cluster, propDRS) {
		return nil, nil
	}
	hosts, err := c.collect(ctx, []ref{p.cluster.ref}, along(typeCluster, "host"), want{"HostSystem", []string{"runtime.connectionState",
		"runtime.inMaintenanceMode", "datastore", "network"}})
	if err != nil {
		return nil, err
	}
	hosts = slices.DeleteFunc(hosts, func(h object) bool {
		state := prop[types.HostSystemConnectionState](h, "runtime.connectionState")
		return prop[bool](h, "runtime.inMaintenanceMode") || state != types.HostSystemConnectionStateConnected ||
			p.store != nil && !reaches(h, *p.store) || p.network != nil && !reaches(h, *p.network)
	})
	if len(hosts) == 0 {
		e := app.Errorf(app.ECapacity, "Compute cluster %s has no connected host with the datastore and the network.", p.zone)
		e.Hint = hintCapacity
		return nil, e
	}
	slices.SortFunc(hosts, func(a, b object) int { return compareRefs(a.ref, b.ref) })
	n, err := strconv.ParseUint(key[:8], 16, 64)
	return &hosts[n%uint64(len(hosts))].ref, err
}
