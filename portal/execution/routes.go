package execution

import (
	"net/http"

	"muster/portal/site"
)

// Routes are its pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/queue", p.queueShow),
		site.Show("/admin/queues", p.queuesShow),
	}
}

// Operations are its part of the REST API.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/manual-steps", p.apiManualStepList, site.About("List open manual steps")),
		site.Post("/clusters/{id}/answers", p.apiManualStepAnswer, site.About("Answer a manual step: continue or refuse"), site.Answers(http.StatusOK)),
	}
}
