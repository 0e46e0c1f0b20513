package demodata

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"muster/app/all"
	"muster/app/file/catalog"
	"muster/app/store"
	"muster/app/store/storetest"
	"muster/app/template"
	"muster/cmd/muster/families"
	"muster/cmd/muster/wiring"
	"muster/portal"
)

//go:embed catalog
var files embed.FS

// catalogDir is where its catalog says that it is.
const catalogDir = "/srv/muster/catalog"

// Instance is such a Muster. Make it with Open, and Close it.
type Instance struct {
	Services *all.Services
	Store    *store.Store
	Portal   *portal.Portal
	Clock    *Clock
	where    string
	catalog  *template.Catalog
	log      *slog.Logger
	team     string // whom Slack belongs to
}

// Clock is a clock that stays where it's set, or runs from there with Go.
type Clock struct {
	mu   sync.Mutex
	at   time.Time
	from time.Time // of the real time, once it goes
}

// NewClock returns a clock that is stopped.
func NewClock(at time.Time) *Clock { return &Clock{at: at} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.from.IsZero() {
		return c.at
	}
	return c.at.Add(time.Since(c.from))
}

// Set puts it to a time.
func (c *Clock) Set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

// move lets time pass.
func (c *Clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// Go lets it run.
func (c *Clock) Go() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.from = time.Now()
}

// Open opens or makes one. Where is the path of a SQLite file or a postgres:// URL. Its key is no secret.
func Open(ctx context.Context, where string, clock *Clock, log *slog.Logger) (*Instance, error) {
	h := &Instance{Clock: clock, where: where, log: log}
	tree, err := fs.Sub(files, "catalog")
	if err != nil {
		return nil, err
	}
	reader := catalog.NewReader(families.CatalogOptions(nil), families.All())
	if h.catalog, err = reader.LoadFS(catalog.Source{Name: catalogDir, FS: tree}); err != nil {
		return nil, fmt.Errorf("demodata: %w", err)
	}
	if h.Store, err = store.Open(ctx, where, make([]byte, store.KeySize)); err != nil {
		return nil, err
	}
	h.Services = wiring.UseCases(all.Config{Store: h.Store, Catalog: func() *template.Catalog { return h.catalog }, Reader: reader, Now: clock.Now,
		Provisioned: true})
	h.Portal = wiring.Portal(h.Services, portal.Config{Sessions: h.Store.Sessions(), Logger: log, Version: "1.0", Now: clock.Now,
		URL: "https://muster.example.com"})
	return h, nil
}

// Multiply copies all clusters so many times. Close the instance afterwards and open it again.
func (h *Instance) Multiply(ctx context.Context, times int) error {
	return storetest.Multiply(ctx, h.where, Tenant, times, h.Store.Unseal)
}

// Close lets go of the database.
func (h *Instance) Close() error {
	_ = h.Portal.Close()
	return h.Store.Close()
}
