package main

import (
	"context"

	"muster/app/all"
	"muster/app/pool"
)

// pool makes one of the scene's tenant.
func (s *scene) pool() string {
	s.used = true
	name, count := s.fresh("pool"), 1
	_, err := s.server.Services.Pool.Pools.CreatePool(s.t.Context(), s.boss(), poolOf(name, count))
	s.must(err)
	return name
}

func poolOf(name string, count int) pool.Request {
	return pool.Request{Name: name, Hardware: "small", Image: "host", Provider: "sandbox", Count: &count}
}

// Machines that are made ahead of time, in the matrix.
var poolTries = map[string]func(ctx context.Context, a *all.Services, s *scene) error{
	"Pools": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Pool.Pools.Pools(ctx, s.actor)
		return err
	},
	"Pool": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Pool.Pools.Pool(ctx, s.actor, s.pool())
		return err
	},
	"PoolReceipt": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Pool.Pools.PoolReceipt(ctx, s.actor, s.pool())
		return err
	},
	"CreatePool": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Pool.Pools.CreatePool(ctx, s.actor, poolOf(s.fresh("made"), 1))
		return err
	},
	"ChangePool": func(ctx context.Context, a *all.Services, s *scene) error {
		count := 2
		_, err := a.Pool.Pools.ChangePool(ctx, s.actor, pool.Request{Name: s.pool(), Count: &count})
		return err
	},
	"DrainPool": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Pool.Pools.DrainPool(ctx, s.actor, s.pool())
		return err
	},
	"DeletePool": func(ctx context.Context, a *all.Services, s *scene) error {
		_, err := a.Pool.Pools.DeletePool(ctx, s.actor, s.pool())
		return err
	},
}
