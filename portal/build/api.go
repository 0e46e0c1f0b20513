package build

import (
	"context"
	"time"

	"muster/app/build"
	"muster/app/template"
	"muster/portal/site"
	"muster/portal/webhook"
)

// HookName is the path parameter of a hook. It's exported because huma ignores parameters of unexported embedded structs.
type HookName struct {
	Name string `path:"name" maxLength:"63" doc:"Name of the build hook"`
}

// buildDeliveryName is the path parameter of a delivery.
type buildDeliveryName struct {
	HookName
	Delivery int64 `path:"delivery" minimum:"1" doc:"Number of the delivery"`
}

type buildHookSaveInput struct {
	HookName
	Body build.BuildHookRequest
}

type buildRulesInput struct {
	HookName
	Body struct {
		Rules []build.Rule `json:"rules" maxItems:"50" nullable:"false"`
	}
}

type buildTryInput struct {
	HookName
	Body build.Trial
}

// buildHookPage is a page of a hook's deliveries.
type buildHookPage struct {
	HookName
	webhook.HookPageQuery
}

type buildHookList struct {
	Hooks   []build.BuildHook `json:"hooks" nullable:"false"`
	Systems []build.System    `json:"systems" nullable:"false" doc:"Supported build systems"`
}

type buildDeliveryList struct {
	Deliveries []build.DeliveryRecord `json:"deliveries" nullable:"false"`
	Next       int64                  `json:"next,omitempty" doc:"Value of before for the next page; omitted on the last page"`
}

type buildList struct {
	Builds []build.Build `json:"builds" nullable:"false"`
	Next   int64         `json:"next,omitempty" doc:"Value of before for the next page; omitted on the last page"`
}

type Number struct {
	Build int64 `path:"build" minimum:"1" doc:"Number of the build"`
}

type buildListInput struct {
	Hook    string `query:"hook" maxLength:"63" doc:"Filter by build hook"`
	Key     string `query:"key" maxLength:"300" doc:"Filter by key"`
	Build   string `query:"build" maxLength:"300" doc:"Filter by build"`
	Cluster string `query:"cluster" maxLength:"100" doc:"Filter by cluster"`
	Live    bool   `query:"live" doc:"Only builds that have a cluster or are waiting for one"`
	webhook.HookPageQuery
}

type buildShowInput struct {
	Number
	Wait int `query:"wait" minimum:"0" maximum:"25" doc:"Seconds to wait until the build is ready or has failed"`
}

type buildExtension struct {
	By string `json:"by" maxLength:"40" doc:"Duration, such as 1h"`
}

type buildExtendInput struct {
	Number
	Body buildExtension
}

func (p *Service) apiHookList(ctx context.Context, _ *struct{}) (*site.Body[buildHookList], error) {
	all, err := p.BuildHooks.BuildHooks(ctx, site.Caller(ctx))
	return site.Answered[buildHookList](ctx, p.Site)(buildHookList{site.OrEmpty(all), site.OrEmpty(p.BuildHooks.BuildSystems())}, err)
}

func (p *Service) apiHookShow(ctx context.Context, in *HookName) (*site.Body[build.BuildHook], error) {
	return site.Answered[build.BuildHook](ctx, p.Site)(p.BuildHooks.BuildHook(ctx, site.Caller(ctx), in.Name))
}

func (p *Service) apiHookSave(ctx context.Context, in *buildHookSaveInput) (*site.Body[build.SavedBuildHook], error) {
	in.Body.Name = in.Name
	return site.Answered[build.SavedBuildHook](ctx, p.Site)(p.BuildHooks.SaveBuildHook(ctx, site.Caller(ctx), in.Body))
}

func (p *Service) apiRulesSave(ctx context.Context, in *buildRulesInput) (*site.Body[build.BuildHook], error) {
	if _, err := p.BuildHooks.BuildHook(ctx, site.Caller(ctx), in.Name); err != nil {
		return nil, p.Fail(ctx, err)
	}
	s, err := p.BuildHooks.SaveBuildHook(ctx, site.Caller(ctx), build.BuildHookRequest{Name: in.Name, Rules: &in.Body.Rules})
	return site.Answered[build.BuildHook](ctx, p.Site)(s.BuildHook, err)
}

func (p *Service) apiHookDelete(ctx context.Context, in *HookName) (*struct{}, error) {
	if err := p.BuildHooks.DeleteBuildHook(ctx, site.Caller(ctx), in.Name); err != nil {
		return nil, p.Fail(ctx, err)
	}
	return nil, nil
}

func (p *Service) apiTry(ctx context.Context, in *buildTryInput) (*site.Body[build.RuleTrialResult], error) {
	return site.Answered[build.RuleTrialResult](ctx, p.Site)(p.BuildHooks.TryBuild(ctx, site.Caller(ctx), in.Name, in.Body))
}

func (p *Service) apiDeliveryList(ctx context.Context, in *buildHookPage) (*site.Body[buildDeliveryList], error) {
	all, err := p.BuildHooks.BuildDeliveries(ctx, site.Caller(ctx), in.Name, in.Before, in.Limit)
	out := buildDeliveryList{Deliveries: site.OrEmpty(all)}
	if len(all) == in.Limit {
		out.Next = all[len(all)-1].ID
	}
	return site.Answered[buildDeliveryList](ctx, p.Site)(out, err)
}

func (p *Service) apiDelivery(ctx context.Context, in *buildDeliveryName) (*site.Body[build.DeliveryRecord], error) {
	return site.Answered[build.DeliveryRecord](ctx, p.Site)(p.BuildHooks.BuildDelivery(ctx, site.Caller(ctx), in.Name, in.Delivery))
}

func (p *Service) apiReplay(ctx context.Context, in *buildDeliveryName) (*site.Body[build.DeliveryRecord], error) {
	return site.Answered[build.DeliveryRecord](ctx, p.Site)(p.BuildHooks.ReplayBuild(ctx, site.Caller(ctx), in.Name, in.Delivery))
}

func (p *Service) apiList(ctx context.Context, in *buildListInput) (*site.Body[buildList], error) {
	all, err := p.Builds.BuildList(ctx, site.Caller(ctx), build.Filter{Hook: in.Hook, Key: in.Key, Build: in.Build, Cluster: in.Cluster, Live: in.Live, Before: in.Before, Limit: in.Limit})
	out := buildList{Builds: site.OrEmpty(all)}
	if len(all) == in.Limit {
		out.Next = all[len(all)-1].ID
	}
	return site.Answered[buildList](ctx, p.Site)(out, err)
}

func (p *Service) apiShow(ctx context.Context, in *buildShowInput) (*site.Body[build.View], error) {
	return site.Answered[build.View](ctx, p.Site)(APIBuild(p.Builds.AwaitBuild(ctx, site.Caller(ctx), in.Build, time.Duration(in.Wait)*time.Second)))
}

func (p *Service) apiEnd(ctx context.Context, in *Number) (*site.Body[build.View], error) {
	return site.Answered[build.View](ctx, p.Site)(APIBuild(p.Builds.EndBuild(ctx, site.Caller(ctx), in.Build)))
}

func (p *Service) apiExtend(ctx context.Context, in *buildExtendInput) (*site.Body[build.View], error) {
	by, err := template.ParseLength(in.Body.By)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return site.Answered[build.View](ctx, p.Site)(APIBuild(p.Builds.ExtendBuild(ctx, site.Caller(ctx), in.Build, by)))
}
