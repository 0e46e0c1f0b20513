package portal

import (
	"context"

	"muster/app"
	"muster/app/webhook"
)

type HookName struct {
	Name string `path:"name" maxLength:"63" doc:"The hook's name"`
}

type hookDeliveryName struct {
	HookName
	Delivery int64 `path:"delivery" minimum:"1" doc:"The delivery's number"`
}

type HookPage struct {
	Before int64 `query:"before" minimum:"0" doc:"Only what came before this number; 0 begins with the newest"`
	Limit  int   `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"At most so many"`
}

type hookPageOf struct {
	HookName
	HookPage
}

type hookSaveInput struct {
	HookName
	Body webhook.HookRequest
}

type hookList struct {
	Hooks []app.Hook `json:"hooks"`
}

type hookDeliveryList struct {
	Deliveries []app.HookDelivery `json:"deliveries"`
	Next       int64              `json:"next,omitempty" doc:"What to ask for as before to go on; left out at the end"`
}

type noticeList struct {
	Notices []app.Notice `json:"notices"`
	Next    int64        `json:"next,omitempty" doc:"What to ask for as before to go on; left out at the end"`
}

// answered gives what a use case gave, or its error as a problem.
func answered[T any](ctx context.Context, p *Portal) func(T, error) (*body[T], error) {
	return func(v T, err error) (*body[T], error) {
		if err != nil {
			return nil, p.fail(ctx, err)
		}
		return &body[T]{v}, nil
	}
}

func (p *Portal) apiNoticeList(ctx context.Context, in *HookPage) (*body[noticeList], error) {
	all, err := p.noticing().Notices(ctx, caller(ctx), in.Before, in.Limit)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	out := noticeList{Notices: orEmpty(all)}
	if len(all) == in.Limit {
		out.Next = all[len(all)-1].ID
	}
	return &body[noticeList]{out}, nil
}

func (p *Portal) apiHookList(ctx context.Context, _ *struct{}) (*body[hookList], error) {
	all, err := p.hooking().Hooks(ctx, caller(ctx))
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[hookList]{hookList{orEmpty(all)}}, nil
}

func (p *Portal) apiHookShow(ctx context.Context, in *HookName) (*body[app.Hook], error) {
	return answered[app.Hook](ctx, p)(p.hooking().Hook(ctx, caller(ctx), in.Name))
}

func (p *Portal) apiHookSave(ctx context.Context, in *hookSaveInput) (*body[webhook.SavedHook], error) {
	in.Body.Name = in.Name
	return answered[webhook.SavedHook](ctx, p)(p.hooking().SaveHook(ctx, caller(ctx), in.Body))
}

func (p *Portal) apiHookDelete(ctx context.Context, in *HookName) (*struct{}, error) {
	if err := p.hooking().DeleteHook(ctx, caller(ctx), in.Name); err != nil {
		return nil, p.fail(ctx, err)
	}
	return nil, nil
}

func (p *Portal) apiHookTest(ctx context.Context, in *HookName) (*body[app.HookDelivery], error) {
	return answered[app.HookDelivery](ctx, p)(p.hooking().TestHook(ctx, caller(ctx), in.Name))
}

func (p *Portal) apiHookDeliveryList(ctx context.Context, in *hookPageOf) (*body[hookDeliveryList], error) {
	all, err := p.hooking().HookDeliveries(ctx, caller(ctx), in.Name, in.Before, in.Limit)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	out := hookDeliveryList{Deliveries: orEmpty(all)}
	if len(all) == in.Limit {
		out.Next = all[len(all)-1].ID
	}
	return &body[hookDeliveryList]{out}, nil
}

func (p *Portal) apiHookDelivery(ctx context.Context, in *hookDeliveryName) (*body[app.HookDelivery], error) {
	return answered[app.HookDelivery](ctx, p)(p.hooking().HookDelivery(ctx, caller(ctx), in.Name, in.Delivery))
}

func (p *Portal) apiHookResend(ctx context.Context, in *hookDeliveryName) (*body[app.HookDelivery], error) {
	return answered[app.HookDelivery](ctx, p)(p.hooking().Redeliver(ctx, caller(ctx), in.Name, in.Delivery))
}
