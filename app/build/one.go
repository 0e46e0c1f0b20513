package build

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/lease"
	"muster/app/template"
)

// Store keeps builds.
type Store interface {
	Build(ctx context.Context, tenant string, id int64) (Build, error)
	// Builds returns them newest first, without Ahead.
	Builds(ctx context.Context, tenant string, f Filter) ([]Build, error)
	Definition(ctx context.Context, tenant string, cluster string) (cluster.Definition, error)
	EndBuild(ctx context.Context, who app.Actor, b Build, words string, now time.Time) error
	View(ctx context.Context, tenant string, id string) (cluster.View, error)
	Watch(topic app.Topic) (changed <-chan struct{}, stop func())
}

// BuildsConfig is what Builds is created from. Only what says so may be nil.
type BuildsConfig struct {
	Store    Store
	Now      func() time.Time
	Clusters *cluster.Finder
	Leases   *lease.Service
}

// Builds are what rules began, with their clusters.
type Builds struct {
	BuildsConfig
}

// NewBuilds returns them on top of what c holds.
func NewBuilds(c BuildsConfig) *Builds { return &Builds{BuildsConfig: c} }

// Build is what one build is to have: a cluster, from when its turn comes until it ends.
type Build struct {
	ID     int64  `json:"id"`
	Tenant string `json:"-"`
	HookID string `json:"-"`
	Hook   string `json:"hook"`
	Owner  string `json:"owner"` // as whom it is done
	Rule   string `json:"rule"`
	Key    string `json:"key"`
	// Of the event that began it:
	Event   app.BuildEvent `json:"event"`
	State   app.BuildState `json:"state"`
	Message string         `json:"message,omitempty"` // why the state is so
	Spec    Spec           `json:"spec"`
	Request int64          `json:"request,omitempty"`
	Cluster string         `json:"cluster,omitempty"`
	Ahead   int            `json:"ahead,omitempty"` // of a waiting one: how many of its rule come before
	// StartedAt is when it was reported, CreatedAt when its cluster was requested.
	StartedAt time.Time `json:"started_at"`
	CreatedAt time.Time `json:"created_at,omitzero"`
	ReadyAt   time.Time `json:"ready_at,omitzero"`
	WaitUntil time.Time `json:"wait_until,omitzero"`
	EndAt     time.Time `json:"end_at,omitzero"` // when its end was reported
	EndedAt   time.Time `json:"ended_at,omitzero"`
	// Callback is where its progress is reported; nil when no callback was asked for.
	Callback *Callbacks `json:"callback,omitempty"`
	// Statuses are what its commit was made to show, and what happened to that.
	Statuses []Callback `json:"statuses,omitempty"`

	// How it continues; see ReconcileBuilds.
	Final   app.BuildState `json:"-"`
	Tries   int            `json:"-"`
	RetryAt time.Time      `json:"-"`
	DueAt   time.Time      `json:"-"`
	Version int64          `json:"-"`
}

// Object is the state of a build in the audit.
func (b Build) Object() string { return "build " + strconv.FormatInt(b.ID, 10) }

// Filter narrows a list of builds, which is newest first.
type Filter struct {
	ID      int64  // 0: any
	Hook    string // its name
	Key     string // exactly
	Build   string // exactly
	Cluster string
	Live    bool
	Before  int64
	Limit   int // 0: 50; at most 200

	Reader *app.ClusterReader // only what it may see; nil: all. The service sets it.
}

// View is a build with its cluster as it is. Keys are by reference: where they can be asked for.
type View struct {
	Build
	Status    app.ClusterStatus `json:"status,omitempty"`
	ExpiresAt time.Time         `json:"expires_at,omitzero"`
	Nodes     []app.BuildNode   `json:"nodes"`
	Links     []app.Link        `json:"links"`
	// Inventory and SSHKey are addresses below the server's, "" until there is something to be had there. The face fills them in.
	Inventory string `json:"inventory,omitempty"`
	SSHKey    string `json:"ssh_key,omitempty"`
}

// MaxBuildPage is how many builds or deliveries a page has at most.
const MaxBuildPage = 200

// BuildList returns the builds of the tenant, newest first.
func (a *Builds) BuildList(ctx context.Context, actor app.Actor, f Filter) ([]Build, error) {
	if err := actor.Authorize("BuildList"); err != nil {
		return nil, err
	}
	if f.Limit = min(f.Limit, MaxBuildPage); f.Limit <= 0 {
		f.Limit = 50
	}
	reader, err := a.Clusters.ReaderOf(ctx, actor)
	if err != nil {
		return nil, err
	}
	f.Reader = reader
	list, err := a.Store.Builds(ctx, actor.Tenant, f)
	for i := range list {
		list[i] = list[i].Shown()
	}
	return list, err
}

// Build returns one with its cluster; ENotFound where the tenant has none of the number.
func (a *Builds) Build(ctx context.Context, actor app.Actor, id int64) (View, error) {
	if err := actor.Authorize("Build"); err != nil {
		return View{}, err
	}
	if _, err := a.build(ctx, actor, id); err != nil {
		return View{}, err
	}
	return a.buildView(ctx, actor, id)
}

// build finds a build that the actor may see.
func (a *Builds) build(ctx context.Context, actor app.Actor, id int64) (Build, error) {
	reader, err := a.Clusters.ReaderOf(ctx, actor)
	if err != nil {
		return Build{}, err
	}
	found, err := a.Store.Builds(ctx, actor.Tenant, Filter{ID: id, Limit: 1, Reader: reader})
	if err != nil {
		return Build{}, err
	}
	if len(found) == 0 {
		return Build{}, app.Errorf(app.ENotFound, "Build %d doesn't exist.", id)
	}
	return found[0], nil
}

// AwaitBuild is Build, but waits while the build may still become ready: until it is, has failed, or until wait is over.
func (a *Builds) AwaitBuild(ctx context.Context, actor app.Actor, id int64, wait time.Duration) (View, error) {
	if err := actor.Authorize("AwaitBuild"); err != nil {
		return View{}, err
	}
	return a.awaitBuild(ctx, wait, func() (View, error) { return a.Build(ctx, actor, id) })
}

// MaxBuildAwait is how long one may be kept waiting at once.
const MaxBuildAwait = 25 * time.Second

func (a *Builds) awaitBuild(ctx context.Context, wait time.Duration, look func() (View, error)) (View, error) {
	changed, stop := a.Store.Watch(app.BuildsTopic())
	defer stop()
	wait = min(wait, MaxBuildAwait)
	timer := time.NewTimer(max(wait, 0))
	defer timer.Stop()
	for {
		v, err := look()
		if err != nil || wait <= 0 || v.State != app.BuildWaiting && v.State != app.BuildAsking && v.State != app.BuildCreating {
			return v, err
		}
		select {
		case <-ctx.Done():
			return v, nil
		case <-timer.C:
			return look()
		case <-changed:
		}
	}
}

func (a *Builds) buildView(ctx context.Context, actor app.Actor, id int64) (View, error) {
	b, err := a.Store.Build(ctx, actor.Tenant, id)
	b = b.Shown()
	v := View{Build: b, Nodes: []app.BuildNode{}, Links: []app.Link{}}
	if err != nil || b.Cluster == "" || !b.State.Live() {
		return v, err
	}
	c, err := a.Store.View(ctx, b.Tenant, b.Cluster)
	if err != nil {
		return v, err
	}
	v.Status, v.ExpiresAt = c.Status, c.ExpiresAt
	d, err := a.Store.Definition(ctx, b.Tenant, b.Cluster)
	if err != nil {
		return v, err
	}
	v.Links = cluster.ExpandLinks(d.Links, c.Cluster, c.Nodes)
	v.Nodes = buildNodes(c)
	return v, nil
}

// buildNodes are the machines of a cluster that are there to stay.
func buildNodes(c cluster.View) []app.BuildNode {
	nodes := []app.BuildNode{}
	for _, n := range c.Nodes {
		if n.Status == app.NodeDeleted || n.Leaving {
			continue
		}
		in := n.Address(app.AddressBind)
		at := n.Address(app.AddressAccess)
		if in == at {
			in = ""
		}
		port := n.SSHPort
		if port == 0 {
			port = 22
		}
		nodes = append(nodes, app.BuildNode{Name: n.Name, Hostname: n.Hostname, Address: at, Inside: in, User: cmp.Or(n.SSHUser, "root"), Port: port,
			Services: append([]string{}, n.Services...), Status: string(n.Status)})
	}
	return nodes
}

// EndBuild ends a build now, as if the build system had reported it: what waits is dropped, a cluster is given back. Ending it again changes
// nothing. It is for the hook's owner, and admins.
func (a *Builds) EndBuild(ctx context.Context, actor app.Actor, id int64) (View, error) {
	if err := actor.Authorize("EndBuild"); err != nil {
		return View{}, err
	}
	b, err := a.build(ctx, actor, id)
	if err != nil {
		return View{}, err
	}
	if err := actor.MayTouch("EndBuild", b.Owner, fmt.Sprintf("build %d", id)); err != nil {
		return View{}, err
	}
	if err := a.Store.EndBuild(ctx, actor, b, "Ended by "+actor.Name()+".", a.Now()); err != nil {
		return View{}, err
	}
	return a.buildView(ctx, actor, id)
}

// ExtendBuild moves the end of the lease of a build's cluster further away, within what the template allows. EConflict where it has no
// cluster.
func (a *Builds) ExtendBuild(ctx context.Context, actor app.Actor, id int64, by time.Duration) (View, error) {
	if err := actor.Authorize("ExtendBuild"); err != nil {
		return View{}, err
	}
	b, err := a.build(ctx, actor, id)
	if err != nil {
		return View{}, err
	}
	if err := actor.MayTouch("ExtendBuild", b.Owner, fmt.Sprintf("build %d", id)); err != nil {
		return View{}, err
	}
	if err := a.extendBuild(ctx, actor, b, by); err != nil {
		return View{}, err
	}
	return a.buildView(ctx, actor, id)
}

func (a *Builds) extendBuild(ctx context.Context, actor app.Actor, b Build, by time.Duration) error {
	if b.Cluster == "" || !b.State.Live() || b.State == app.BuildEnding {
		return &app.Error{Code: app.EConflict, Reason: "no_cluster", Message: fmt.Sprintf("Build %d has no cluster now.", b.ID), Hint: "The build is " + string(b.State) + "."}
	}
	_, err := a.Leases.ExtendLease(ctx, actor, b.Cluster, template.LeaseRequest{By: by})
	return err
}
