package app

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// BuildState is how a build stands with its cluster.
type BuildState string

// The states. The first five are those of builds that live.
const (
	BuildWaiting  BuildState = "waiting"  // for its turn
	BuildAsking   BuildState = "asking"   // for approvals
	BuildCreating BuildState = "creating" // its cluster is being made
	BuildReady    BuildState = "ready"
	BuildEnding   BuildState = "ending" // its cluster is being given back
	BuildOver     BuildState = "ended"
	BuildRefused  BuildState = "refused"
	BuildFailed   BuildState = "failed"
)

// Live tells whether it has a cluster, or may get one.
func (s BuildState) Live() bool {
	switch s {
	case BuildWaiting, BuildAsking, BuildCreating, BuildReady, BuildEnding:
		return true
	}
	return false
}

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
	Event   BuildEvent `json:"event"`
	State   BuildState `json:"state"`
	Words   string     `json:"words,omitempty"` // why it stands so
	Wanted  BuildAsk   `json:"wanted"`
	Request int64      `json:"request,omitempty"`
	Cluster string     `json:"cluster,omitempty"`
	Ahead   int        `json:"ahead,omitempty"` // of a waiting one: how many of its rule come before
	// Begun is when it was told, Made when its turn came.
	BegunAt   time.Time `json:"begun_at"`
	MadeAt    time.Time `json:"made_at,omitzero"`
	ReadyAt   time.Time `json:"ready_at,omitzero"`
	WaitUntil time.Time `json:"wait_until,omitzero"`
	EndAt     time.Time `json:"end_at,omitzero"` // when its end was told
	EndedAt   time.Time `json:"ended_at,omitzero"`
	// Callback is where it is told how it stands; nil where nobody asked for that.
	Callback *BuildCallbacks `json:"callback,omitempty"`
	// Statuses are what its commit was made to show, and what became of that.
	Statuses []BuildCallback `json:"statuses,omitempty"`

	// How it goes on; see TendBuilds.
	Final   BuildState `json:"-"`
	Tries   int        `json:"-"`
	RetryAt time.Time  `json:"-"`
	DueAt   time.Time  `json:"-"`
	Version int64      `json:"-"`
}

// Object is how a build stands in the audit.
func (b Build) Object() string { return "build " + strconv.FormatInt(b.ID, 10) }

// Path is where it is below its hook's address.
func (b Build) Path() string { return "/builds/" + strconv.FormatInt(b.ID, 10) }

// BuildView is a build with its cluster as it stands. Keys are by reference: where they can be asked for.
type BuildView struct {
	Build
	Status    ClusterStatus `json:"status,omitempty"`
	ExpiresAt time.Time     `json:"expires_at,omitzero"`
	Nodes     []BuildNode   `json:"nodes" nullable:"false"`
	Links     []Link        `json:"links" nullable:"false"`
	// Inventory and SSHKey are addresses below the server's, "" until there is something to be had there. The face fills them in.
	Inventory string `json:"inventory,omitempty"`
	SSHKey    string `json:"ssh_key,omitempty"`
}

// BuildNode is a machine of a build's cluster.
type BuildNode struct {
	Name     string   `json:"name"`
	Hostname string   `json:"hostname"`
	Address  string   `json:"address,omitempty"`
	Inside   string   `json:"inside,omitempty"` // where its services listen
	User     string   `json:"user"`
	Port     int      `json:"port"`
	Services []string `json:"services" nullable:"false"`
	Status   string   `json:"status"`
}

// BuildFilter narrows a list of builds, which is newest first.
type BuildFilter struct {
	ID      int64  // 0: any
	Hook    string // its name
	Key     string // exactly
	Build   string // exactly
	Cluster string
	Live    bool
	Before  int64
	Limit   int // 0: 50; at most 200

	Reader *ClusterReader // only what it may see; nil: all. App sets it.
}

// MaxBuildPage is how many builds or deliveries a page has at most.
const MaxBuildPage = 200

// Builds lists the builds of the tenant, newest first.
func (a *App) BuildList(ctx context.Context, actor Actor, f BuildFilter) ([]Build, error) {
	if err := actor.may("BuildList"); err != nil {
		return nil, err
	}
	if f.Limit = min(f.Limit, MaxBuildPage); f.Limit <= 0 {
		f.Limit = 50
	}
	reader, err := a.reader(ctx, actor)
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

// Build gives one with its cluster; ENotFound where the tenant has none of the number.
func (a *App) Build(ctx context.Context, actor Actor, id int64) (BuildView, error) {
	if err := actor.may("Build"); err != nil {
		return BuildView{}, err
	}
	if _, err := a.build(ctx, actor, id); err != nil {
		return BuildView{}, err
	}
	return a.buildView(ctx, actor, id)
}

// build finds a build that the actor may see.
func (a *App) build(ctx context.Context, actor Actor, id int64) (Build, error) {
	reader, err := a.reader(ctx, actor)
	if err != nil {
		return Build{}, err
	}
	found, err := a.Store.Builds(ctx, actor.Tenant, BuildFilter{ID: id, Limit: 1, Reader: reader})
	if err != nil {
		return Build{}, err
	}
	if len(found) == 0 {
		return Build{}, Errorf(ENotFound, "There is no build %d.", id)
	}
	return found[0], nil
}

// AwaitBuild is Build, but waits while the build may still become ready: until it is, has failed, or until wait is over.
func (a *App) AwaitBuild(ctx context.Context, actor Actor, id int64, wait time.Duration) (BuildView, error) {
	if err := actor.may("AwaitBuild"); err != nil {
		return BuildView{}, err
	}
	return a.awaitBuild(ctx, wait, func() (BuildView, error) { return a.Build(ctx, actor, id) })
}

// MaxBuildAwait is how long one may be kept waiting at once.
const MaxBuildAwait = 25 * time.Second

func (a *App) awaitBuild(ctx context.Context, wait time.Duration, look func() (BuildView, error)) (BuildView, error) {
	changed, stop := a.Store.Watch(BuildsTopic())
	defer stop()
	wait = min(wait, MaxBuildAwait)
	timer := time.NewTimer(max(wait, 0))
	defer timer.Stop()
	for {
		v, err := look()
		if err != nil || wait <= 0 || v.State != BuildWaiting && v.State != BuildAsking && v.State != BuildCreating {
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

func (a *App) buildView(ctx context.Context, actor Actor, id int64) (BuildView, error) {
	b, err := a.Store.Build(ctx, actor.Tenant, id)
	b = b.Shown()
	v := BuildView{Build: b, Nodes: []BuildNode{}, Links: []Link{}}
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
	v.Links = expandLinks(d.Links, c.Cluster, c.Nodes)
	v.Nodes = buildNodes(c)
	return v, nil
}

// buildNodes are the machines of a cluster that are there to stay.
func buildNodes(c ClusterView) []BuildNode {
	nodes := []BuildNode{}
	for _, n := range c.Nodes {
		if n.Status == NodeDeleted || n.Leaving {
			continue
		}
		in := n.Address(AddressBind)
		at := n.Address(AddressAccess)
		if in == at {
			in = ""
		}
		port := n.SSHPort
		if port == 0 {
			port = 22
		}
		nodes = append(nodes, BuildNode{Name: n.Name, Hostname: n.Hostname, Address: at, Inside: in, User: firstOf(n.SSHUser, "root"), Port: port,
			Services: append([]string{}, n.Services...), Status: string(n.Status)})
	}
	return nodes
}

// EndBuild ends a build now, as if the build system had told it: what waits is dropped, a cluster is given back. Ending it again changes
// nothing. It is for the hook's owner, and admins.
func (a *App) EndBuild(ctx context.Context, actor Actor, id int64) (BuildView, error) {
	if err := actor.may("EndBuild"); err != nil {
		return BuildView{}, err
	}
	b, err := a.build(ctx, actor, id)
	if err != nil {
		return BuildView{}, err
	}
	if err := actor.mayTouch("EndBuild", b.Owner, fmt.Sprintf("build %d", id)); err != nil {
		return BuildView{}, err
	}
	if err := a.Store.EndBuild(ctx, actor, b, "It was ended by "+actor.Name()+".", a.Now()); err != nil {
		return BuildView{}, err
	}
	return a.buildView(ctx, actor, id)
}

// ExtendBuild moves the end of the lease of a build's cluster further away, within what the template allows. EConflict where it has no
// cluster.
func (a *App) ExtendBuild(ctx context.Context, actor Actor, id int64, by time.Duration) (BuildView, error) {
	if err := actor.may("ExtendBuild"); err != nil {
		return BuildView{}, err
	}
	b, err := a.build(ctx, actor, id)
	if err != nil {
		return BuildView{}, err
	}
	if err := actor.mayTouch("ExtendBuild", b.Owner, fmt.Sprintf("build %d", id)); err != nil {
		return BuildView{}, err
	}
	if err := a.extendBuild(ctx, actor, b, by); err != nil {
		return BuildView{}, err
	}
	return a.buildView(ctx, actor, id)
}

func (a *App) extendBuild(ctx context.Context, actor Actor, b Build, by time.Duration) error {
	if b.Cluster == "" || !b.State.Live() || b.State == BuildEnding {
		return &Error{Code: EConflict, Reason: "no_cluster", Message: fmt.Sprintf("Build %d has no cluster now.", b.ID), Hint: "It is " + string(b.State) + "."}
	}
	_, err := a.ExtendLease(ctx, actor, b.Cluster, LeaseRequest{By: by})
	return err
}
