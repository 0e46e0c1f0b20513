package run

import (
	"muster/portal/site"
)

// Service serves commands.
type Service struct{ *site.Site }

// New returns the service on top of what all nouns share.
func New(s *site.Site) *Service { return &Service{s} }

// Routes are the pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/clusters/{id}/actions", p.actions),
		site.Show("/clusters/{id}/runs/{operation}", p.show),
		site.Submit("/clusters/{id}/action-schedules", p.scheduleCreate),
		site.Submit("/clusters/{id}/action-schedules/{name}/pause", p.schedulePause),
		site.Submit("/clusters/{id}/action-schedules/{name}/resume", p.scheduleResume),
		site.Submit("/clusters/{id}/action-schedules/{name}/delete", p.scheduleDelete),
	}
}

// Operations are its part of the REST API.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/clusters/{id}/actions", p.apiActions, site.About("List the actions of a cluster's template")),
		site.Post("/clusters/{id}/runs", p.apiRun, site.About("Run a command or an action on nodes, or request it if approval is required"), site.EitherUpdate),
		site.Get("/clusters/{id}/action-schedules", p.apiSchedules, site.About("List the schedules of a cluster's actions")),
		site.Post("/clusters/{id}/action-schedules", p.apiScheduleCreate, site.About("Schedule an action of a cluster's template")),
		site.Patch("/clusters/{id}/action-schedules/{name}", p.apiSchedulePause, site.About("Pause or resume the schedule of an action")),
		site.Delete("/clusters/{id}/action-schedules/{name}", p.apiScheduleDelete, site.About("Delete the schedule of an action")),
		site.Get("/clusters/{id}/runs/{operation}", p.apiShow, site.About("Show a command and its exit codes")),
	}
}
