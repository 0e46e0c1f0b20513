package ownership

import (
	"context"
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/identity"
	"muster/app/sharing"
)

// Store is what Service needs of the database.
type Store interface {
	// RenameCluster returns a live cluster another name. EConflict where another live cluster of the tenant has it as name or id, or
	// an open request asks for it.
	RenameCluster(ctx context.Context, r Rename) error
	// TransferCluster transfers a live cluster to another owner, with its reservation, or to a group, and writes the notices. EInvalid where the tenant
	// has no such user or group, EConflict where that one cannot have clusters or the cluster is not From's any more, EQuota where a quota
	// refuses it.
	TransferCluster(ctx context.Context, t Transfer) error
}

// Config is what Service is created from.
type Config struct {
	Store    Store
	Now      func() time.Time
	Clusters *cluster.Finder
	Views    *cluster.Views
}

// Service renames clusters and transfers them to other owners.
type Service struct {
	Config
}

// New returns Service on top of their needs.
func New(c Config) *Service { return &Service{Config: c} }

// Transfer returns a cluster to another owner, as the store takes it.
type Transfer struct {
	Tenant  string
	Cluster string
	From    string // the owner that it had when it was asked for
	To      string
	Group   string // that owns it from now on, together with To; "" for none
	Who     app.Actor
	Now     time.Time
}

// TransferCluster returns a cluster to another user of its tenant, who can have clusters: not disabled, and not a viewer. What it takes
// of quotas is the new owner's from then on, in the same transaction, so a quota can refuse it. Both are notified. Usage stays with
// the one who owned the cluster when its machines were made.
//
// To group:NAME, it is given to the members of a group: each may do what the owner may. The person who owned it stays responsible for it,
// with quotas and notices, until a member transfers it to another person.
//
// Anyone who has the cluster's SSH key keeps it, and configuration that names the owner does so until it is written again.
func (a *Service) TransferCluster(ctx context.Context, actor app.Actor, id, to string) (cluster.View, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "TransferCluster", id)
	if err != nil {
		return cluster.View{}, err
	}
	if err := actor.MayChange("TransferCluster", c); err != nil {
		return cluster.View{}, err
	}
	if to = strings.TrimSpace(to); to == "" {
		return cluster.View{}, &app.Error{Code: app.EInvalid, Field: "to", Message: "A new owner is required.",
			Hint: "Name a user of your tenant, or a group such as group:ops."}
	}
	if c.Status == app.ClusterDeleted {
		return cluster.View{}, app.Errorf(app.EConflict, "Cluster %q was deleted.", c.Name)
	}
	t := Transfer{Tenant: c.Tenant, Cluster: c.ID, From: c.Owner, To: to, Who: actor, Now: a.Now()}
	if strings.HasPrefix(to, "group:") {
		if t.To, t.Group = c.Owner, sharing.With(to).Group; t.Group == "" {
			return cluster.View{}, &app.Error{Code: app.EInvalid, Field: "to", Message: "The group name is required.", Hint: "For example: group:ops."}
		}
	}
	if t.To != c.Owner || t.Group != c.OwnerGroup {
		if err := a.Store.TransferCluster(ctx, t); err != nil {
			return cluster.View{}, err
		}
	}
	after, err := a.Clusters.FindCluster(ctx, actor, c.ID)
	if app.CodeOf(err) == app.ENotFound { // shown once more to the one who gave it away
		after, err = c, nil
		after.Access = app.AccessNone
	}
	if err != nil {
		return cluster.View{}, err
	}
	return a.Views.ViewOfCluster(ctx, actor, after)
}

// Accepts reports whether a user can be given a cluster.
func (t Transfer) Accepts(heir identity.User) error {
	refuse := func(why string) error {
		return &app.Error{Code: app.EConflict, Reason: "cannot_own", Field: "to", Message: fmt.Sprintf("%s can't own clusters: %s.", t.To, why),
			Hint: "Choose someone else."}
	}
	switch {
	case heir.Disabled():
		return refuse("the account is disabled")
	case heir.Role == app.RoleViewer:
		return refuse("viewers have read-only access")
	}
	return nil
}

// Notices returns the notices of a transfer: one for each of the two, except for the one who did it.
func (t Transfer) Notices(c app.Cluster) (list []app.Notice) {
	if t.To == t.From {
		if t.Group == "" {
			return nil
		}
		return []app.Notice{{At: t.Now, Tenant: t.Tenant, Kind: app.NoticeCluster, Cluster: c.ID, Groups: []string{t.Group}, About: app.ClusterSubject(c.ID),
			Title: fmt.Sprintf("%s transferred cluster %s to group %s.", t.Who.Name(), c.Name, t.Group), Text: t.To + " remains responsible for the cluster. Every member of the group can do what the owner can."}}
	}
	tell := func(user, title, text string) {
		if user == t.Who.Name() {
			return
		}
		list = append(list, app.Notice{At: t.Now, Tenant: t.Tenant, Kind: app.NoticeCluster, Cluster: c.ID, Users: []string{user}, Title: title, Text: text,
			About: app.ClusterSubject(c.ID)})
	}
	tell(t.To, fmt.Sprintf("%s transferred cluster %s to you.", t.Who.Name(), c.Name),
		fmt.Sprintf("%s owned the cluster before. It now counts toward your quotas. People who already have its SSH key keep access.", t.From))
	tell(t.From, fmt.Sprintf("%s transferred your cluster %s to %s.", t.Who.Name(), c.Name, t.To), "The cluster no longer counts toward your quotas.")
	return list
}
