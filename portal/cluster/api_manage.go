package cluster

import (
	"context"

	"muster/app/cluster"
	"muster/app/schedule"
	"muster/portal/site"
)

type renameInput struct {
	site.IDInput
	Body struct {
		Name string `json:"name" maxLength:"128" doc:"New name. The ID and the host names don't change"`
	}
}

type transferInput struct {
	site.IDInput
	Body struct {
		To string `json:"to" maxLength:"210" doc:"New owner: a user of the same tenant, or group:NAME for the members of a group"`
	}
}

func (p *managePages) APIRename(ctx context.Context, in *renameInput) (*site.Body[cluster.View], error) {
	return p.AnswerCluster(ctx)(p.Ownership.RenameCluster(ctx, site.Caller(ctx), in.ID, in.Body.Name))
}

func (p *managePages) APITransfer(ctx context.Context, in *transferInput) (*site.Body[cluster.View], error) {
	return p.AnswerCluster(ctx)(p.Ownership.TransferCluster(ctx, site.Caller(ctx), in.ID, in.Body.To))
}

type powerInput struct {
	site.IDInput
	Body struct {
		PlanHash string `json:"plan_hash,omitempty" maxLength:"64" doc:"Hash from the preview; without it, any plan is accepted"`
	}
}

type scheduleInput struct {
	site.IDInput
	Body struct {
		Sleep string `json:"sleep,omitempty" maxLength:"100" doc:"Sleep schedule, as five crontab fields; empty for never"`
		Wake  string `json:"wake,omitempty" maxLength:"100" doc:"Wake schedule, as five crontab fields; empty for never"`
		Zone  string `json:"zone,omitempty" maxLength:"64" doc:"Time zone, such as Europe/Berlin; UTC by default"`
	}
}

type cloneQuery struct {
	site.IDInput
	Name string `query:"name" required:"true" maxLength:"128" doc:"Name of the new cluster"`
}

type cloneInput struct {
	site.IDInput
	Body struct {
		Name     string `json:"name" maxLength:"128" doc:"Name of the new cluster"`
		PlanHash string `json:"plan_hash,omitempty" maxLength:"64" doc:"Hash from the preview; without it, any plan is accepted"`
	}
}

type diffInput struct {
	A string `query:"a" required:"true" maxLength:"160" doc:"Cluster by ID or name; append @ and an operation's number for the state after that operation"`
	B string `query:"b" required:"true" maxLength:"160" doc:"Another cluster, or another state of the same cluster"`
}

func (p *powerPages) APISleepPreview(ctx context.Context, in *site.IDInput) (*site.Body[cluster.UpdatePreview], error) {
	return p.preview(ctx)(p.Sleeping.PreviewSleep(ctx, site.Caller(ctx), in.ID))
}

func (p *powerPages) APIWakePreview(ctx context.Context, in *site.IDInput) (*site.Body[cluster.UpdatePreview], error) {
	return p.preview(ctx)(p.Sleeping.PreviewWake(ctx, site.Caller(ctx), in.ID))
}

func (p *powerPages) preview(ctx context.Context) func(cluster.UpdatePreview, error) (*site.Body[cluster.UpdatePreview], error) {
	return func(v cluster.UpdatePreview, err error) (*site.Body[cluster.UpdatePreview], error) {
		if err != nil {
			return nil, p.Fail(ctx, err)
		}
		v.Nodes, v.Changes, v.Notes, v.Plan.Steps = site.OrEmpty(v.Nodes), site.OrEmpty(v.Changes), site.OrEmpty(v.Notes), site.OrEmpty(v.Plan.Steps)
		for i := range v.Nodes {
			v.Nodes[i].Services = site.OrEmpty(v.Nodes[i].Services)
		}
		return &site.Body[cluster.UpdatePreview]{Body: v}, nil
	}
}

func (p *powerPages) APISleep(ctx context.Context, in *powerInput) (*site.Updated, error) {
	answer, err := p.Sleeping.SleepCluster(ctx, site.Caller(ctx), in.ID, in.Body.PlanHash)
	return p.AnswerUpdate(ctx, in.ID, answer, err)
}

func (p *powerPages) APIWake(ctx context.Context, in *powerInput) (*site.Updated, error) {
	answer, err := p.Sleeping.WakeCluster(ctx, site.Caller(ctx), in.ID, in.Body.PlanHash)
	return p.AnswerUpdate(ctx, in.ID, answer, err)
}

func (p *powerPages) APIScheduleShow(ctx context.Context, in *site.IDInput) (*site.Body[schedule.ClusterSchedule], error) {
	s, err := p.Schedules.Schedule(ctx, site.Caller(ctx), in.ID)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[schedule.ClusterSchedule]{Body: s}, nil
}

func (p *powerPages) APIScheduleSet(ctx context.Context, in *scheduleInput) (*site.Body[schedule.ClusterSchedule], error) {
	s, err := p.Schedules.SetSchedule(ctx, site.Caller(ctx), in.ID, schedule.Schedule{Sleep: in.Body.Sleep, Wake: in.Body.Wake, Zone: in.Body.Zone})
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[schedule.ClusterSchedule]{Body: s}, nil
}
