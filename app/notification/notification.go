package notification

import (
	"context"
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/humanize"
)

// Bounds of inboxes.
const (
	// Memory is how long a notification stays in an inbox, and MostKept how many do; older ones are deleted.
	Memory   = 30 * 24 * time.Hour
	MostKept = 200
	// MostCounted is the largest number of unread ones that is counted.
	MostCounted = 100
	// MostListed is how many are listed or marked at once.
	MostListed = 200
)

// Item is a notification in someone's inbox.
type Item struct {
	app.Notice
	ReadAt time.Time `json:"read_at,omitzero"` // zero: unread
}

// Query asks for the notifications of a person, newest first.
type Query struct {
	Tenant, User string
	Unread       bool  // only these
	Before       int64 // only those before a number; 0: from the newest
	Limit        int
}

// Mark says which notifications are read: those with these numbers, or else all up to a number; 0: all.
type Mark struct {
	IDs  []int64 `json:"ids,omitempty"`
	UpTo int64   `json:"up_to,omitempty"`
}

// Preference says by which channels a person is notified of a kind.
type Preference struct {
	Kind   app.NoticeKind `json:"kind"`
	Portal bool           `json:"portal"`
	Slack  bool           `json:"slack"`
	Email  bool           `json:"email"`
}

// Preferences are those of a person for all kinds, and the channels that they have.
type Preferences struct {
	Kinds []Preference `json:"kinds"`
	// Email is the account's address, "" for none; Slack says that a Slack account is linked.
	Email string `json:"email,omitempty"`
	Slack bool   `json:"slack"`
	// EmailEnabled says that the server sends email.
	EmailEnabled bool `json:"email_enabled"`
}

// Change changes a preference; nil stays as it is.
type Change struct {
	Kind   app.NoticeKind `json:"kind"`
	Portal *bool          `json:"portal,omitempty"`
	Slack  *bool          `json:"slack,omitempty"`
	Email  *bool          `json:"email,omitempty"`
}

// Store is what the service needs of the database.
type Store interface {
	// Inbox returns what Query asks for.
	Inbox(ctx context.Context, q Query) ([]Item, error)
	// InboxUnread counts unread notifications, at most MostCounted.
	InboxUnread(ctx context.Context, tenant, user string) (int, error)
	// MarkInbox marks unread notifications as read, and returns how many.
	MarkInbox(ctx context.Context, tenant, user string, m Mark, now time.Time) (int, error)
	// InboxItem returns one; ENotFound if it isn't in the person's inbox.
	InboxItem(ctx context.Context, tenant, user string, id int64) (Item, error)
	// NotificationPreferences returns what a person has chosen, and the channels that they have.
	NotificationPreferences(ctx context.Context, tenant, user string, now time.Time) (Preferences, error)
	SaveNotificationPreferences(ctx context.Context, who app.Actor, list []Preference, now time.Time) error
}

// Masks hide values of configurations that a reader may not see.
type Masks interface {
	MaskNotices(ctx context.Context, actor app.Actor, list []app.Notice) error
}

// Config is what a service is created from.
type Config struct {
	Store Store
	Now   func() time.Time
	Masks Masks
}

// Service shows people what they were notified of, and keeps how they want to be.
type Service struct{ Config }

// New returns the service on top of its needs.
func New(c Config) *Service { return &Service{Config: c} }

// Notifications returns the actor's inbox, newest first.
func (a *Service) Notifications(ctx context.Context, actor app.Actor, q Query) ([]Item, error) {
	if err := actor.Authorize("Notifications"); err != nil {
		return nil, err
	}
	q.Tenant, q.User, q.Limit = actor.Tenant, actor.Name(), min(max(q.Limit, 1), MostListed)
	list, err := a.Store.Inbox(ctx, q)
	if err != nil {
		return nil, err
	}
	return list, a.mask(ctx, actor, list)
}

func (a *Service) mask(ctx context.Context, actor app.Actor, list []Item) error {
	notices := make([]app.Notice, len(list))
	for i := range list {
		notices[i] = list[i].Notice
	}
	if err := a.Masks.MaskNotices(ctx, actor, notices); err != nil {
		return err
	}
	for i := range list {
		list[i].Notice = notices[i]
	}
	return nil
}

// UnreadNotifications counts the actor's unread notifications, at most MostCounted.
func (a *Service) UnreadNotifications(ctx context.Context, actor app.Actor) (int, error) {
	if err := actor.Authorize("UnreadNotifications"); err != nil {
		return 0, err
	}
	return a.Store.InboxUnread(ctx, actor.Tenant, actor.Name())
}

// OpenNotification marks one of the actor's notifications as read, and returns it.
func (a *Service) OpenNotification(ctx context.Context, actor app.Actor, id int64) (Item, error) {
	if err := actor.Authorize("OpenNotification"); err != nil {
		return Item{}, err
	}
	item, err := a.Store.InboxItem(ctx, actor.Tenant, actor.Name(), id)
	if err != nil {
		return item, err
	}
	if item.ReadAt.IsZero() {
		if _, err := a.Store.MarkInbox(ctx, actor.Tenant, actor.Name(), Mark{IDs: []int64{id}}, a.Now()); err != nil {
			return item, err
		}
	}
	list := []Item{item}
	return list[0], a.mask(ctx, actor, list)
}

// MarkNotifications marks notifications of the actor as read, and returns how many were unread.
func (a *Service) MarkNotifications(ctx context.Context, actor app.Actor, m Mark) (int, error) {
	if err := actor.Authorize("MarkNotifications"); err != nil {
		return 0, err
	}
	if len(m.IDs) > MostListed {
		return 0, &app.Error{Code: app.EInvalid, Field: "ids", Message: fmt.Sprintf("At most %d notifications can be marked at once.", MostListed),
			Hint: "To mark all, leave out ids."}
	}
	return a.Store.MarkInbox(ctx, actor.Tenant, actor.Name(), m, a.Now())
}

// NotificationPreferences returns how the actor is notified of each kind.
func (a *Service) NotificationPreferences(ctx context.Context, actor app.Actor) (Preferences, error) {
	if err := actor.Authorize("NotificationPreferences"); err != nil {
		return Preferences{}, err
	}
	p, err := a.Store.NotificationPreferences(ctx, actor.Tenant, actor.Name(), a.Now())
	p.Kinds = complete(p.Kinds)
	return p, err
}

// complete adds the defaults of kinds without a choice, and leaves out kinds of other versions.
func complete(chosen []Preference) []Preference {
	all := make([]Preference, len(Kinds))
	for i, k := range Kinds {
		all[i] = Default(k.Kind)
		for _, c := range chosen {
			if c.Kind == k.Kind {
				all[i] = c
				all[i].Slack = c.Slack && Offers(c.Kind, app.ChannelSlack)
			}
		}
	}
	return all
}

// SaveNotificationPreferences changes how the actor is notified of some kinds.
func (a *Service) SaveNotificationPreferences(ctx context.Context, actor app.Actor, changes []Change) (Preferences, error) {
	if err := actor.Authorize("SaveNotificationPreferences"); err != nil {
		return Preferences{}, err
	}
	if len(changes) > len(Kinds) {
		return Preferences{}, &app.Error{Code: app.EInvalid, Field: "kinds", Message: fmt.Sprintf("There are only %d kinds of notifications.", len(Kinds))}
	}
	is, err := a.NotificationPreferences(ctx, actor)
	if err != nil {
		return is, err
	}
	for _, c := range changes {
		if err := c.check(); err != nil {
			return is, err
		}
		p := &is.Kinds[slices.IndexFunc(is.Kinds, func(p Preference) bool { return p.Kind == c.Kind })]
		for _, x := range []struct {
			to *bool
			by *bool
		}{{&p.Portal, c.Portal}, {&p.Slack, c.Slack}, {&p.Email, c.Email}} {
			if x.by != nil {
				*x.to = *x.by
			}
		}
	}
	return is, a.Store.SaveNotificationPreferences(ctx, actor, is.Kinds, a.Now())
}

func (c Change) check() error {
	if !known(c.Kind) {
		return &app.Error{Code: app.EInvalid, Field: "kind", Message: fmt.Sprintf("Unknown notification kind %q.", humanize.Clip(string(c.Kind))),
			Hint: "To list the kinds: muster notifications preferences"}
	}
	if c.Slack != nil && *c.Slack && !Offers(c.Kind, app.ChannelSlack) {
		return &app.Error{Code: app.EInvalid, Field: "slack", Message: fmt.Sprintf("Notifications of kind %q aren't sent to Slack.", string(c.Kind)),
			Hint: "Choose portal or email."}
	}
	return nil
}
