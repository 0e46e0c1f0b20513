package sharing

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/cluster"
)

// Store is what a Service needs of the database.
type Store interface {
	// ClusterSharing tells who has access to a cluster, without shares that have ended.
	ClusterSharing(ctx context.Context, tenant string, id string, now time.Time) (ClusterSharing, error)
	// DefaultVisibility is that of a tenant's new clusters.
	DefaultVisibility(ctx context.Context, tenant string) (app.Visibility, error)
	SetDefaultVisibility(ctx context.Context, who app.Actor, v app.Visibility, at time.Time) error
	// ShareCluster changes that, and writes an event and the audit. EInvalid names a person or group that the tenant does not have.
	ShareCluster(ctx context.Context, who app.Actor, id string, c SharingChange, most int, at time.Time) (ClusterSharing, error)
	// EndShares removes shares that have ended, of all tenants, with an event, the audit and notices. It returns how many; there may be more at limit.
	EndShares(ctx context.Context, now time.Time, limit int) (int, error)
}

// Config is what a Service is created from.
type Config struct {
	Store    Store
	Now      func() time.Time
	Clusters *cluster.Finder
}

// Service says who may see and use a cluster.
type Service struct {
	Config
}

// New returns the service on top of its needs.
func New(c Config) *Service { return &Service{Config: c} }

// SharedAccess are those that a cluster can be shared with.
var SharedAccess = []app.Access{app.AccessReader, app.AccessUser, app.AccessCoOwner}

// Share is access to a cluster for a person or for the members of a group; the other is "".
type Share struct {
	Person string     `json:"person,omitempty"`
	Group  string     `json:"group,omitempty"`
	Access app.Access `json:"access,omitempty"`
	// Until is when it ends; zero for never. Those who share may say For instead, such as 8h.
	Until time.Time `json:"until,omitzero"`
	For   string    `json:"for,omitempty"`
}

// Name is who it is for, as commands and records name it: ana, or group:ops.
func (s Share) Name() string {
	if s.Group != "" {
		return groupPrefix + s.Group
	}
	return s.Person
}

// With reads a name as Name writes it.
func With(name string) (s Share) {
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
func (a *Service) ClusterSharing(ctx context.Context, actor app.Actor, id string) (ClusterSharing, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "ClusterSharing", id)
	if err != nil {
		return ClusterSharing{}, err
	}
	if err := actor.MayChange("ClusterSharing", c); err != nil {
		return ClusterSharing{}, err
	}
	return a.Store.ClusterSharing(ctx, actor.Tenant, c.ID, a.Now())
}

// ShareCluster grants or withdraws access to a cluster, or sets its visibility. Withdrawing access doesn't take back an SSH key that
// was downloaded; certificates expire.
func (a *Service) ShareCluster(ctx context.Context, actor app.Actor, id string, change SharingChange) (ClusterSharing, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "ShareCluster", id)
	if err != nil {
		return ClusterSharing{}, err
	}
	if err := actor.MayChange("ShareCluster", c); err != nil {
		return ClusterSharing{}, err
	}
	if err := change.check(c); err != nil {
		return ClusterSharing{}, err
	}
	now := a.Now()
	if change, err = change.withEnds(c, now); err != nil {
		return ClusterSharing{}, err
	}
	return a.Store.ShareCluster(ctx, actor, c.ID, change, mostShares, now)
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
		Title: fmt.Sprintf("%s shared cluster %s with you.", who.Name(), c.Name), Text: "Your access: " + s.Access.String() + s.untilText() + "."}
	if s.Person != "" {
		n.Users = []string{s.Person}
	} else {
		n.Groups, n.Title = []string{s.Group}, fmt.Sprintf("%s shared cluster %s with group %s.", who.Name(), c.Name, s.Group)
	}
	return n
}

// DefaultVisibility is the visibility of the tenant's new clusters.
func (a *Service) DefaultVisibility(ctx context.Context, actor app.Actor) (app.Visibility, error) {
	if err := actor.Authorize("DefaultVisibility"); err != nil {
		return "", err
	}
	return a.Store.DefaultVisibility(ctx, actor.Tenant)
}

// SetDefaultVisibility sets it. Clusters that exist stay as they are.
func (a *Service) SetDefaultVisibility(ctx context.Context, actor app.Actor, v app.Visibility) error {
	if err := actor.Authorize("SetDefaultVisibility"); err != nil {
		return err
	}
	if err := v.Check(); err != nil {
		return err
	}
	return a.Store.SetDefaultVisibility(ctx, actor, v, a.Now())
}
