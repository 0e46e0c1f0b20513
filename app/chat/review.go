package chat

import (
	"context"
	"fmt"
	"time"

	"muster/app/cluster"
)

// ReviewStore keeps where requests are shown.
type ReviewStore interface {
	// ChatReviews returns those of a workspace whose end was not shown, with their requests as they are now, oldest first.
	ChatReviews(ctx context.Context, kind, team string, limit int) ([]Review, error)
	// OpenReviews makes a message, not posted yet, for every open request of a tenant with a channel for them that has none, of
	// workspaces of a kind. Those made before a time whose end was shown are dropped.
	OpenReviews(ctx context.Context, kind string, now, before time.Time) error
	Request(ctx context.Context, tenant string, id int64) (cluster.Request, error)
	// ShownReview notes channel, message, and what is shown since when; with ended nothing more is.
	ShownReview(ctx context.Context, c Review, ended bool) error
}

// ReviewsConfig is what Reviews is created from. Only what says so may be nil.
type ReviewsConfig struct {
	Store ReviewStore
	Now   func() time.Time
}

// Reviews are messages about requests that wait for approvers.
type Reviews struct {
	ReviewsConfig
}

// NewReviews returns them on top of what c holds.
func NewReviews(c ReviewsConfig) *Reviews { return &Reviews{ReviewsConfig: c} }

// Review is a message that shows a request to those who approve it.
type Review struct {
	ID      int64
	Kind    string
	Team    string
	Channel string
	Tenant  string
	Request int64
	Message string // the chat's name of it; "" until it was posted
	Shown   string // the state that it shows; see State
	ShownAt time.Time
	At      time.Time

	// How the request is.
	Status  cluster.RequestStatus
	Round   int
	Reviews int
	DueAt   time.Time
}

// State is what the message has to show, in a few letters: two that are the same look the same.
func (c Review) State() string {
	return fmt.Sprintf("%s %d %d %d", c.Status, c.Round, c.Reviews, c.DueAt.Unix())
}

// mostReviews is how many requests of a workspace are shown at once.
const mostReviews = 500

// OpenChatReviews has every open request shown whose tenant has a channel for that.
func (a *Reviews) OpenChatReviews(ctx context.Context, kind string) error {
	now := a.Now()
	return a.Store.OpenReviews(ctx, kind, now, now.Add(-chatCardKept))
}

// ChatReviews returns the messages of a workspace that show requests, until their end was shown.
func (a *Reviews) ChatReviews(ctx context.Context, kind, team string) ([]Review, error) {
	return a.Store.ChatReviews(ctx, kind, team, mostReviews)
}

// ChatReviewed notes what such a message shows now. With ended it is not tended any more.
func (a *Reviews) ChatReviewed(ctx context.Context, c Review, ended bool) error {
	return a.Store.ShownReview(ctx, c, ended || !c.Status.Open())
}

// ChatRequest returns the request that such a message shows. Anyone who reads the approvers' channel sees it: the admins of the tenant
// have chosen it for that.
func (a *Reviews) ChatRequest(ctx context.Context, c Review) (cluster.Request, error) {
	return a.Store.Request(ctx, c.Tenant, c.Request)
}
