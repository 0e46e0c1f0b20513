package pool

import (
	"context"
	"time"

	"muster/app/pool"
	"muster/portal/site"
)

type PoolName struct {
	Name string `path:"name" maxLength:"63" doc:"The pool's name"`
}

type poolCreateInput struct {
	Body struct {
		Name     string        `json:"name" maxLength:"63" doc:"Small letters, digits and '-'"`
		Hardware string        `json:"hardware" maxLength:"200"`
		Image    string        `json:"image" maxLength:"200"`
		Provider string        `json:"provider" maxLength:"200"`
		Zone     string        `json:"zone,omitempty" maxLength:"200" doc:"Left out: wherever the provider chooses"`
		Count    int           `json:"count" doc:"How many machines are to be ready, from 0 to 500"`
		MaxAge   *int64        `json:"max_age,omitempty" doc:"In nanoseconds, after which a machine is replaced; left out: 24 hours"`
		Mode     pool.PoolMode `json:"mode,omitempty" enum:"on,off" doc:"Left out: on"`
	}
}

type poolChangeInput struct {
	PoolName
	Body struct {
		Count  *int          `json:"count,omitempty" doc:"How many machines are to be ready, from 0 to 500"`
		MaxAge *int64        `json:"max_age,omitempty" doc:"In nanoseconds, after which a machine is replaced"`
		Mode   pool.PoolMode `json:"mode,omitempty" enum:"on,off" doc:"on: it is refilled; off: what is there is handed out, and nothing is made"`
	}
}

type poolList struct {
	Pools []pool.PoolView `json:"pools"`
}

func ageOf(nanoseconds *int64) *time.Duration {
	if nanoseconds == nil {
		return nil
	}
	d := time.Duration(*nanoseconds)
	return &d
}

func (p *Service) apiList(ctx context.Context, _ *struct{}) (*site.Body[poolList], error) {
	all, err := p.Pools.Pools(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[poolList]{Body: poolList{site.OrEmpty(all)}}, nil
}

func (p *Service) apiShow(ctx context.Context, in *PoolName) (*site.Body[pool.PoolView], error) {
	return site.Answered[pool.PoolView](ctx, p.Site)(p.Pools.Pool(ctx, site.Caller(ctx), in.Name))
}

func (p *Service) apiCreate(ctx context.Context, in *poolCreateInput) (*site.Body[pool.PoolView], error) {
	b := in.Body
	return site.Answered[pool.PoolView](ctx, p.Site)(p.Pools.CreatePool(ctx, site.Caller(ctx), pool.PoolRequest{Name: b.Name, Hardware: b.Hardware, Image: b.Image, Provider: b.Provider,
		Zone: b.Zone, Count: &b.Count, MaxAge: ageOf(b.MaxAge), Mode: b.Mode}))
}

func (p *Service) apiChange(ctx context.Context, in *poolChangeInput) (*site.Body[pool.PoolView], error) {
	return site.Answered[pool.PoolView](ctx, p.Site)(p.Pools.ChangePool(ctx, site.Caller(ctx), pool.PoolRequest{Name: in.Name, Count: in.Body.Count, MaxAge: ageOf(in.Body.MaxAge), Mode: in.Body.Mode}))
}

func (p *Service) apiDrain(ctx context.Context, in *PoolName) (*site.Body[pool.PoolView], error) {
	return site.Answered[pool.PoolView](ctx, p.Site)(p.Pools.DrainPool(ctx, site.Caller(ctx), in.Name))
}

func (p *Service) apiDelete(ctx context.Context, in *PoolName) (*site.Body[pool.PoolReceipt], error) {
	return site.Answered[pool.PoolReceipt](ctx, p.Site)(p.Pools.DeletePool(ctx, site.Caller(ctx), in.Name))
}

func (p *Service) apiReceipt(ctx context.Context, in *PoolName) (*site.Body[pool.PoolReceipt], error) {
	return site.Answered[pool.PoolReceipt](ctx, p.Site)(p.Pools.PoolReceipt(ctx, site.Caller(ctx), in.Name))
}
