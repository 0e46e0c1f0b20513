package volume

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/humanize"
	"muster/app/template"
)

// Store keeps volumes.
type Store interface {
	// Volumes returns a tenant's volumes, the newest first.
	Volumes(ctx context.Context, tenant string, f Filter) ([]Volume, error)
	// Volume returns one; ENotFound where the tenant has no such volume.
	Volume(ctx context.Context, tenant, id string) (Volume, error)
	// DeleteVolume has the reconciler delete a kept volume, and writes an audit row. EConflict where it isn't kept any more.
	DeleteVolume(ctx context.Context, who app.Actor, id string, now time.Time) (Volume, error)
	// ExtendVolume says until when a kept volume is kept; zero is forever.
	ExtendVolume(ctx context.Context, who app.Actor, id string, until, now time.Time) (Volume, error)
	// ForgetVolume ends a volume of a node that is lost at its provider, so that the node gets an empty one.
	ForgetVolume(ctx context.Context, who app.Actor, id string, now time.Time) (Volume, error)
}

// Clusters finds the cluster that someone names.
type Clusters interface {
	AuthorizedCluster(ctx context.Context, actor app.Actor, useCase, cluster string) (app.Cluster, error)
}

// Locks knows what admins have locked.
type Locks interface {
	// CheckLocks refuses a locked node, or one of a locked cluster, to all but admins. What doesn't exist isn't locked.
	CheckLocks(ctx context.Context, actor app.Actor, cluster, node string) error
}

// Config is what a service is created from.
type Config struct {
	Store Store
	// SnapshotStore is the same database.
	SnapshotStore SnapshotStore
	// MakesSnapshots reports whether a type of provider makes snapshots; nil: not known.
	MakesSnapshots func(kind string) bool
	Now            func() time.Time
	Catalogs       *catalog.Service
	Clusters       Clusters
	Locks          Locks
}

// Service lists volumes and decides what happens to them.
type Service struct{ Config }

// New returns the service on top of its needs.
func New(c Config) *Service { return &Service{c} }

// Filter chooses volumes.
type Filter struct {
	Owner   string // "" for everyone's
	Cluster string // id: those that the cluster has, or left; "" for all
	Kept    bool   // only those that belong to no cluster
	Gone    bool   // also deleted ones
}

// Volumes lists the actor's volumes, or with Filter.Cluster those of a cluster that it may see. Admins see those of everyone.
func (a *Service) Volumes(ctx context.Context, actor app.Actor, f Filter) ([]Volume, error) {
	if f.Cluster != "" {
		c, err := a.Clusters.AuthorizedCluster(ctx, actor, "Cluster", f.Cluster)
		if err != nil {
			return nil, err
		}
		f.Cluster = c.ID
	}
	reach, err := actor.Reach("Volumes")
	if err != nil {
		return nil, err
	}
	if f.Cluster == "" && reach != app.All {
		f.Owner = actor.User
	}
	list, err := a.Store.Volumes(ctx, actor.Tenant, f)
	if err != nil {
		return nil, err
	}
	currency, err := a.Catalogs.CurrencyOf(ctx, actor.Tenant)
	for i := range list {
		list[i].Currency = currency
	}
	return list, err
}

// Volume returns one of the actor's volumes.
func (a *Service) Volume(ctx context.Context, actor app.Actor, id string) (Volume, error) {
	v, err := a.mine(ctx, actor, "Volume", id)
	if err == nil {
		v.Currency, err = a.Catalogs.CurrencyOf(ctx, actor.Tenant)
	}
	return v, err
}

// mine returns a volume that the actor may do something with. Who may not learns no more of it than that it isn't theirs.
func (a *Service) mine(ctx context.Context, actor app.Actor, useCase, id string) (Volume, error) {
	if _, err := actor.Reach(useCase); err != nil {
		return Volume{}, err
	}
	v, err := a.Store.Volume(ctx, actor.Tenant, id)
	if err != nil {
		return v, err
	}
	if err := actor.MayTouch(useCase, v.Owner, "volume "+v.ID); err != nil || useCase == "Volume" || v.Cluster == "" {
		return v, err
	}
	return v, a.Locks.CheckLocks(ctx, actor, v.Cluster, v.Node)
}

// DeleteVolume deletes a kept volume with all that is on it. A volume that a node has goes with that.
func (a *Service) DeleteVolume(ctx context.Context, actor app.Actor, id string) (Volume, error) {
	v, err := a.mine(ctx, actor, "DeleteVolume", id)
	if err != nil || v.State == StateDeleted || v.State == StateDeleting && v.Error == "" {
		return v, err
	}
	return a.Store.DeleteVolume(ctx, actor, id, a.Now())
}

// ExtendVolume keeps a kept volume for some time from now, or forever where that is 0.
func (a *Service) ExtendVolume(ctx context.Context, actor app.Actor, id string, d time.Duration) (Volume, error) {
	if _, err := a.mine(ctx, actor, "ExtendVolume", id); err != nil {
		return Volume{}, err
	}
	if d < 0 || d > MostKeep || d > 0 && d < time.Hour {
		return Volume{}, &app.Error{Code: app.EInvalid, Field: "keep_for", Message: "A volume can't be kept for that long.", Hint: "Use 1h to 1825d, or forever."}
	}
	var until time.Time
	if d > 0 {
		until = a.Now().Add(d)
	}
	return a.Store.ExtendVolume(ctx, actor, id, until, a.Now())
}

// MostKeep is for how long a volume can be kept at once, unless forever.
const MostKeep = 5 * 365 * 24 * time.Hour

// ForgetVolume ends a volume that no longer exists at its provider. Its node's next attach step creates an empty one.
func (a *Service) ForgetVolume(ctx context.Context, actor app.Actor, id string) (Volume, error) {
	if _, err := a.mine(ctx, actor, "ForgetVolume", id); err != nil {
		return Volume{}, err
	}
	return a.Store.ForgetVolume(ctx, actor, id, a.Now())
}

// Use names a kept volume for a new cluster: the node that needs a volume of that name gets it. Of several nodes each takes one, in their order.
type Use struct {
	Name   string `json:"name"`
	Volume string `json:"volume"`
}

// MostUses is how many volumes a request can name.
const MostUses = 200

// Claim hands a kept volume to a node of a cluster that is being created. Where New is set, Volume is the snapshot that a new one is made of.
type Claim struct {
	Volume, Node, Service, Name string
	New                         *template.NodeVolume
	Price                       float64 // of a new one, per hour
	Zone                        string  // where the volume is, so that its node has to be there; "" for anywhere
}

// Planned is a volume that a cluster will have.
type Planned struct {
	Node string `json:"node"`
	template.NodeVolume
	Reuses string  `json:"volume,omitempty"` // the kept volume that it is
	Price  float64 `json:"cost_per_hour"`
	First  bool    `json:"-"` // its machine is created with it
}

// Node is a node that may need volumes.
type Node struct {
	Name     string
	Services []string
}

// Plan says which volumes nodes will have, and which of them are kept ones.
func Plan(nodes []Node, services map[string]*template.Service, config map[string]any, uses []Use, costPerGBHour float64) ([]Planned, error) {
	if len(uses) > MostUses {
		return nil, errUse("A request can name at most %d volumes, not %d.", MostUses, len(uses))
	}
	var list []Planned
	left := slices.Clone(uses)
	for _, n := range nodes {
		all, err := template.VolumesOf(services, n.Services, config)
		if err != nil {
			return nil, err
		}
		for _, v := range all {
			p := Planned{Node: n.Name, NodeVolume: v, Price: costPerGBHour * float64(v.SizeGB)}
			p.OnDelete = cmp.Or(p.OnDelete, template.VolumeDelete)
			if i := slices.IndexFunc(left, func(u Use) bool { return u.Name == v.Name || u.Name == v.Key() }); i >= 0 {
				if p.Reuses = left[i].Volume; !IsSnapshot(p.Reuses) {
					p.OnDelete = template.VolumeKeep
				}
				left = slices.Delete(left, i, i+1)
			}
			list = append(list, p)
		}
	}
	if len(left) > 0 {
		e := errUse("No node needs volume %.60q.", left[0].Name)
		if slices.ContainsFunc(list, func(p Planned) bool { return p.Name == left[0].Name }) {
			e = errUse("There are more volumes named %.60q than nodes that need one.", left[0].Name)
		}
		e.Hint = "Name a volume that a service of the cluster declares, once for each node."
		return nil, e
	}
	for i, u := range uses {
		if !IsSnapshot(u.Volume) && slices.ContainsFunc(uses[:i], func(o Use) bool { return o.Volume == u.Volume }) {
			return nil, errUse("Volume %.60q is named twice.", u.Volume)
		}
	}
	return list, nil
}

// NewCost is what those of some planned volumes cost per hour that are new. Kept ones have cost before.
func NewCost(list []Planned) (cost float64) {
	for _, p := range list {
		if p.Reuses == "" || IsSnapshot(p.Reuses) {
			cost += p.Price
		}
	}
	return cost
}

func errUse(format string, args ...any) *app.Error {
	return &app.Error{Code: app.EInvalid, Reason: "volume", Field: "volumes", Message: fmt.Sprintf(format, args...)}
}

func hinted(hint string, e *app.Error) *app.Error {
	e.Hint = hint
	return e
}

// CheckUses refuses kept volumes that the actor may not use, that are of another provider, or too small for what is planned.
func CheckUses(ctx context.Context, s UseStore, actor app.Actor, provider string, planned []Planned) (claims []Claim, err error) {
	for _, p := range planned {
		if p.Reuses == "" {
			continue
		}
		if _, err := actor.Reach("UseVolume"); err != nil {
			return nil, err
		}
		if IsSnapshot(p.Reuses) {
			if err := checkSnapshot(ctx, s, actor, provider, p); err != nil {
				return nil, err
			}
			planned := p.NodeVolume
			claims = append(claims, Claim{Volume: p.Reuses, Node: p.Node, Service: p.Service, Name: p.Name, New: &planned, Price: p.Price})
			continue
		}
		v, err := s.Volume(ctx, actor.Tenant, p.Reuses)
		if err != nil {
			return nil, err
		}
		if err := actor.MayTouch("UseVolume", v.Owner, "volume "+v.ID); err != nil {
			return nil, err
		}
		switch {
		case v.State != StateKept:
			return nil, hinted("Choose a kept volume: run muster volume list --kept.", errUse("Volume %s is %s, so no cluster can use it.", v.ID, v.State))
		case v.Provider != provider:
			return nil, hinted("Choose provider "+v.Provider+", or another volume.",
				errUse("Volume %s is at provider %s, and the cluster would be at %s.", v.ID, v.Provider, provider))
		case v.SizeGB < p.SizeGB:
			return nil, hinted("Choose a larger volume, or a smaller size.",
				errUse("Volume %s has %d GB, and %s needs %d GB.", v.ID, v.SizeGB, p.Key(), p.SizeGB))
		}
		claims = append(claims, Claim{Volume: v.ID, Node: p.Node, Service: p.Service, Name: p.Name, Zone: v.Zone})
	}
	return claims, nil
}

// Words says for people which volumes a cluster will have, what they cost, and what happens to them; "" for none.
func Words(list []Planned, currency string) string {
	type group struct {
		name   string
		size   int
		choice template.VolumeChoice
		reused string
	}
	count, price := map[group]int{}, 0.0
	var groups []group
	for _, p := range list {
		g := group{p.Name, p.SizeGB, p.OnDelete, ""}
		switch {
		case IsSnapshot(p.Reuses):
			g.reused = "data of a snapshot"
		case p.Reuses != "":
			g.reused = "existing data"
		}
		if count[g]++; count[g] == 1 {
			groups = append(groups, g)
		}
		price += p.Price
	}
	if len(groups) == 0 {
		return ""
	}
	var parts []string
	for _, g := range groups {
		fate := "deleted with its node"
		if g.choice == template.VolumeKeep {
			fate = "kept when its node is deleted"
		}
		part := fmt.Sprintf("%s (%d GB, %s)", g.name, g.size, fate)
		if g.reused != "" {
			part = fmt.Sprintf("%s (%s, %s)", g.name, g.reused, fate)
		}
		if n := count[g]; n > 1 {
			part += fmt.Sprintf(" on each of %d nodes", n)
		}
		parts = append(parts, part)
	}
	words := "Volumes: " + humanize.And(parts)
	if price > 0 {
		words += ", for " + humanize.PerHour(price, currency) + " on top"
	}
	return words + "."
}
