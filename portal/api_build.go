package portal

import (
	"context"
	"time"

	"muster/app"
	"muster/app/build"
)

// BuildHookName is in the path of all that is about one. It is exported, as huma sees no parameter of an embedded struct that is not.
type BuildHookName struct {
	Name string `path:"name" maxLength:"63" doc:"The build hook's name"`
}

// BuildDeliveryName is in the path of what is about one delivery.
type BuildDeliveryName struct {
	BuildHookName
	Delivery int64 `path:"delivery" minimum:"1" doc:"The delivery's number"`
}

type buildHookSaveInput struct {
	BuildHookName
	Body build.BuildHookRequest
}

type buildRulesInput struct {
	BuildHookName
	Body struct {
		Rules []app.BuildRule `json:"rules" maxItems:"50" nullable:"false"`
	}
}

type buildTryInput struct {
	BuildHookName
	Body build.BuildTrial
}

// BuildHookPage asks for a part of a hook's deliveries.
type BuildHookPage struct {
	BuildHookName
	HookPage
}

type buildHookList struct {
	Hooks   []app.BuildHook     `json:"hooks" nullable:"false"`
	Systems []build.BuildSystem `json:"systems" nullable:"false" doc:"The build systems that there can be hooks for"`
}

type buildDeliveryList struct {
	Deliveries []app.BuildTaken `json:"deliveries" nullable:"false"`
	Next       int64            `json:"next,omitempty" doc:"What to ask for as before to go on; left out at the end"`
}

type buildList struct {
	Builds []app.Build `json:"builds" nullable:"false"`
	Next   int64       `json:"next,omitempty" doc:"What to ask for as before to go on; left out at the end"`
}

type BuildNumber struct {
	Build int64 `path:"build" minimum:"1" doc:"The build's number"`
}

type buildListInput struct {
	Hook    string `query:"hook" maxLength:"63" doc:"Only those of this hook"`
	Key     string `query:"key" maxLength:"300" doc:"Only those of this key"`
	Build   string `query:"build" maxLength:"300" doc:"Only those of this build"`
	Cluster string `query:"cluster" maxLength:"100" doc:"Only the one that a cluster is for"`
	Live    bool   `query:"live" doc:"Only those that have a cluster, or wait for one"`
	HookPage
}

type buildShowInput struct {
	BuildNumber
	Wait int `query:"wait" minimum:"0" maximum:"25" doc:"For how many seconds to wait until it is ready, or never will be"`
}

type buildExtension struct {
	By string `json:"by" maxLength:"40" doc:"By how much, such as 1h"`
}

type buildExtendInput struct {
	BuildNumber
	Body buildExtension
}

func (p *Portal) apiBuildHookList(ctx context.Context, _ *struct{}) (*body[buildHookList], error) {
	all, err := p.building().BuildHooks(ctx, caller(ctx))
	return answered[buildHookList](ctx, p)(buildHookList{orEmpty(all), orEmpty(p.building().BuildSystems())}, err)
}

func (p *Portal) apiBuildHookShow(ctx context.Context, in *BuildHookName) (*body[app.BuildHook], error) {
	return answered[app.BuildHook](ctx, p)(p.building().BuildHook(ctx, caller(ctx), in.Name))
}

func (p *Portal) apiBuildHookSave(ctx context.Context, in *buildHookSaveInput) (*body[build.SavedBuildHook], error) {
	in.Body.Name = in.Name
	return answered[build.SavedBuildHook](ctx, p)(p.building().SaveBuildHook(ctx, caller(ctx), in.Body))
}

func (p *Portal) apiBuildRulesSave(ctx context.Context, in *buildRulesInput) (*body[app.BuildHook], error) {
	if _, err := p.building().BuildHook(ctx, caller(ctx), in.Name); err != nil {
		return nil, p.fail(ctx, err)
	}
	s, err := p.building().SaveBuildHook(ctx, caller(ctx), build.BuildHookRequest{Name: in.Name, Rules: &in.Body.Rules})
	return answered[app.BuildHook](ctx, p)(s.BuildHook, err)
}

func (p *Portal) apiBuildHookDelete(ctx context.Context, in *BuildHookName) (*struct{}, error) {
	if err := p.building().DeleteBuildHook(ctx, caller(ctx), in.Name); err != nil {
		return nil, p.fail(ctx, err)
	}
	return nil, nil
}

func (p *Portal) apiBuildTry(ctx context.Context, in *buildTryInput) (*body[build.BuildTried], error) {
	return answered[build.BuildTried](ctx, p)(p.building().TryBuild(ctx, caller(ctx), in.Name, in.Body))
}

func (p *Portal) apiBuildDeliveryList(ctx context.Context, in *BuildHookPage) (*body[buildDeliveryList], error) {
	all, err := p.building().BuildDeliveries(ctx, caller(ctx), in.Name, in.Before, in.Limit)
	out := buildDeliveryList{Deliveries: orEmpty(all)}
	if len(all) == in.Limit {
		out.Next = all[len(all)-1].ID
	}
	return answered[buildDeliveryList](ctx, p)(out, err)
}

func (p *Portal) apiBuildDelivery(ctx context.Context, in *BuildDeliveryName) (*body[app.BuildTaken], error) {
	return answered[app.BuildTaken](ctx, p)(p.building().BuildDelivery(ctx, caller(ctx), in.Name, in.Delivery))
}

func (p *Portal) apiBuildReplay(ctx context.Context, in *BuildDeliveryName) (*body[app.BuildTaken], error) {
	return answered[app.BuildTaken](ctx, p)(p.building().ReplayBuild(ctx, caller(ctx), in.Name, in.Delivery))
}

func (p *Portal) apiBuildList(ctx context.Context, in *buildListInput) (*body[buildList], error) {
	all, err := p.building().BuildList(ctx, caller(ctx), app.BuildFilter{Hook: in.Hook, Key: in.Key, Build: in.Build, Cluster: in.Cluster, Live: in.Live, Before: in.Before, Limit: in.Limit})
	out := buildList{Builds: orEmpty(all)}
	if len(all) == in.Limit {
		out.Next = all[len(all)-1].ID
	}
	return answered[buildList](ctx, p)(out, err)
}

func (p *Portal) apiBuildShow(ctx context.Context, in *buildShowInput) (*body[build.BuildView], error) {
	return answered[build.BuildView](ctx, p)(apiBuild(p.building().AwaitBuild(ctx, caller(ctx), in.Build, time.Duration(in.Wait)*time.Second)))
}

func (p *Portal) apiBuildEnd(ctx context.Context, in *BuildNumber) (*body[build.BuildView], error) {
	return answered[build.BuildView](ctx, p)(apiBuild(p.building().EndBuild(ctx, caller(ctx), in.Build)))
}

func (p *Portal) apiBuildExtend(ctx context.Context, in *buildExtendInput) (*body[build.BuildView], error) {
	by, err := app.ParseLength(in.Body.By)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return answered[build.BuildView](ctx, p)(apiBuild(p.building().ExtendBuild(ctx, caller(ctx), in.Build, by)))
}
