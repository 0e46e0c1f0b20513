package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Visibility says who may see a cluster beside its owner, those it is shared with, and admins.
type Visibility string

// The visibilities.
const (
	VisiblePrivate Visibility = "private" // no one else
	VisibleTenant  Visibility = "tenant"  // everyone in its tenant
)

// Visibilities are all of them.
var Visibilities = []Visibility{VisiblePrivate, VisibleTenant}

func (v Visibility) check() error {
	if slices.Contains(Visibilities, v) {
		return nil
	}
	return &Error{Code: EInvalid, Field: "visibility", Message: fmt.Sprintf("There is no visibility %.40q.", string(v)), Hint: "Use private or tenant."}
}

// Access is what a person may do with a cluster, as far as their role allows it. Each includes those before.
type Access int

// The kinds of access.
const (
	AccessNone    Access = iota // the cluster is not found
	AccessReader                // sees its state, events and logs
	AccessUser                  // signs in to its machines, sees its configuration, starts, stops and restarts services, puts it to sleep and wakes it
	AccessCoOwner               // what the owner may, including deleting and sharing
	AccessOwner
)

var accessWords = []string{"", "reader", "user", "co-owner", "owner"}

// SharedAccess are those that a cluster can be shared with.
var SharedAccess = []Access{AccessReader, AccessUser, AccessCoOwner}

func (a Access) String() string { return accessWords[a] }

// MarshalText implements encoding.TextMarshaler.
func (a Access) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *Access) UnmarshalText(text []byte) error {
	i := slices.Index(accessWords, string(text))
	if i < 0 {
		return &Error{Code: EInvalid, Field: "access", Message: fmt.Sprintf("There is no access %.40q.", text), Hint: "Use reader, user or co-owner."}
	}
	*a = Access(i)
	return nil
}

// ClusterReader is who looks at clusters. The zero value sees nothing.
type ClusterReader struct {
	Tenant  string
	User    string // Actor.Name
	Groups  []string
	Role    Role
	SeesAll bool
	// Clusters and Requests are open for the reader: to decide on, or to answer a question about.
	Clusters []string
	Requests []int64
}

// reader is the actor as one who looks at clusters.
func (a *App) reader(ctx context.Context, actor Actor) (r *ClusterReader, err error) {
	r = &ClusterReader{Tenant: actor.Tenant, User: actor.Name(), Groups: actor.Groups, Role: actor.Role, SeesAll: permissions["Clusters"].of(actor.Role) == all}
	if !r.SeesAll {
		r.Clusters, r.Requests, err = a.Store.OpenFor(ctx, *r)
	}
	return r, err
}

// Decides tells whether the reader may approve a request with such needs, or let it run without approvals.
func (r ClusterReader) Decides(needs []Need) bool {
	return permissions["Review"].of(r.Role) != no && slices.ContainsFunc(needs, func(n Need) bool {
		return n.fits(Actor{Role: r.Role, Groups: r.Groups}) || n.BreakGlass != "" && slices.Contains(r.Groups, n.BreakGlass)
	})
}

// Answers tells whether a question is for a group of the reader.
func (r ClusterReader) Answers(p Person) bool {
	return slices.ContainsFunc(p.Groups(), func(g string) bool { return slices.Contains(r.Groups, g) })
}

// AccessTo is what the reader may do with a cluster, where shared is the most that was shared with the reader or its groups.
func (r ClusterReader) AccessTo(c Cluster, shared Access) Access {
	switch {
	case c.Tenant != r.Tenant || c.Pool > 0:
		return AccessNone
	case c.Owner == r.User, c.OwnerGroup != "" && slices.Contains(r.Groups, c.OwnerGroup):
		return AccessOwner
	case c.Visibility == VisibleTenant, slices.Contains(r.Clusters, c.ID):
		return max(shared, AccessReader)
	}
	return shared
}

// ClusterShare is access to a cluster for a person or for the members of a group; the other is "".
type ClusterShare struct {
	Person string `json:"person,omitempty" maxLength:"64"`
	Group  string `json:"group,omitempty" maxLength:"200"`
	Access Access `json:"access,omitempty" enum:"reader,user,co-owner" doc:"What it allows, as far as the role of each allows it; left out where a share is removed"`
}

// Name is who it is for, as commands and records name it: ana, or group:ops.
func (s ClusterShare) Name() string {
	if s.Group != "" {
		return groupPrefix + s.Group
	}
	return s.Person
}

// ShareWith reads a name as Name writes it.
func ShareWith(name string) (s ClusterShare) {
	if group, is := strings.CutPrefix(name, groupPrefix); is {
		s.Group = group
	} else {
		s.Person = name
	}
	return s
}

// groupPrefix marks a group where a person could be named too. Accounts have no such name.
const groupPrefix = "group:"

// ClusterSharing says who has access to a cluster.
type ClusterSharing struct {
	Cluster    string         `json:"cluster"` // its id
	Owner      string         `json:"owner"`
	OwnerGroup string         `json:"owner_group,omitempty"`
	Visibility Visibility     `json:"visibility"`
	Shares     []ClusterShare `json:"shares" nullable:"false"` // persons first, each by name
}

// SharingChange changes who has access to a cluster. What is left out stays.
type SharingChange struct {
	Visibility Visibility     `json:"visibility,omitempty" enum:"private,tenant" doc:"private: only its owner, those it is shared with, and admins see it; tenant: everyone in the tenant does"`
	Add        []ClusterShare `json:"add,omitempty" maxItems:"100" doc:"Shares to add, or to set to another access"`
	Remove     []ClusterShare `json:"remove,omitempty" maxItems:"100" doc:"Shares to remove"`
}

// mostShares is how many shares a cluster can have. Groups are for more people.
const mostShares = 200

// SharingStore keeps who may see which cluster.
type SharingStore interface {
	// ReadableCluster finds a cluster that the reader may see, by id or, among live ones, by name. It sets Cluster.Access. ENotFound for all others.
	ReadableCluster(ctx context.Context, r ClusterReader, id string) (Cluster, error)
	// OpenFor returns the clusters and requests that wait for the reader: see ClusterReader.Decides and Answers.
	OpenFor(ctx context.Context, r ClusterReader) (clusters []string, requests []int64, err error)
	// ClusterSharing tells who has access to a cluster.
	ClusterSharing(ctx context.Context, tenant, cluster string) (ClusterSharing, error)
	// ShareCluster changes that, and writes an event and the audit. EInvalid names a person or group that the tenant does not have.
	ShareCluster(ctx context.Context, who Actor, cluster string, c SharingChange, most int, at time.Time) (ClusterSharing, error)
	// DefaultVisibility is that of a tenant's new clusters.
	DefaultVisibility(ctx context.Context, tenant string) (Visibility, error)
	SetDefaultVisibility(ctx context.Context, who Actor, v Visibility, at time.Time) error
}

// ClusterSharing tells who has access to a cluster, to those who may change that.
func (a *App) ClusterSharing(ctx context.Context, actor Actor, cluster string) (ClusterSharing, error) {
	c, err := a.look(ctx, actor, "ClusterSharing", cluster)
	if err != nil {
		return ClusterSharing{}, err
	}
	if err := actor.mayChange("ClusterSharing", c); err != nil {
		return ClusterSharing{}, err
	}
	return a.Store.ClusterSharing(ctx, actor.Tenant, c.ID)
}

// ShareCluster grants or withdraws access to a cluster, or sets its visibility. Withdrawing access doesn't take back an SSH key that
// was downloaded; certificates expire.
func (a *App) ShareCluster(ctx context.Context, actor Actor, cluster string, change SharingChange) (ClusterSharing, error) {
	c, err := a.look(ctx, actor, "ShareCluster", cluster)
	if err != nil {
		return ClusterSharing{}, err
	}
	if err := actor.mayChange("ShareCluster", c); err != nil {
		return ClusterSharing{}, err
	}
	if err := change.check(c); err != nil {
		return ClusterSharing{}, err
	}
	return a.Store.ShareCluster(ctx, actor, c.ID, change, mostShares, a.Now())
}

func (s SharingChange) check(c Cluster) error {
	bad := func(field, hint, format string, args ...any) error {
		return &Error{Code: EInvalid, Field: field, Message: fmt.Sprintf(format, args...), Hint: hint}
	}
	if s.Visibility != "" {
		if err := s.Visibility.check(); err != nil {
			return err
		}
	}
	for i, one := range s.Add {
		switch field := fmt.Sprintf("add[%d]", i); {
		case (one.Person == "") == (one.Group == ""):
			return bad(field, "Name one of them.", "A share is for a person or for a group.")
		case !slices.Contains(SharedAccess, one.Access):
			return bad(field+".access", "Use reader, user or co-owner.", "%s has no access that can be shared.", one.Name())
		case one.Person == c.Owner:
			return bad(field, "Transfer the cluster to change that.", "%s owns cluster %q.", one.Person, c.Name)
		}
	}
	for i, one := range s.Remove {
		if (one.Person == "") == (one.Group == "") {
			return bad(fmt.Sprintf("remove[%d]", i), "Name one of them.", "A share is for a person or for a group.")
		}
	}
	return nil
}

// Tell is the notice for those who get access that they did not have.
func (s ClusterShare) Tell(c Cluster, who Actor, at time.Time) Notice {
	n := Notice{At: at, Tenant: c.Tenant, Kind: NoticeCluster, Cluster: c.ID, Path: "/clusters/" + c.ID,
		Title: fmt.Sprintf("%s shared the cluster %s with you.", who.Name(), c.Name), Text: "Your access: " + s.Access.String() + "."}
	if s.Person != "" {
		n.Users = []string{s.Person}
	} else {
		n.Groups, n.Title = []string{s.Group}, fmt.Sprintf("%s shared the cluster %s with the group %s.", who.Name(), c.Name, s.Group)
	}
	return n
}

// DefaultVisibility is the visibility of the tenant's new clusters.
func (a *App) DefaultVisibility(ctx context.Context, actor Actor) (Visibility, error) {
	if err := actor.may("DefaultVisibility"); err != nil {
		return "", err
	}
	return a.Store.DefaultVisibility(ctx, actor.Tenant)
}

// SetDefaultVisibility sets it. Clusters that exist stay as they are.
func (a *App) SetDefaultVisibility(ctx context.Context, actor Actor, v Visibility) error {
	if err := actor.may("SetDefaultVisibility"); err != nil {
		return err
	}
	if err := v.check(); err != nil {
		return err
	}
	return a.Store.SetDefaultVisibility(ctx, actor, v, a.Now())
}
