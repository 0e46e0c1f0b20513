package pool

import (
	"context"
	"fmt"
	"slices"
	"time"

	"muster/app"
)

// Bounds of pools.
const (
	MaxPoolCount   = 500
	MaxPools       = 100 // of a tenant
	minPoolAge     = 10 * time.Minute
	maxPoolAge     = 90 * 24 * time.Hour
	DefaultPoolAge = 24 * time.Hour
)

// poolOwner is whose machines those of a pool are. No user has such a name.
func poolOwner(name string) string { return "pool:" + name }

// CheckPool refuses what no pool can be.
func (a *Service) CheckPool(ctx context.Context, p app.Pool) error {
	if p.Count < 0 || p.Count > MaxPoolCount {
		return &app.Error{Code: app.EInvalid, Field: "count", Message: fmt.Sprintf("A pool has from 0 to %d machines, not %d.", MaxPoolCount, p.Count)}
	}
	if p.MaxAge < minPoolAge || p.MaxAge > maxPoolAge {
		return &app.Error{Code: app.EInvalid, Field: "max_age", Message: fmt.Sprintf("Machines of a pool may get from %s to %d days old, not %s.", minPoolAge, int(maxPoolAge.Hours())/24, p.MaxAge),
			Hint: `Say for example "24h".`}
	}
	if p.Mode != app.PoolOn && p.Mode != app.PoolOff && p.Mode != app.PoolDrained && p.Mode != app.PoolDeleted {
		return &app.Error{Code: app.EInvalid, Field: "mode", Message: fmt.Sprintf("A pool is on or off, not %.40q.", string(p.Mode)), Hint: "To give its machines back, drain or delete it."}
	}
	_, err := a.poolSpec(ctx, p)
	return err
}

// poolSpec is what machines of a pool are made of, by the catalog as it is now.
type poolSpec struct {
	definition app.Definition
	shape      string
	price      float64
	catalog    int64 // the revision of the tenant's own entries
}

// poolSpec finds it. Errors say what of it the catalog does not have.
func (a *Service) poolSpec(ctx context.Context, p app.Pool) (s poolSpec, err error) {
	c, revision, err := a.Catalogs.CatalogAt(ctx, p.Tenant, 0)
	if err != nil {
		return s, err
	}
	s.catalog = revision
	spec := c.Providers[p.Provider]
	if spec == nil {
		return s, &app.Error{Code: app.EInvalid, Field: "provider", Message: fmt.Sprintf("The catalog has no provider %.60q.", p.Provider), Hint: "See muster catalog providers."}
	}
	h := c.Hardware[p.Hardware]
	if h == nil {
		return s, &app.Error{Code: app.EInvalid, Field: "hardware", Message: fmt.Sprintf("The catalog has no hardware %.60q.", p.Hardware)}
	}
	flavor, ok := h.Providers[p.Provider]
	if !ok {
		return s, &app.Error{Code: app.EInvalid, Field: "hardware", Message: fmt.Sprintf("Hardware %s cannot be had at provider %s.", p.Hardware, p.Provider)}
	}
	i := c.Images[p.Image]
	if i == nil {
		return s, &app.Error{Code: app.EInvalid, Field: "image", Message: fmt.Sprintf("The catalog has no image %.60q.", p.Image)}
	}
	image, ok := i.Providers[p.Provider]
	if !ok {
		return s, &app.Error{Code: app.EInvalid, Field: "image", Message: fmt.Sprintf("Image %s cannot be had at provider %s.", p.Image, p.Provider)}
	}
	if p.Zone != "" && !slices.Contains(spec.Zones, p.Zone) {
		e := &app.Error{Code: app.EInvalid, Field: "zone", Message: fmt.Sprintf("Provider %s has no zone %.60q.", p.Provider, p.Zone), Hint: "It has none that the catalog knows."}
		if len(spec.Zones) > 0 {
			e.Hint = "It has " + app.AndList(spec.Zones) + "."
		}
		return s, e
	}
	if err := a.Clusters.CheckProvisioner(ctx, p.Tenant, spec); err != nil {
		return s, err
	}
	if err := a.Catalogs.CheckHost(c, p.Provider, nil, nil, map[string]app.Image{p.Image: image}, nil, nil); err != nil {
		return s, err
	}
	if err := a.Catalogs.CheckIsolation(ctx, spec); err != nil {
		return s, err
	}
	s.definition = app.Definition{Services: map[string]*app.Service{}, Hardware: map[string]app.Flavor{p.Hardware: flavor}, Images: map[string]app.Image{p.Image: image}}
	s.shape, s.price = app.MachineShape(p.Provider, flavor, image), flavor.CostPerHour
	return s, nil
}
