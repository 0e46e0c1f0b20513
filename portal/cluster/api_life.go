package cluster

import (
	"context"
	"fmt"
	"net/http"

	"muster/app/cluster"
	"muster/app/schedule"
	"muster/portal/policy"
	"muster/portal/site"
)

type renameInput struct {
	site.IDInput
	Body struct {
		Name string `json:"name" maxLength:"128" doc:"The new name. The id and the host names stay"`
	}
}

type transferInput struct {
	site.IDInput
	Body struct {
		To string `json:"to" maxLength:"210" doc:"The new owner: a user of the same tenant, or group:NAME for the members of a group"`
	}
}

func (p *Service) APIRename(ctx context.Context, in *renameInput) (*site.Body[cluster.ClusterView], error) {
	return p.View(ctx)(p.Ownership.RenameCluster(ctx, site.Caller(ctx), in.ID, in.Body.Name))
}

func (p *Service) APITransfer(ctx context.Context, in *transferInput) (*site.Body[cluster.ClusterView], error) {
	return p.View(ctx)(p.Ownership.TransferCluster(ctx, site.Caller(ctx), in.ID, in.Body.To))
}

type powerInput struct {
	site.IDInput
	Body struct {
		PlanHash string `json:"plan_hash,omitempty" maxLength:"64" doc:"Of the preview that was shown; without it, what comes is taken"`
	}
}

type scheduleInput struct {
	site.IDInput
	Body struct {
		Sleep string `json:"sleep,omitempty" maxLength:"100" doc:"When it goes to sleep, as five fields of a crontab; empty for never"`
		Wake  string `json:"wake,omitempty" maxLength:"100" doc:"When it wakes"`
		Zone  string `json:"zone,omitempty" maxLength:"64" doc:"The time zone, such as Europe/Berlin; empty is UTC"`
	}
}

type cloneQuery struct {
	site.IDInput
	Name string `query:"name" required:"true" maxLength:"128" doc:"The name of the new cluster"`
}

type cloneInput struct {
	site.IDInput
	Body struct {
		Name     string `json:"name" maxLength:"128" doc:"The name of the new cluster"`
		PlanHash string `json:"plan_hash,omitempty" maxLength:"64" doc:"Of the preview that was shown; without it, what comes is taken"`
	}
}

type diffInput struct {
	A string `query:"a" required:"true" maxLength:"160" doc:"A cluster by id or name, or with @ and a number how that operation left it"`
	B string `query:"b" required:"true" maxLength:"160" doc:"Another one, or the same at another moment"`
}

func (p *Service) APISleepPreview(ctx context.Context, in *site.IDInput) (*site.Body[cluster.AmendPreview], error) {
	return p.powerPreview(ctx)(p.Sleeping.PreviewSleep(ctx, site.Caller(ctx), in.ID))
}

func (p *Service) APIWakePreview(ctx context.Context, in *site.IDInput) (*site.Body[cluster.AmendPreview], error) {
	return p.powerPreview(ctx)(p.Sleeping.PreviewWake(ctx, site.Caller(ctx), in.ID))
}

func (p *Service) powerPreview(ctx context.Context) func(cluster.AmendPreview, error) (*site.Body[cluster.AmendPreview], error) {
	return func(v cluster.AmendPreview, err error) (*site.Body[cluster.AmendPreview], error) {
		if err != nil {
			return nil, p.Fail(ctx, err)
		}
		v.Nodes, v.Changes, v.Notes, v.Plan.Steps = site.OrEmpty(v.Nodes), site.OrEmpty(v.Changes), site.OrEmpty(v.Notes), site.OrEmpty(v.Plan.Steps)
		for i := range v.Nodes {
			v.Nodes[i].Services = site.OrEmpty(v.Nodes[i].Services)
		}
		return &site.Body[cluster.AmendPreview]{Body: v}, nil
	}
}

func (p *Service) APISleep(ctx context.Context, in *powerInput) (*site.Amended, error) {
	answer, err := p.Sleeping.SleepCluster(ctx, site.Caller(ctx), in.ID, in.Body.PlanHash)
	return p.AnswerAmend(ctx, in.ID, answer, err)
}

func (p *Service) APIWake(ctx context.Context, in *powerInput) (*site.Amended, error) {
	answer, err := p.Sleeping.WakeCluster(ctx, site.Caller(ctx), in.ID, in.Body.PlanHash)
	return p.AnswerAmend(ctx, in.ID, answer, err)
}

func (p *Service) APIScheduleShow(ctx context.Context, in *site.IDInput) (*site.Body[schedule.ClusterSchedule], error) {
	s, err := p.Schedules.Schedule(ctx, site.Caller(ctx), in.ID)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[schedule.ClusterSchedule]{Body: s}, nil
}

func (p *Service) APIScheduleSet(ctx context.Context, in *scheduleInput) (*site.Body[schedule.ClusterSchedule], error) {
	s, err := p.Schedules.SetSchedule(ctx, site.Caller(ctx), in.ID, schedule.Schedule{Sleep: in.Body.Sleep, Wake: in.Body.Wake, Zone: in.Body.Zone})
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[schedule.ClusterSchedule]{Body: s}, nil
}

func (p *Service) APISpec(ctx context.Context, in *site.IDInput) (*site.Body[cluster.SpecExport], error) {
	e, err := p.Specs.ExportCluster(ctx, site.Caller(ctx), in.ID)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	e.LeftOut, e.Groups = site.OrEmpty(e.LeftOut), site.OrEmpty(e.Groups)
	return &site.Body[cluster.SpecExport]{Body: e}, nil
}

func (p *Service) APIClonePreview(ctx context.Context, in *cloneQuery) (*site.Body[cluster.Preview], error) {
	v, err := p.Creates.PreviewClone(ctx, site.Caller(ctx), in.ID, in.Name)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[cluster.Preview]{Body: v}, nil
}

func (p *Service) APIClone(ctx context.Context, in *cloneInput) (*policy.Asked, error) {
	answer, err := p.Creates.CloneCluster(ctx, site.Caller(ctx), in.ID, in.Body.Name, in.Body.PlanHash)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	if id := answer.Request.Cluster; id != "" {
		v, err := p.Clusters.Cluster(ctx, site.Caller(ctx), id)
		if err != nil {
			return nil, p.Fail(ctx, err)
		}
		v.Nodes, v.Operations, v.Links = site.OrEmpty(v.Nodes), site.OrEmpty(v.Operations), site.OrEmpty(v.Links)
		return &policy.Asked{Status: http.StatusCreated, Location: "/api/v1/clusters/" + v.ID, Body: &v}, nil
	}
	return &policy.Asked{Status: http.StatusAccepted, Location: fmt.Sprintf("/api/v1/requests/%d", answer.Request.ID), Body: answer.Request}, nil
}

func (p *Service) APIDiff(ctx context.Context, in *diffInput) (*site.Body[cluster.ClusterDiff], error) {
	d, err := p.Specs.DiffClusters(ctx, site.Caller(ctx), in.A, in.B)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[cluster.ClusterDiff]{Body: d}, nil
}
