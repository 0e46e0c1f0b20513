package webhook

import (
	"context"

	"muster/app/webhook"
	"muster/portal/address"
	"muster/portal/site"
	"muster/portal/wire"
)

type HookName struct {
	Name string `path:"name" maxLength:"63" doc:"Name of the hook"`
}

type hookDeliveryName struct {
	HookName
	Delivery int64 `path:"delivery" minimum:"1" doc:"Number of the delivery"`
}

type HookPageQuery struct {
	Before int64 `query:"before" minimum:"0" doc:"Only items before this number; 0 starts with the newest"`
	Limit  int   `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"Maximum number of items"`
}

type hookPageOf struct {
	HookName
	HookPageQuery
}

type hookSaveInput struct {
	HookName
	Body webhook.EndpointRequest
}

type hookList struct {
	Hooks []webhook.Endpoint `json:"webhooks"`
}

type hookDeliveryList struct {
	Deliveries []webhook.Delivery `json:"deliveries"`
	Next       int64              `json:"next,omitempty" doc:"Value of before for the next page; omitted on the last page"`
}

type noticeList struct {
	Notices []wire.Notice `json:"notifications"`
	Next    int64         `json:"next,omitempty" doc:"Value of before for the next page; omitted on the last page"`
}

func (p *Service) apiNoticeList(ctx context.Context, in *HookPageQuery) (*site.Body[noticeList], error) {
	all, err := p.Notices.Notices(ctx, site.Caller(ctx), in.Before, in.Limit)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	out := noticeList{Notices: address.Notices(all)}
	if len(all) == in.Limit {
		out.Next = all[len(all)-1].ID
	}
	return &site.Body[noticeList]{Body: out}, nil
}

func (p *Service) apiHookList(ctx context.Context, _ *struct{}) (*site.Body[hookList], error) {
	all, err := p.Hooks.Hooks(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[hookList]{Body: hookList{site.OrEmpty(all)}}, nil
}

func (p *Service) apiHookShow(ctx context.Context, in *HookName) (*site.Body[webhook.Endpoint], error) {
	return site.Answered[webhook.Endpoint](ctx, p.Site)(p.Hooks.Hook(ctx, site.Caller(ctx), in.Name))
}

func (p *Service) apiHookSave(ctx context.Context, in *hookSaveInput) (*site.Body[webhook.SavedEndpoint], error) {
	in.Body.Name = in.Name
	return site.Answered[webhook.SavedEndpoint](ctx, p.Site)(p.Hooks.SaveHook(ctx, site.Caller(ctx), in.Body))
}

func (p *Service) apiHookDelete(ctx context.Context, in *HookName) (*struct{}, error) {
	if err := p.Hooks.DeleteHook(ctx, site.Caller(ctx), in.Name); err != nil {
		return nil, p.Fail(ctx, err)
	}
	return nil, nil
}

func (p *Service) apiHookTest(ctx context.Context, in *HookName) (*site.Body[webhook.Delivery], error) {
	return site.Answered[webhook.Delivery](ctx, p.Site)(p.Hooks.TestHook(ctx, site.Caller(ctx), in.Name))
}

func (p *Service) apiHookDeliveryList(ctx context.Context, in *hookPageOf) (*site.Body[hookDeliveryList], error) {
	all, err := p.Hooks.HookDeliveries(ctx, site.Caller(ctx), in.Name, in.Before, in.Limit)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	out := hookDeliveryList{Deliveries: site.OrEmpty(all)}
	if len(all) == in.Limit {
		out.Next = all[len(all)-1].ID
	}
	return &site.Body[hookDeliveryList]{Body: out}, nil
}

func (p *Service) apiHookDelivery(ctx context.Context, in *hookDeliveryName) (*site.Body[webhook.Delivery], error) {
	return site.Answered[webhook.Delivery](ctx, p.Site)(p.Hooks.HookDelivery(ctx, site.Caller(ctx), in.Name, in.Delivery))
}

func (p *Service) apiHookResend(ctx context.Context, in *hookDeliveryName) (*site.Body[webhook.Delivery], error) {
	return site.Answered[webhook.Delivery](ctx, p.Site)(p.Hooks.Redeliver(ctx, site.Caller(ctx), in.Name, in.Delivery))
}
