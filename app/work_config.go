package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
)

// configCache keeps what the steps of an operation share, so that a big cluster is not read and its configuration not
// expanded for every step anew. It holds secrets in memory for as long as an operation's steps are handed out.
type configCache struct {
	mu   sync.Mutex
	kept map[int64]*operationConfig
	age  []int64 // oldest first
}

// maxConfigs is how many operations are kept; the oldest makes room.
const maxConfigs = 64

// operationConfig is what the steps of one operation share.
type operationConfig struct {
	definition Definition
	secrets    ClusterSecrets

	mu     sync.Mutex
	macros *MacroConfig
	shared *SharedConfig
	hosts  []HostEntry
}

func (cc *configCache) get(ctx context.Context, a *App, c *ClaimedStep) (*operationConfig, error) {
	id := c.Step.Operation
	cc.mu.Lock()
	oc := cc.kept[id]
	cc.mu.Unlock()
	if oc != nil {
		return oc, nil
	}
	oc = &operationConfig{}
	var err error
	if oc.definition, err = a.Store.Definition(ctx, c.Tenant, c.Cluster.ID); err != nil {
		return nil, err
	}
	if oc.secrets, err = a.Store.ClusterSecrets(ctx, c.Tenant, c.Cluster.ID); err != nil {
		if c.Step.Action == ActionDelete {
			return oc, nil // machines can be given back without the keys that open them
		}
		return nil, err
	}
	cc.mu.Lock()
	defer cc.mu.Unlock()
	if other := cc.kept[id]; other != nil {
		return other, nil
	}
	if cc.kept == nil {
		cc.kept = map[int64]*operationConfig{}
	}
	cc.kept[id] = oc
	cc.age = append(cc.age, id)
	if len(cc.age) > maxConfigs {
		delete(cc.kept, cc.age[0])
		cc.age = cc.age[1:]
	}
	return oc, nil
}

// expand gives the cluster's configuration for a node, and the names that the node must be able to resolve. What does
// not depend on the node is expanded once: the planner sees to it that no service step runs before every address that
// the configuration names is known.
func (oc *operationConfig) expand(ctx context.Context, a *App, c Cluster, n Node) (map[string]any, []HostEntry, error) {
	oc.mu.Lock()
	defer oc.mu.Unlock()
	if oc.shared == nil {
		nodes, err := a.Store.Nodes(ctx, c.Tenant, c.ID)
		if err != nil {
			return nil, nil, err
		}
		if oc.macros == nil {
			if oc.macros, err = ParseMacros(oc.definition.Config); err != nil {
				return nil, nil, err
			}
		}
		shared, err := oc.macros.Shared(NewMacroCluster(c.Owner, nodes))
		if err != nil {
			return nil, nil, err
		}
		oc.shared, oc.hosts = shared, hostsOf(nodes, oc.macros.References())
	}
	config, err := oc.shared.For(n)
	if err != nil {
		return nil, nil, err
	}
	hosts := oc.hosts
	if self := hostEntry(n); !slices.ContainsFunc(hosts, func(h HostEntry) bool { return h.Names[0] == self.Names[0] }) {
		hosts = append(hosts[:len(hosts):len(hosts)], self)
	}
	return config, hosts, nil
}

// hostsOf names the nodes that carry one of the services.
func hostsOf(nodes []Node, services []string) (hosts []HostEntry) {
	named := map[string]bool{}
	for _, s := range services {
		named[s] = true
	}
	for _, n := range nodes {
		for _, s := range n.Services {
			if named[s] && n.Address(AddressBind) != "" {
				hosts = append(hosts, hostEntry(n))
				break
			}
		}
	}
	return hosts
}

// hostsHash names a list of hosts; "" for none.
func hostsHash(hosts []HostEntry) string {
	if len(hosts) == 0 {
		return ""
	}
	h := sha256.New()
	for _, e := range hosts {
		fmt.Fprintln(h, e.Address, e.Names)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func hostEntry(n Node) HostEntry {
	short, _ := cutLabel(n.Hostname)
	return HostEntry{Address: n.Address(AddressBind), Names: []string{n.Hostname, short, n.Name}}
}
