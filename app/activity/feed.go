package activity

import (
	"context"
	"slices"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
)

// Bounds of a page. A look reads so many entries at most, of which a filter may leave few; a page takes so many looks at most, and says where to continue.
const (
	FeedPage  = 50
	MaxFeed   = 200
	scanned   = 5000
	mostLooks = 4
)

// Entry is something that someone did in the tenant.
type Entry struct {
	Number    int64               `json:"number"`
	At        time.Time           `json:"at"`
	Who       string              `json:"who"`
	Muster    bool                `json:"by_muster,omitempty"` // Muster did it itself
	Kind      Kind                `json:"kind"`
	Act       string              `json:"act"`
	Verb      string              `json:"verb"`
	Object    string              `json:"object"`
	Cluster   string              `json:"cluster,omitempty"` // ID
	Name      string              `json:"name,omitempty"`    // of the cluster
	Request   int64               `json:"request,omitempty"`
	Operation int64               `json:"operation,omitempty"`
	Status    app.OperationStatus `json:"status,omitempty"` // of the operation

	Access app.Access `json:"-"` // of the reader to the cluster
}

// FeedFilter narrows the feed. Empty fields choose all.
type FeedFilter struct {
	Who      string
	Cluster  string // ID or name
	Kind     Kind
	Failed   bool // only operations that failed
	From, To time.Time
	Before   int64 // cursor: the next number of the page before
	Limit    int   // 0: FeedPage
}

// FeedPart is a page of the feed, newest first. Next is where to continue; 0 at the end.
type FeedPart struct {
	Entries []Entry `json:"entries"`
	Next    int64   `json:"next,omitempty"`
}

// FeedQuery is one look at the entries before a number.
type FeedQuery struct {
	Tenant  string
	Reader  *app.ClusterReader
	Who     string
	Cluster string // ID
	Acts    []Acts
	Failed  bool
	From    time.Time
	Before  int64 // 0: from the newest on
	Scan    int   // entries that are looked at
	Limit   int   // entries that are returned
}

// FeedStore is what the feed needs of the database.
type FeedStore interface {
	// Activity returns entries of the audit log about what the reader sees, newest first, and the number and time of the last entry it looked at; 0
	// if there are no more.
	Activity(ctx context.Context, q FeedQuery) (list []Entry, last int64, at time.Time, err error)
	// ActivityBefore returns the number of the first entry at a time or later; 0 if there is none.
	ActivityBefore(ctx context.Context, tenant string, at time.Time) (int64, error)
}

// FeedConfig is what the feed is created from.
type FeedConfig struct {
	Store    FeedStore
	Clusters *appcluster.Finder
}

// Feed shows what people do in a tenant.
type Feed struct {
	FeedConfig
}

// NewFeed returns the feed.
func NewFeed(c FeedConfig) *Feed { return &Feed{FeedConfig: c} }

// Activity returns what was done in the actor's tenant: to clusters that the actor sees, and for admins also to people and settings. Details, such as
// values and commands, aren't in it.
func (s *Feed) Activity(ctx context.Context, actor app.Actor, f FeedFilter) (FeedPart, error) {
	part := FeedPart{Entries: []Entry{}}
	reach, err := actor.Reach("Activity")
	if err != nil {
		return part, err
	}
	q, err := s.query(ctx, actor, f, reach == app.All)
	if err != nil || len(q.Acts) == 0 {
		return part, err
	}
	limit := f.Limit
	if limit <= 0 {
		limit = FeedPage
	}
	limit = min(limit, MaxFeed)
	for range mostLooks {
		q.Limit = limit + 1 - len(part.Entries)
		list, last, at, err := s.Store.Activity(ctx, q)
		if err != nil {
			return part, err
		}
		for _, e := range list {
			if e.Kind = kindOf(e.Act); e.Kind == KindAccess && reach != app.All && e.Access < app.AccessUser {
				continue
			}
			if len(part.Entries) == limit {
				part.Next = part.Entries[limit-1].Number
				return part, nil
			}
			e.Verb, e.Muster = verbOf(e.Act), slices.Contains(byMuster, e.Who)
			part.Entries = append(part.Entries, e)
		}
		if q.Before = last; last == 0 || !f.From.IsZero() && at.Before(f.From) {
			return part, nil
		}
	}
	part.Next = q.Before
	return part, nil
}

// query is the first look.
func (s *Feed) query(ctx context.Context, actor app.Actor, f FeedFilter, all bool) (q FeedQuery, err error) {
	wrong := func(field, message, hint string) error {
		return &app.Error{Code: app.EInvalid, Field: field, Message: message, Hint: hint}
	}
	switch {
	case f.Kind != "" && !slices.Contains(Kinds, f.Kind):
		return q, wrong("kind", "Unknown kind of activity.", "Use clusters, sharing, approvals, access, people or settings.")
	case !f.From.IsZero() && !f.To.IsZero() && !f.From.Before(f.To):
		return q, wrong("from", "The start must be before the end.", "Swap the two times, or omit one.")
	case f.Before < 0:
		return q, wrong("before", "Invalid entry number.", "Use the next value of the previous page.")
	}
	q = FeedQuery{Tenant: actor.Tenant, Who: f.Who, Failed: f.Failed, From: f.From, Before: f.Before, Scan: scanned}
	for _, k := range Kinds {
		if (f.Kind == "" || f.Kind == k) && (all || !k.AdminOnly()) {
			q.Acts = append(q.Acts, ActsOf(k))
		}
	}
	if q.Reader, err = s.Clusters.ReaderOf(ctx, actor); err != nil {
		return q, err
	}
	if f.Cluster != "" {
		c, err := s.Clusters.FindCluster(ctx, actor, f.Cluster)
		if err != nil {
			return q, err
		}
		q.Cluster = c.ID
	}
	if !f.To.IsZero() {
		first, err := s.Store.ActivityBefore(ctx, actor.Tenant, f.To)
		if err != nil {
			return q, err
		}
		if first > 0 && (q.Before == 0 || first < q.Before) {
			q.Before = first
		}
	}
	return q, nil
}
