package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
)

// SharingStore is what Sharing needs of the database.
type SharingStore interface {
	// ClusterSharing tells who has access to a cluster.
	ClusterSharing(ctx context.Context, tenant string, cluster string) (ClusterSharing, error)
	// DefaultVisibility is that of a tenant's new clusters.
	DefaultVisibility(ctx context.Context, tenant string) (app.Visibility, error)
	SetDefaultVisibility(ctx context.Context, who app.Actor, v app.Visibility, at time.Time) error
	// ShareCluster changes that, and writes an event and the audit. EInvalid names a person or group that the tenant does not have.
	ShareCluster(ctx context.Context, who app.Actor, cluster string, c SharingChange, most int, at time.Time) (ClusterSharing, error)
}

// SharingConfig is what Sharing is created from.
type SharingConfig struct {
	Store    SharingStore
	Now      func() time.Time
	Clusters *Finder
}

// Sharing says who may see and use a cluster.
type Sharing struct {
	SharingConfig
}

// NewSharing returns Sharing on top of their needs.
func NewSharing(c SharingConfig) *Sharing { return &Sharing{SharingConfig: c} }

// SharedAccess are those that a cluster can be shared with.
var SharedAccess = []app.Access{app.AccessReader, app.AccessUser, app.AccessCoOwner}

// Share is access to a cluster for a person or for the members of a group; the other is "".
type Share struct {
	Person string     `json:"person,omitempty"`
	Group  string     `json:"group,omitempty"`
	Access app.Access `json:"access,omitempty"`
}

// Name is who it is for, as commands and records name it: ana, or group:ops.
func (s Share) Name() string {
	if s.Group != "" {
		return groupPrefix + s.Group
	}
	return s.Person
}

// ShareWith reads a name as Name writes it.
func ShareWith(name string) (s Share) {
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
	Visibility app.Visibility `json:"visibility"`
	Shares     []Share        `json:"shares"` // persons first, each by name
}

// SharingChange changes who has access to a cluster. What is left out stays.
type SharingChange struct {
	Visibility app.Visibility `json:"visibility,omitempty"`
	Add        []Share        `json:"add,omitempty"`
	Remove     []Share        `json:"remove,omitempty"`
}

// mostShares is how many shares a cluster can have. Groups are for more people.
const mostShares = 200

// ClusterSharing tells who has access to a cluster, to those who may change that.
func (a *Sharing) ClusterSharing(ctx context.Context, actor app.Actor, cluster string) (ClusterSharing, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "ClusterSharing", cluster)
	if err != nil {
		return ClusterSharing{}, err
	}
	if err := actor.MayChange("ClusterSharing", c); err != nil {
		return ClusterSharing{}, err
	}
	return a.Store.ClusterSharing(ctx, actor.Tenant, c.ID)
}

// ShareCluster grants or withdraws access to a cluster, or sets its visibility. Withdrawing access doesn't take back an SSH key that
// was downloaded; certificates expire.
func (a *Sharing) ShareCluster(ctx context.Context, actor app.Actor, cluster string, change SharingChange) (ClusterSharing, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "ShareCluster", cluster)
	if err != nil {
		return ClusterSharing{}, err
	}
	if err := actor.MayChange("ShareCluster", c); err != nil {
		return ClusterSharing{}, err
	}
	if err := change.check(c); err != nil {
		return ClusterSharing{}, err
	}
	return a.Store.ShareCluster(ctx, actor, c.ID, change, mostShares, a.Now())
}

func (s SharingChange) check(c app.Cluster) error {
	bad := func(field, hint, format string, args ...any) error {
		return &app.Error{Code: app.EInvalid, Field: field, Message: fmt.Sprintf(format, args...), Hint: hint}
	}
	if s.Visibility != "" {
		if err := s.Visibility.Check(); err != nil {
			return err
		}
	}
	for i, one := range s.Add {
		switch field := fmt.Sprintf("add[%d]", i); {
		case (one.Person == "") == (one.Group == ""):
			return bad(field, "Name a person or a group.", "A share needs exactly one person or group.")
		case !slices.Contains(SharedAccess, one.Access):
			return bad(field+".access", "Use reader, user or co-owner.", "Invalid access for %s.", one.Name())
		case one.Person == c.Owner:
			return bad(field, "Transfer the cluster instead.", "%s already owns cluster %q.", one.Person, c.Name)
		}
	}
	for i, one := range s.Remove {
		if (one.Person == "") == (one.Group == "") {
			return bad(fmt.Sprintf("remove[%d]", i), "Name a person or a group.", "A share needs exactly one person or group.")
		}
	}
	return nil
}

// Notice is the notice for those who get access that they did not have.
func (s Share) Notice(c app.Cluster, who app.Actor, at time.Time) app.Notice {
	n := app.Notice{At: at, Tenant: c.Tenant, Kind: app.NoticeCluster, Cluster: c.ID, About: app.ClusterSubject(c.ID),
		Title: fmt.Sprintf("%s shared cluster %s with you.", who.Name(), c.Name), Text: "Your access: " + s.Access.String() + "."}
	if s.Person != "" {
		n.Users = []string{s.Person}
	} else {
		n.Groups, n.Title = []string{s.Group}, fmt.Sprintf("%s shared cluster %s with group %s.", who.Name(), c.Name, s.Group)
	}
	return n
}

// DefaultVisibility is the visibility of the tenant's new clusters.
func (a *Sharing) DefaultVisibility(ctx context.Context, actor app.Actor) (app.Visibility, error) {
	if err := actor.Authorize("DefaultVisibility"); err != nil {
		return "", err
	}
	return a.Store.DefaultVisibility(ctx, actor.Tenant)
}

// SetDefaultVisibility sets it. Clusters that exist stay as they are.
func (a *Sharing) SetDefaultVisibility(ctx context.Context, actor app.Actor, v app.Visibility) error {
	if err := actor.Authorize("SetDefaultVisibility"); err != nil {
		return err
	}
	if err := v.Check(); err != nil {
		return err
	}
	return a.Store.SetDefaultVisibility(ctx, actor, v, a.Now())
}
