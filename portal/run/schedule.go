package run

import (
	"context"
	"net/http"
	"strings"

	"muster/app"
	"muster/app/run"
	"muster/app/template"
	"muster/portal/page"
	"muster/portal/site"
	templatepage "muster/portal/template"

	"github.com/go-chi/chi/v5"
)

// ScheduleInput names a schedule.
type ScheduleInput struct {
	site.IDInput
	Name string `path:"name" maxLength:"63" doc:"Name of the schedule"`
}

type scheduleList struct {
	Schedules []run.ActionSchedule `json:"schedules"`
}

func (p *Service) apiSchedules(ctx context.Context, in *site.IDInput) (*site.Body[scheduleList], error) {
	all, err := p.Runs.ActionSchedules(ctx, site.Caller(ctx), in.ID)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[scheduleList]{Body: scheduleList{all}}, nil
}

type scheduleCreateInput struct {
	site.IDInput
	Body struct {
		Name       string         `json:"name,omitempty" maxLength:"63" doc:"Name of the schedule; default: that of the action"`
		Action     string         `json:"action" maxLength:"64" doc:"Action of the cluster's template"`
		Parameters map[string]any `json:"parameters,omitempty" doc:"Values of the action's parameters"`
		On         []string       `json:"on,omitempty" maxItems:"1000" doc:"Nodes, as for a command; default: as the action says"`
		Every      string         `json:"every" maxLength:"100" doc:"Time between two runs, such as 6h, or the five fields of a crontab, such as 0 3 * * *"`
		Zone       string         `json:"zone,omitempty" maxLength:"64" doc:"Time zone of the crontab, such as Europe/Berlin; default: UTC"`
	}
}

func (p *Service) apiScheduleCreate(ctx context.Context, in *scheduleCreateInput) (*site.Body[run.ActionSchedule], error) {
	s, err := p.Runs.CreateActionSchedule(ctx, site.Caller(ctx), in.ID, run.NewSchedule(in.Body))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[run.ActionSchedule]{Body: s}, nil
}

type schedulePauseInput struct {
	ScheduleInput
	Body struct {
		Paused bool `json:"paused" doc:"No runs until it's resumed"`
	}
}

func (p *Service) apiSchedulePause(ctx context.Context, in *schedulePauseInput) (*site.Body[run.ActionSchedule], error) {
	s, err := p.Runs.PauseActionSchedule(ctx, site.Caller(ctx), in.ID, in.Name, in.Body.Paused)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[run.ActionSchedule]{Body: s}, nil
}

func (p *Service) apiScheduleDelete(ctx context.Context, in *ScheduleInput) (*struct{}, error) {
	if err := p.Runs.DeleteActionSchedule(ctx, site.Caller(ctx), in.ID, in.Name); err != nil {
		return nil, p.Fail(ctx, err)
	}
	return nil, nil //nolint:nilnil // no content
}

// scheduleCreate creates a schedule from the form; what can't be is said above the form, with what was typed.
func (p *Service) scheduleCreate(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	n := run.NewSchedule{Name: strings.TrimSpace(r.PostForm.Get("name")), Action: r.PostForm.Get("action"),
		Every: r.PostForm.Get("every"), Zone: r.PostForm.Get("zone")}
	all, err := p.Runs.Actions(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	for _, one := range all {
		for _, q := range one.Parameters {
			if v := r.PostForm.Get(fieldOf(q)); one.Name == n.Action && v != "" {
				if n.Parameters == nil {
					n.Parameters = map[string]any{}
				}
				n.Parameters[q.Name] = v
			}
		}
	}
	_, err = p.Runs.CreateActionSchedule(r.Context(), a, chi.URLParam(r, "id"), n)
	e := app.AsError(err)
	switch {
	case err == nil:
		return p.toSchedules(w, r)
	case e.Code == app.EInvalid, e.Code == app.EConflict, e.Code == app.EForbidden, e.Code == app.EQuota, e.Code == app.ETooLarge:
		return p.showActions(w, r, a, site.StatusOf(err), n, page.Complaint{Message: e.Message, Hint: e.Hint})
	}
	return err
}

func (p *Service) schedulePause(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	_, err := p.Runs.PauseActionSchedule(r.Context(), a, chi.URLParam(r, "id"), chi.URLParam(r, "name"), true)
	if err != nil {
		return err
	}
	return p.toSchedules(w, r)
}

func (p *Service) scheduleResume(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	_, err := p.Runs.PauseActionSchedule(r.Context(), a, chi.URLParam(r, "id"), chi.URLParam(r, "name"), false)
	if err != nil {
		return err
	}
	return p.toSchedules(w, r)
}

func (p *Service) scheduleDelete(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := p.Runs.DeleteActionSchedule(r.Context(), a, chi.URLParam(r, "id"), chi.URLParam(r, "name")); err != nil {
		return err
	}
	return p.toSchedules(w, r)
}

func (p *Service) toSchedules(w http.ResponseWriter, r *http.Request) error {
	http.Redirect(w, r, "/clusters/"+chi.URLParam(r, "id")+"/actions#schedules", http.StatusSeeOther)
	return nil
}

// fieldOf is the name of a parameter's field.
func fieldOf(q template.Parameter) string { return templatepage.ParameterField{Parameter: q}.Field() }

// typed is what the form of an action has in a parameter's field: what was typed, or the default.
func (a Actions) typed(action string, q template.Parameter) string {
	if v, ok := a.New.Parameters[q.Name]; ok && a.New.Action == action {
		return template.ParameterValueText(v)
	}
	return template.ParameterValueText(q.Default)
}

// newOf is what was typed into the form of an action.
func (a Actions) newOf(action string) run.NewSchedule {
	if a.New.Action == action {
		return a.New
	}
	return run.NewSchedule{Name: action}
}

// mayEdit reports whether the reader may change a schedule.
func (a Actions) mayEdit(s run.ActionSchedule) bool {
	return a.May && (a.Owns || s.CreatedBy == a.User)
}
