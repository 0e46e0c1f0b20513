package execution

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"

	"muster/app"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/plan"
	"muster/app/template"
)

// configCache keeps what the steps of an operation share, so that a big cluster is not read and its configuration not
// expanded for every step again. It holds secrets in memory for as long as an operation's steps are handed out.
type configCache struct {
	mu   sync.Mutex
	kept map[int64]*list.Element // of *operationConfig
	used list.List               // the most recently used is in front
}

// maxConfigs is how many operations are kept; the one that no one has asked for longest makes room. Where more run at the
// same time, each of their steps reads its cluster again.
const maxConfigs = 2048

// operationConfig is what the steps of one operation share.
type operationConfig struct {
	id         int64
	definition cluster.Definition
	secrets    cluster.Secrets
	ownAccount bool     // its machines are in an account of its users
	named      []string // the tenant's secrets that the configuration refers to, sorted

	mu     sync.Mutex
	macros *template.MacroConfig
	shared *template.SharedConfig
	hosts  []family.HostEntry
	nodes  template.MacroCluster // what shared was expanded with
	whole  bool                  // hosts are all that a node learns: there are too many nodes for each to know all
	peers  []family.HostEntry    // what names steps write, once the first of them is handed out
	digest string                // of peers

	count createBatchCount

	volumes volumesKnown
	hidden  *clusterHidden // of a command; nil until its first step is handed out
}

func (cc *configCache) get(ctx context.Context, a *Service, c *ClaimedStep) (*operationConfig, error) {
	id := c.Step.Operation
	if oc := cc.look(id); oc != nil {
		return oc, nil
	}
	oc := &operationConfig{id: id}
	var err error
	if oc.definition, err = a.Inputs.DefinitionAt(ctx, c.Tenant, c.Cluster.ID, id); err != nil {
		if c.Step.Action == app.ActionDelete && app.IsKeyLost(err) {
			return oc, nil
		}
		return nil, err
	}
	if oc.secrets, err = a.Inputs.ClusterSecrets(ctx, c.Tenant, c.Cluster.ID); err != nil {
		if c.Step.Action == app.ActionDelete {
			return oc, nil // machines can be given back without the keys that open them
		}
		return nil, err
	}
	if oc.ownAccount, err = a.Values.HasOwnAccount(ctx, c.Tenant, c.Cluster.ID); err != nil {
		return nil, err
	}
	oc.named = app.SecretNames(oc.definition.Config)
	return cc.keep(oc), nil
}

// look returns what is kept of an operation, or nil.
func (cc *configCache) look(id int64) *operationConfig {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	e := cc.kept[id]
	if e == nil {
		return nil
	}
	cc.used.MoveToFront(e)
	return e.Value.(*operationConfig)
}

// keep keeps it, unless someone else was faster; that one is given then.
func (cc *configCache) keep(oc *operationConfig) *operationConfig {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	if e := cc.kept[oc.id]; e != nil {
		return e.Value.(*operationConfig)
	}
	if cc.kept == nil {
		cc.kept = map[int64]*list.Element{}
	}
	cc.kept[oc.id] = cc.used.PushFront(oc)
	if cc.used.Len() > maxConfigs {
		oldest := cc.used.Remove(cc.used.Back()).(*operationConfig)
		delete(cc.kept, oldest.id)
	}
	return oc
}

// expand returns the cluster's configuration for a node, and the names that the node must be able to resolve. What does
// not depend on the node is expanded once: the planner sees to it that no service step runs before every address that
// the configuration names is known. Secret are the values in it that people have typed, or services reported, and no one may see. Steps that drain nodes
// get a configuration of their own; see plan.Drains.
func (oc *operationConfig) expand(ctx context.Context, a *Service, c app.Cluster, n app.Node, drains bool) (config map[string]any, hosts []family.HostEntry,
	secret []string, err error) {
	oc.mu.Lock()
	defer oc.mu.Unlock()
	if oc.shared == nil || drains {
		nodes, err := a.Inputs.Nodes(ctx, c.Tenant, c.ID)
		if err != nil {
			return nil, nil, nil, err
		}
		nodes = app.Counting(nodes)
		if oc.macros == nil {
			if oc.macros, err = template.ParseMacros(oc.definition.Config); err != nil {
				return nil, nil, nil, err
			}
		}
		if drains {
			defer func() { oc.shared = nil }() // what comes later speaks of the machines that come
			nodes = oc.drained(c, nodes)
		}
		oc.nodes = template.NewMacroCluster(c.Owner, nodes)
		shared, err := oc.macros.Shared(oc.nodes)
		if err != nil {
			return nil, nil, nil, err
		}
		oc.shared, oc.hosts, oc.whole = shared, hostsOf(nodes, oc.macros.References()), len(nodes) > plan.NamesMost
	}
	if secret, err = a.ManualSteps.giveAnswers(ctx, c, oc.macros.Asked(), &oc.nodes, []*app.Node{&n}); err != nil {
		return nil, nil, nil, err
	}
	facts, err := a.Facts.giveFacts(ctx, c, oc.macros.Facts(), []*app.Node{&n})
	if err != nil {
		return nil, nil, nil, err
	}
	secret = append(secret, facts...)
	if config, err = oc.shared.For(n); err != nil {
		return nil, nil, nil, err
	}
	hosts, _ = withSelf(oc.hosts, n)
	return config, hosts, secret, nil
}

// drained leaves out nodes whose machines are about to be taken away, or have been. Where the configuration can't do without them, they stay.
func (oc *operationConfig) drained(c app.Cluster, nodes []app.Node) []app.Node {
	without := slices.DeleteFunc(slices.Clone(nodes), func(n app.Node) bool { return n.Interrupted() || n.Lost() || n.Address(app.AddressBind) == "" })
	if _, err := oc.macros.Shared(template.NewMacroCluster(c.Owner, without)); err != nil {
		return nodes
	}
	return without
}

// withSelf adds a node to those that it has to know, and reports whether it was not among them.
func withSelf(hosts []family.HostEntry, n app.Node) ([]family.HostEntry, bool) {
	self := hostEntry(n)
	if slices.ContainsFunc(hosts, func(h family.HostEntry) bool { return h.Names[0] == self.Names[0] }) {
		return hosts, false
	}
	return append(hosts[:len(hosts):len(hosts)], self), true
}

// tooMany reports whether there are more nodes than each can know the names of.
func (oc *operationConfig) tooMany() bool {
	oc.mu.Lock()
	defer oc.mu.Unlock()
	return oc.whole
}

// everyone returns the names that a node is to have once all machines of the operation have come or gone, and their hash. They are read once:
// no step before changes who is there.
func (oc *operationConfig) everyone(ctx context.Context, a *Service, c app.Cluster, n app.Node) (hosts []family.HostEntry, hash string, err error) {
	oc.mu.Lock()
	defer oc.mu.Unlock()
	if oc.peers == nil {
		nodes, err := a.Inputs.Nodes(ctx, c.Tenant, c.ID)
		if err != nil {
			return nil, "", err
		}
		nodes = slices.DeleteFunc(app.Counting(nodes), func(n app.Node) bool {
			return n.Status == app.NodeDeleted || n.Lost() || n.Address(app.AddressBind) == ""
		})
		oc.peers = []family.HostEntry{}
		if len(nodes) <= plan.NamesMost {
			for _, n := range nodes {
				oc.peers = append(oc.peers, hostEntry(n))
			}
		} else {
			if oc.macros == nil {
				if oc.macros, err = template.ParseMacros(oc.definition.Config); err != nil {
					return nil, "", err
				}
			}
			oc.peers = append(oc.peers, hostsOf(nodes, oc.macros.References())...)
		}
		oc.digest = hostsHash(oc.peers)
	}
	if hosts, added := withSelf(oc.peers, n); added {
		return hosts, hostsHash(hosts), nil
	}
	return oc.peers, oc.digest, nil
}

// hostsOf names the nodes that carry one of the services.
func hostsOf(nodes []app.Node, services []string) (hosts []family.HostEntry) {
	named := map[string]bool{}
	for _, s := range services {
		named[s] = true
	}
	for _, n := range nodes {
		for _, s := range n.Services {
			if named[s] && n.Address(app.AddressBind) != "" {
				hosts = append(hosts, hostEntry(n))
				break
			}
		}
	}
	return hosts
}

// hostsHash names a list of hosts; "" for none.
func hostsHash(hosts []family.HostEntry) string {
	if len(hosts) == 0 {
		return ""
	}
	h := sha256.New()
	for _, e := range hosts {
		fmt.Fprintln(h, e.Address, e.Names, e.Services)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// HostEntryOf is how a node's own name and address stand in a hosts file.
func HostEntryOf(n app.Node) family.HostEntry { return hostEntry(n) }

func hostEntry(n app.Node) family.HostEntry {
	short, _ := app.CutLabel(n.Hostname)
	services := slices.Clone(n.Services)
	slices.Sort(services)
	return family.HostEntry{Address: n.Address(app.AddressBind), Names: []string{n.Hostname, short, n.Name}, Services: services}
}
