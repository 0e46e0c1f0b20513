package quarantine

import (
	"context"
	"fmt"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/template"
)

// Store is what Machines needs of the database.
type Store interface {
	// KeptMachines lists those of a tenant that a reader may see, newest first; from names the cluster that they were in, "" is all.
	KeptMachines(ctx context.Context, tenant string, reader *app.ClusterReader, from string, limit int) ([]Machine, error)
}

// MachinesConfig is what Machines is created from. Only what says so may be nil.
type MachinesConfig struct {
	Store    Store
	Catalogs *catalog.Service
	Clusters *cluster.Finder
	// Firewalls reports whether a type of provider makes firewalls; nil: not known.
	Firewalls func(kind string) bool
}

// Machines lists failed machines that are kept.
type Machines struct {
	MachinesConfig
}

// NewMachines returns Machines on top of their needs.
func NewMachines(c MachinesConfig) *Machines { return &Machines{MachinesConfig: c} }

// Isolation says who reaches a kept machine.
type Isolation string

// The states of a kept machine's firewall.
const (
	Isolated   Isolation = "isolated"    // its firewall is closed to all but SSH
	Isolating  Isolation = "isolating"   // its firewall is being closed
	Unisolated Isolation = "unsupported" // its provider makes no firewalls: it's open to whatever its network allows
	Exposed    Isolation = "failed"      // its firewall couldn't be closed
)

// Words say it in a sentence.
func (i Isolation) Words() string {
	switch i {
	case Isolated:
		return "Closed to all but SSH."
	case Isolating:
		return "The firewall is being closed to all but SSH."
	case Exposed:
		return "The firewall couldn't be closed. The machine's page shows why."
	}
	return "Not isolated: the provider doesn't make firewalls, so the machine is open to whatever its network allows."
}

// Machine is a failed machine that is kept for inspection, as a cluster of its own.
type Machine struct {
	app.Cluster
	FromName    string    `json:"kept_from_name"`              // of the cluster that it was in
	FromDeleted bool      `json:"kept_from_deleted,omitempty"` // which no longer exists
	MachineID   string    `json:"machine_id"`
	Hardware    string    `json:"hardware"`
	Address     string    `json:"address,omitempty"`
	SSHUser     string    `json:"ssh_user,omitempty"`
	Isolation   Isolation `json:"isolation"`
}

// Usable refuses a machine that can't be used again in its cluster. Node is what it is while it's kept.
func (m Machine) Usable(node app.Node) error {
	e := &app.Error{Code: app.EConflict, Field: "kept_machine", Reason: ReasonGone}
	switch {
	case node.Lost():
		e.Message = fmt.Sprintf("The machine of %s is lost, so it can't be used again.", m.Name)
		e.Hint = "Delete it: muster cluster delete " + m.Name + "."
	case m.Status == app.ClusterPending:
		e.Message = fmt.Sprintf("The firewall of %s is still being closed.", m.Name)
		e.Hint = "Wait until it's active, then use it again."
	case m.Status == app.ClusterFailed:
		e.Message = fmt.Sprintf("The last operation of %s failed, so it can't be used again.", m.Name)
		e.Hint = fmt.Sprintf("See why: muster cluster show %s. Then resume that operation.", m.Name)
	case m.Status != app.ClusterActive:
		e.Message = fmt.Sprintf("%s is %s, so it can't be used again.", m.Name, m.Status)
		e.Hint = "Create a new machine: muster cluster grow " + m.FromName + "."
	default:
		return nil
	}
	return e
}

// mostListed bounds a list: no tenant keeps more at the same time.
const mostListed = 10 * MostKept

// KeptMachines lists the failed machines that are kept of a cluster, by id or name, newest first; "" lists all that the actor may see.
func (a *Machines) KeptMachines(ctx context.Context, actor app.Actor, id string) ([]Machine, error) {
	if err := actor.Authorize("KeptMachines"); err != nil {
		return nil, err
	}
	if id != "" {
		c, err := a.Clusters.AuthorizedCluster(ctx, actor, "KeptMachines", id)
		if err != nil {
			return nil, err
		}
		id = c.ID
	}
	reader, err := a.Clusters.ReaderOf(ctx, actor)
	if err != nil {
		return nil, err
	}
	list, err := a.Store.KeptMachines(ctx, actor.Tenant, reader, id, mostListed)
	if err != nil || len(list) == 0 {
		return list, err
	}
	entries, err := a.Catalogs.CatalogOf(ctx, actor.Tenant)
	if err != nil {
		return nil, err
	}
	currency, err := a.Catalogs.CurrencyOf(ctx, actor.Tenant)
	for i := range list {
		list[i].Currency = currency
		list[i].Isolation = a.isolation(list[i].Cluster, entries)
	}
	return list, err
}

func (a *Machines) isolation(c app.Cluster, entries *template.Catalog) Isolation {
	spec := entries.Providers[c.Provider]
	switch {
	case spec == nil || a.Firewalls == nil || !a.Firewalls(spec.Type):
		return Unisolated
	case c.Status == app.ClusterActive:
		return Isolated
	case c.Status == app.ClusterPending:
		return Isolating
	}
	return Exposed
}
