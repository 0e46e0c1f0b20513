package portal

import (
	"context"
	"time"

	"muster/app"
)

type PoolName struct {
	Name string `path:"name" maxLength:"63" doc:"The pool's name"`
}

type poolCreateInput struct {
	Body struct {
		Name     string       `json:"name" maxLength:"63" doc:"Small letters, digits and '-'"`
		Hardware string       `json:"hardware" maxLength:"200"`
		Image    string       `json:"image" maxLength:"200"`
		Provider string       `json:"provider" maxLength:"200"`
		Zone     string       `json:"zone,omitempty" maxLength:"200" doc:"Left out: wherever the provider chooses"`
		Count    int          `json:"count" doc:"How many machines are to be ready, from 0 to 500"`
		MaxAge   *int64       `json:"max_age,omitempty" doc:"In nanoseconds, after which a machine is replaced; left out: 24 hours"`
		Mode     app.PoolMode `json:"mode,omitempty" enum:"on,off" doc:"Left out: on"`
	}
}

type poolChangeInput struct {
	PoolName
	Body struct {
		Count  *int         `json:"count,omitempty" doc:"How many machines are to be ready, from 0 to 500"`
		MaxAge *int64       `json:"max_age,omitempty" doc:"In nanoseconds, after which a machine is replaced"`
		Mode   app.PoolMode `json:"mode,omitempty" enum:"on,off" doc:"on: it is refilled; off: what is there is handed out, and nothing is made"`
	}
}

type poolList struct {
	Pools []app.PoolView `json:"pools"`
}

func ageOf(nanoseconds *int64) *time.Duration {
	if nanoseconds == nil {
		return nil
	}
	d := time.Duration(*nanoseconds)
	return &d
}

func (p *Portal) apiPoolList(ctx context.Context, _ *struct{}) (*body[poolList], error) {
	all, err := p.pooling().Pools(ctx, caller(ctx))
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[poolList]{poolList{orEmpty(all)}}, nil
}

func (p *Portal) apiPoolShow(ctx context.Context, in *PoolName) (*body[app.PoolView], error) {
	return answered[app.PoolView](ctx, p)(p.pooling().Pool(ctx, caller(ctx), in.Name))
}

func (p *Portal) apiPoolCreate(ctx context.Context, in *poolCreateInput) (*body[app.PoolView], error) {
	b := in.Body
	return answered[app.PoolView](ctx, p)(p.pooling().CreatePool(ctx, caller(ctx), app.PoolRequest{Name: b.Name, Hardware: b.Hardware, Image: b.Image, Provider: b.Provider,
		Zone: b.Zone, Count: &b.Count, MaxAge: ageOf(b.MaxAge), Mode: b.Mode}))
}

func (p *Portal) apiPoolChange(ctx context.Context, in *poolChangeInput) (*body[app.PoolView], error) {
	return answered[app.PoolView](ctx, p)(p.pooling().ChangePool(ctx, caller(ctx), app.PoolRequest{Name: in.Name, Count: in.Body.Count, MaxAge: ageOf(in.Body.MaxAge), Mode: in.Body.Mode}))
}

func (p *Portal) apiPoolDrain(ctx context.Context, in *PoolName) (*body[app.PoolView], error) {
	return answered[app.PoolView](ctx, p)(p.pooling().DrainPool(ctx, caller(ctx), in.Name))
}

func (p *Portal) apiPoolDelete(ctx context.Context, in *PoolName) (*body[app.PoolReceipt], error) {
	return answered[app.PoolReceipt](ctx, p)(p.pooling().DeletePool(ctx, caller(ctx), in.Name))
}

func (p *Portal) apiPoolReceipt(ctx context.Context, in *PoolName) (*body[app.PoolReceipt], error) {
	return answered[app.PoolReceipt](ctx, p)(p.pooling().PoolReceipt(ctx, caller(ctx), in.Name))
}
