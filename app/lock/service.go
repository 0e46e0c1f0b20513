package lock

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"muster/app"
	"muster/app/cluster"
)

// Bounds of what is locked.
const (
	// MaxReason is how long a reason may be, in characters.
	MaxReason = 300
	// Most is how many clusters and nodes of a tenant can be locked at the same time.
	Most = 1000
)

// Store is what a Service needs of the database.
type Store interface {
	// Locks lists what is locked in a tenant, clusters before their nodes, by name. There are at most Most.
	Locks(ctx context.Context, tenant string) ([]Item, error)
	// LockOn is the lock of a cluster, or else of its node; nil where neither is locked, or exists.
	LockOn(ctx context.Context, tenant, cluster, node string) (*app.Lock, error)
	// SetLock locks or unlocks a cluster or a node, with an event, the audit and notices. ENotFound where there is no such node; EConflict where there
	// are most locks already, or the cluster is gone. To unlock what isn't locked changes nothing.
	SetLock(ctx context.Context, c Change, most int) error
}

// Config is what a Service is created from.
type Config struct {
	Store    Store
	Now      func() time.Time
	Clusters *cluster.Finder
}

// Service locks clusters and nodes.
type Service struct{ Config }

// New returns the service on top of its needs.
func New(c Config) *Service { return &Service{Config: c} }

// Item is a locked cluster or node.
type Item struct {
	Cluster string   `json:"cluster"` // its ID
	Name    string   `json:"name"`    // the cluster's
	Node    string   `json:"node,omitempty"`
	Lock    app.Lock `json:"lock"`
}

// Change locks a cluster or a node, or unlocks it where Lock is nil. Node is "" for the whole cluster.
type Change struct {
	Tenant, Cluster, Node string
	Who                   app.Actor
	Now                   time.Time
	Lock                  *app.Lock
}

// Ask names what is to be locked or unlocked.
type Ask struct {
	Node   string `json:"node,omitempty"`
	Reason string `json:"reason,omitempty"` // to lock
}

// Locks lists what is locked in the actor's tenant.
func (s *Service) Locks(ctx context.Context, actor app.Actor) ([]Item, error) {
	if err := actor.Authorize("Locks"); err != nil {
		return nil, err
	}
	return s.Store.Locks(ctx, actor.Tenant)
}

// CheckLocks refuses a locked node, or one of a locked cluster, to all but admins: what is on it, such as its volumes, stays as it is. What doesn't
// exist isn't locked.
func (s *Service) CheckLocks(ctx context.Context, actor app.Actor, cluster, node string) error {
	l, err := s.Store.LockOn(ctx, actor.Tenant, cluster, node)
	if err != nil {
		return err
	}
	return app.Cluster{Name: cluster, Lock: l}.CheckLock(actor)
}

// LockCluster locks a cluster or one of its nodes, with a reason that people read. Terminals, streams and ports of others end within seconds. What is
// locked already gets the new reason.
func (s *Service) LockCluster(ctx context.Context, actor app.Actor, id string, ask Ask) error {
	reason := strings.TrimSpace(ask.Reason)
	if n := utf8.RuneCountInString(reason); n == 0 || n > MaxReason || !utf8.ValidString(reason) || strings.ContainsFunc(reason, hidden) {
		return &app.Error{Code: app.EInvalid, Field: "reason", Message: fmt.Sprintf("A lock needs a reason of 1 to %d characters on one line.", MaxReason),
			Hint: "Say why, such as: Suspicious logins, ask the security team."}
	}
	now := s.Now()
	l := app.Lock{At: now.UTC().Truncate(time.Second), By: actor.Name(), Reason: reason}
	return s.set(ctx, actor, "LockCluster", id, Change{Node: ask.Node, Now: now, Lock: &l})
}

// hidden reports letters that change how others are shown, or aren't shown.
func hidden(r rune) bool { return !unicode.IsPrint(r) }

// UnlockCluster unlocks a cluster or one of its nodes. Locks of its nodes stay when a cluster is unlocked.
func (s *Service) UnlockCluster(ctx context.Context, actor app.Actor, id, node string) error {
	return s.set(ctx, actor, "UnlockCluster", id, Change{Node: node, Now: s.Now()})
}

func (s *Service) set(ctx context.Context, actor app.Actor, useCase, id string, c Change) error {
	found, err := s.Clusters.AuthorizedCluster(ctx, actor, useCase, id)
	if err != nil {
		return err
	}
	if err := actor.MayChange(useCase, found); err != nil {
		return err
	}
	if c.Node != "" && app.NodeNumber(c.Node) == 0 {
		return app.Errorf(app.ENotFound, "Cluster %q has no node %.40q.", found.Name, c.Node)
	}
	c.Tenant, c.Cluster, c.Who = actor.Tenant, found.ID, actor
	return s.Store.SetLock(ctx, c, Most)
}

// Notice tells those who own the cluster.
func (c Change) Notice(of app.Cluster) app.Notice {
	n := app.Notice{At: c.Now, Tenant: of.Tenant, Kind: app.NoticeCluster, Cluster: of.ID, About: app.ClusterSubject(of.ID), Users: []string{of.Owner}}
	if n.Title = c.Words(of); of.OwnerGroup != "" {
		n.Groups = []string{of.OwnerGroup}
	}
	if c.Lock != nil {
		n.Text = "Reason: " + c.Lock.Reason
	}
	return n
}

// Words say in a sentence who has done it.
func (c Change) Words(of app.Cluster) string {
	what, verb := "cluster "+of.Name, "unlocked"
	if c.Node != "" {
		what = "node " + c.Node + " of " + what
	}
	if c.Lock != nil {
		verb = "locked"
	}
	return fmt.Sprintf("%s %s %s.", c.Who.Name(), verb, what)
}
