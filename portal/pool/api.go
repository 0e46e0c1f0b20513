package pool

import (
	"context"
	"time"

	"muster/app/pool"
	"muster/portal/site"
)

type PoolName struct {
	Name string `path:"name" maxLength:"63" doc:"Name of the pool"`
}

type poolCreateInput struct {
	Body struct {
		Name     string    `json:"name" maxLength:"63" doc:"Lowercase letters, digits and '-'"`
		Hardware string    `json:"hardware" maxLength:"200"`
		Image    string    `json:"image" maxLength:"200"`
		Provider string    `json:"provider" maxLength:"200"`
		Zone     string    `json:"zone,omitempty" maxLength:"200" doc:"Zone; default: the provider's choice"`
		Count    int       `json:"count" doc:"Number of machines to keep ready, 0–500"`
		MaxAge   *int64    `json:"max_age,omitempty" doc:"Age in nanoseconds after which a machine is replaced; default: 24 h"`
		Mode     pool.Mode `json:"mode,omitempty" enum:"on,off" doc:"Whether the pool is refilled; default: on"`
	}
}

type poolChangeInput struct {
	PoolName
	Body struct {
		Count  *int      `json:"count,omitempty" doc:"Number of machines to keep ready, 0–500"`
		MaxAge *int64    `json:"max_age,omitempty" doc:"Age in nanoseconds after which a machine is replaced"`
		Mode   pool.Mode `json:"mode,omitempty" enum:"on,off" doc:"on: the pool is refilled; off: existing machines can still be used, but no new ones are created"`
	}
}

type poolList struct {
	Pools []pool.View `json:"pools"`
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

func (p *Service) apiShow(ctx context.Context, in *PoolName) (*site.Body[pool.View], error) {
	return site.Answered[pool.View](ctx, p.Site)(p.Pools.Pool(ctx, site.Caller(ctx), in.Name))
}

func (p *Service) apiCreate(ctx context.Context, in *poolCreateInput) (*site.Body[pool.View], error) {
	b := in.Body
	return site.Answered[pool.View](ctx, p.Site)(p.Pools.CreatePool(ctx, site.Caller(ctx), pool.Request{Name: b.Name, Hardware: b.Hardware, Image: b.Image, Provider: b.Provider,
		Zone: b.Zone, Count: &b.Count, MaxAge: ageOf(b.MaxAge), Mode: b.Mode}))
}

func (p *Service) apiChange(ctx context.Context, in *poolChangeInput) (*site.Body[pool.View], error) {
	return site.Answered[pool.View](ctx, p.Site)(p.Pools.ChangePool(ctx, site.Caller(ctx), pool.Request{Name: in.Name, Count: in.Body.Count, MaxAge: ageOf(in.Body.MaxAge), Mode: in.Body.Mode}))
}

func (p *Service) apiDrain(ctx context.Context, in *PoolName) (*site.Body[pool.View], error) {
	return site.Answered[pool.View](ctx, p.Site)(p.Pools.DrainPool(ctx, site.Caller(ctx), in.Name))
}

func (p *Service) apiDelete(ctx context.Context, in *PoolName) (*site.Body[pool.Receipt], error) {
	return site.Answered[pool.Receipt](ctx, p.Site)(p.Pools.DeletePool(ctx, site.Caller(ctx), in.Name))
}

func (p *Service) apiReceipt(ctx context.Context, in *PoolName) (*site.Body[pool.Receipt], error) {
	return site.Answered[pool.Receipt](ctx, p.Site)(p.Pools.PoolReceipt(ctx, site.Caller(ctx), in.Name))
}
