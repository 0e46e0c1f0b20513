package operation

import (
	"net/http"

	"muster/portal/site"
)

// Routes are its pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/clusters/{id}/plan", p.clusterPlan),
		site.Show("/clusters/{id}/operations/{operation}", p.clusterOperation),
		site.Show("/clusters/{id}/history", p.clusterHistory),
		site.Show("/clusters/{id}/delete", p.clusterDeleteAsk),
		site.Submit("/clusters/{id}/delete", p.clusterDelete),
		site.Submit("/clusters/{id}/pause", p.clusterPause),
		site.Submit("/clusters/{id}/resume", p.clusterResume),
		site.Submit("/clusters/{id}/nodes/{node}/retry", p.nodeRetry),
		site.Show("/clusters/{id}/cancel", p.clusterCancelAsk),
		site.Submit("/clusters/{id}/cancel", p.clusterCancel),
		site.Show("/clusters/{id}/roll-back", p.clusterRollBackAsk),
		site.Submit("/clusters/{id}/roll-back", p.clusterRollBack),
		site.Show("/clusters/{id}/go-on", p.clusterGoOnAsk),
		site.Submit("/clusters/{id}/go-on", p.clusterGoOn),
		site.Submit("/clusters/{id}/top-up", p.clusterTopUp),
		site.Show("/clusters/{id}/change", p.amendShow),
		site.Submit("/clusters/{id}/change/preview", p.amendPreview),
		site.Show("/clusters/{id}/change/preview", p.amendBack),
		site.Submit("/clusters/{id}/change", p.amend),
	}
}

// Operations are its part of the REST API.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Post("/clusters/{id}/operations/{operation}/cancel", p.apiCancel, site.About("Stop an operation"), site.Answers(http.StatusAccepted)),
		site.Post("/clusters/{id}/operations/{operation}/pause", p.apiPause, site.About("Let nothing new of an operation start"), site.Answers(http.StatusAccepted)),
		site.Post("/clusters/{id}/operations/{operation}/resume", p.apiResume,
			site.About("Go on with an operation that is paused or has failed"), site.Answers(http.StatusAccepted)),
		site.Get("/clusters/{id}/operations/{operation}/roll-back", p.apiRollBackShow, site.About("Work out what the roll-back of an operation would do")),
		site.Post("/clusters/{id}/operations/{operation}/roll-back", p.apiRollBack,
			site.About("Undo what an operation has done that failed or was cancelled"), site.Answers(http.StatusAccepted)),
		site.Get("/clusters/{id}/operations/{operation}/go-on", p.apiGoOnShow, site.About("Work out what it would be to go on with the machines that came")),
		site.Post("/clusters/{id}/operations/{operation}/go-on", p.apiGoOn, site.About("Go on with the machines that came"), site.Answers(http.StatusAccepted)),
		site.Put("/clusters/{id}/top-up", p.apiTopUp, site.About("Say whether the nodes that a cluster lacks are asked for again, and when")),
		site.Post("/clusters/{id}/nodes/{node}/retry", p.apiNodeRetry, site.About("Try again what failed on one node"), site.Answers(http.StatusAccepted)),
		site.Post("/clusters/{id}/operations", p.apiAmend, site.About("Amend a cluster that stands, or ask for it where people have to approve"), site.EitherAmend),
		site.Get("/clusters/{id}/config", p.apiClusterConfig, site.About("Show the configuration of a cluster to those who may amend it")),
		site.Post("/clusters/{id}/operations/preview", p.apiAmendPreview,
			site.About("Work out what an amendment of a cluster would do"), site.Answers(http.StatusOK)),
		site.Get("/clusters/{id}/waiting", p.apiWaiting, site.About("Say why steps of a cluster wait")),
		site.Get("/queue", p.apiQueue, site.About("Tell admins what waits in their tenant")),
		site.Get("/queues", p.apiQueues, site.About("Tell superadmins what waits in which tenant, and why")),
	}
}
