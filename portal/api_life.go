package portal

import (
	"context"
	"fmt"
	"net/http"

	"muster/app"
	"muster/app/cluster"
)

type renameInput struct {
	IDInput
	Body struct {
		Name string `json:"name" maxLength:"128" doc:"The new name. The id and the host names stay"`
	}
}

type transferInput struct {
	IDInput
	Body struct {
		To string `json:"to" maxLength:"210" doc:"The new owner: a user of the same tenant, or group:NAME for the members of a group"`
	}
}

func (p *Portal) apiClusterRename(ctx context.Context, in *renameInput) (*body[app.ClusterView], error) {
	return p.view(ctx)(p.life().RenameCluster(ctx, caller(ctx), in.ID, in.Body.Name))
}

func (p *Portal) apiClusterTransfer(ctx context.Context, in *transferInput) (*body[app.ClusterView], error) {
	return p.view(ctx)(p.life().TransferCluster(ctx, caller(ctx), in.ID, in.Body.To))
}

type powerInput struct {
	IDInput
	Body struct {
		PlanHash string `json:"plan_hash,omitempty" maxLength:"64" doc:"Of the preview that was shown; without it, what comes is taken"`
	}
}

type scheduleInput struct {
	IDInput
	Body struct {
		Sleep string `json:"sleep,omitempty" maxLength:"100" doc:"When it goes to sleep, as five fields of a crontab; empty for never"`
		Wake  string `json:"wake,omitempty" maxLength:"100" doc:"When it wakes"`
		Zone  string `json:"zone,omitempty" maxLength:"64" doc:"The time zone, such as Europe/Berlin; empty is UTC"`
	}
}

type cloneQuery struct {
	IDInput
	Name string `query:"name" required:"true" maxLength:"128" doc:"The name of the new cluster"`
}

type cloneInput struct {
	IDInput
	Body struct {
		Name     string `json:"name" maxLength:"128" doc:"The name of the new cluster"`
		PlanHash string `json:"plan_hash,omitempty" maxLength:"64" doc:"Of the preview that was shown; without it, what comes is taken"`
	}
}

type diffInput struct {
	A string `query:"a" required:"true" maxLength:"160" doc:"A cluster by id or name, or with @ and a number how that operation left it"`
	B string `query:"b" required:"true" maxLength:"160" doc:"Another one, or the same at another moment"`
}

func (p *Portal) apiSleepPreview(ctx context.Context, in *IDInput) (*body[app.AmendPreview], error) {
	return p.powerPreview(ctx)(p.life().PreviewSleep(ctx, caller(ctx), in.ID))
}

func (p *Portal) apiWakePreview(ctx context.Context, in *IDInput) (*body[app.AmendPreview], error) {
	return p.powerPreview(ctx)(p.life().PreviewWake(ctx, caller(ctx), in.ID))
}

func (p *Portal) powerPreview(ctx context.Context) func(app.AmendPreview, error) (*body[app.AmendPreview], error) {
	return func(v app.AmendPreview, err error) (*body[app.AmendPreview], error) {
		if err != nil {
			return nil, p.fail(ctx, err)
		}
		v.Nodes, v.Changes, v.Notes, v.Plan.Steps = orEmpty(v.Nodes), orEmpty(v.Changes), orEmpty(v.Notes), orEmpty(v.Plan.Steps)
		for i := range v.Nodes {
			v.Nodes[i].Services = orEmpty(v.Nodes[i].Services)
		}
		return &body[app.AmendPreview]{v}, nil
	}
}

func (p *Portal) apiSleep(ctx context.Context, in *powerInput) (*amended, error) {
	answer, err := p.life().SleepCluster(ctx, caller(ctx), in.ID, in.Body.PlanHash)
	return p.answerAmend(ctx, in.ID, answer, err)
}

func (p *Portal) apiWake(ctx context.Context, in *powerInput) (*amended, error) {
	answer, err := p.life().WakeCluster(ctx, caller(ctx), in.ID, in.Body.PlanHash)
	return p.answerAmend(ctx, in.ID, answer, err)
}

func (p *Portal) apiScheduleShow(ctx context.Context, in *IDInput) (*body[app.ClusterSchedule], error) {
	s, err := p.life().Schedule(ctx, caller(ctx), in.ID)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[app.ClusterSchedule]{s}, nil
}

func (p *Portal) apiScheduleSet(ctx context.Context, in *scheduleInput) (*body[app.ClusterSchedule], error) {
	s, err := p.life().SetSchedule(ctx, caller(ctx), in.ID, app.Schedule{Sleep: in.Body.Sleep, Wake: in.Body.Wake, Zone: in.Body.Zone})
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[app.ClusterSchedule]{s}, nil
}

func (p *Portal) apiClusterSpec(ctx context.Context, in *IDInput) (*body[cluster.SpecExport], error) {
	e, err := p.life().ExportCluster(ctx, caller(ctx), in.ID)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	e.LeftOut, e.Groups = orEmpty(e.LeftOut), orEmpty(e.Groups)
	return &body[cluster.SpecExport]{e}, nil
}

func (p *Portal) apiClonePreview(ctx context.Context, in *cloneQuery) (*body[app.Preview], error) {
	v, err := p.life().PreviewClone(ctx, caller(ctx), in.ID, in.Name)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[app.Preview]{v}, nil
}

func (p *Portal) apiClone(ctx context.Context, in *cloneInput) (*asked, error) {
	answer, err := p.life().CloneCluster(ctx, caller(ctx), in.ID, in.Body.Name, in.Body.PlanHash)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	if id := answer.Request.Cluster; id != "" {
		v, err := p.muster.Cluster(ctx, caller(ctx), id)
		if err != nil {
			return nil, p.fail(ctx, err)
		}
		v.Nodes, v.Operations, v.Links = orEmpty(v.Nodes), orEmpty(v.Operations), orEmpty(v.Links)
		return &asked{Status: http.StatusCreated, Location: "/api/v1/clusters/" + v.ID, Body: &v}, nil
	}
	return &asked{Status: http.StatusAccepted, Location: fmt.Sprintf("/api/v1/requests/%d", answer.Request.ID), Body: answer.Request}, nil
}

func (p *Portal) apiDiff(ctx context.Context, in *diffInput) (*body[cluster.ClusterDiff], error) {
	d, err := p.life().DiffClusters(ctx, caller(ctx), in.A, in.B)
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return &body[cluster.ClusterDiff]{d}, nil
}
