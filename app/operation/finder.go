package operation

import (
	"context"
	"muster/app"
	"muster/app/cluster"
)

// FinderStore is what Finder needs of the database.
type FinderStore interface {
	Operations(ctx context.Context, tenant string, cluster string) ([]app.Operation, error)
}

// FinderConfig is what Finder is created from.
type FinderConfig struct {
	Store    FinderStore
	Clusters *cluster.Finder
}

// Finder finds operations of clusters that an actor may see.
type Finder struct {
	FinderConfig
}

// NewFinder returns Finder on top of their needs.
func NewFinder(c FinderConfig) *Finder { return &Finder{FinderConfig: c} }
