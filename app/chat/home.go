package chat

import (
	"context"
	"time"
)

// HomeStore keeps which homes are shown.
type HomeStore interface {
	// DropHome forgets a home; one that is gone is success.
	DropHome(ctx context.Context, kind, team, person string) error
	// SaveHome keeps a home that was shown, and is stale no more if nothing has happened since a time.
	SaveHome(ctx context.Context, h Home, since time.Time) error
	// StaleHomes returns those of a workspace ("" for all) that were opened after a time, the one shown longest ago first.
	StaleHomes(ctx context.Context, kind, team string, opened time.Time, limit int) ([]Home, error)
}

// HomesConfig is what Homes is created from. Only what says so may be nil.
type HomesConfig struct {
	Store HomeStore
	Now   func() time.Time
}

// Homes are the pages that people have of Muster in their chat.
type Homes struct {
	HomesConfig
}

// NewHomes returns them on top of what c holds.
func NewHomes(c HomesConfig) *Homes { return &Homes{HomesConfig: c} }

// Home is a person's App Home in a chat workspace.
type Home struct {
	Kind, Team, Person string
	Tenant, User       string // "" for people without a linked account
	Shown              string // a digest of what it shows
	ShownAt, OpenedAt  time.Time
	StaleAt            time.Time // since when something may have changed; zero: nothing has
}

// HomeShown notes what a home shows, as it was worked out at a time.
func (a *Homes) HomeShown(ctx context.Context, h Home, since time.Time) error {
	return a.Store.SaveHome(ctx, h, since)
}

// StaleHomes returns the homes of a workspace that may have changed.
func (a *Homes) StaleHomes(ctx context.Context, kind, team string) ([]Home, error) {
	return a.Store.StaleHomes(ctx, kind, team, a.Now().Add(-chatHomeKept), maxDMs)
}

// DropHome forgets a home that cannot be shown.
func (a *Homes) DropHome(ctx context.Context, h Home) error {
	return a.Store.DropHome(ctx, h.Kind, h.Team, h.Person)
}
