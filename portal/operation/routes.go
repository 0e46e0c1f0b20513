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
		site.Show("/clusters/{id}/accept-partial", p.clusterAcceptPartialAsk),
		site.Submit("/clusters/{id}/accept-partial", p.clusterAcceptPartial),
		site.Submit("/clusters/{id}/backfill", p.clusterBackfill),
		site.Show("/clusters/{id}/change", p.updateShow),
		site.Submit("/clusters/{id}/change/preview", p.updatePreview),
		site.Show("/clusters/{id}/change/preview", p.updateBack),
		site.Submit("/clusters/{id}/change", p.update),
	}
}

// Operations are its part of the REST API.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Post("/clusters/{id}/operations/{operation}/cancel", p.apiCancel, site.About("Cancel an operation"), site.Answers(http.StatusAccepted)),
		site.Post("/clusters/{id}/operations/{operation}/pause", p.apiPause, site.About("Pause an operation: no new steps start"), site.Answers(http.StatusAccepted)),
		site.Post("/clusters/{id}/operations/{operation}/resume", p.apiResume,
			site.About("Resume a paused or failed operation"), site.Answers(http.StatusAccepted)),
		site.Get("/clusters/{id}/operations/{operation}/roll-back", p.apiRollBackShow, site.About("Preview the rollback of an operation")),
		site.Post("/clusters/{id}/operations/{operation}/roll-back", p.apiRollBack,
			site.About("Roll back a failed or cancelled operation"), site.Answers(http.StatusAccepted)),
		site.Get("/clusters/{id}/operations/{operation}/accept-partial", p.apiAcceptPartialShow, site.About("Preview accepting a partial result")),
		site.Post("/clusters/{id}/operations/{operation}/accept-partial", p.apiAcceptPartial, site.About("Accept a partial result"), site.Answers(http.StatusAccepted)),
		site.Put("/clusters/{id}/backfill", p.apiBackfill, site.About("Start, stop or resume the backfill of missing nodes")),
		site.Post("/clusters/{id}/nodes/{node}/retry", p.apiNodeRetry, site.About("Retry failed steps on a node"), site.Answers(http.StatusAccepted)),
		site.Post("/clusters/{id}/operations", p.apiUpdate, site.About("Update a cluster, or request the update if approval is required"), site.EitherUpdate),
		site.Get("/clusters/{id}/config", configs{p.Site}.show, site.About("Show a cluster's configuration")),
		site.Put("/clusters/{id}/config", configs{p.Site}.replace, site.About("Replace a cluster's configuration, or request it if approval is required"),
			site.EitherUpdate),
		site.Post("/clusters/{id}/operations/preview", p.apiUpdatePreview,
			site.About("Preview an update of a cluster"), site.Answers(http.StatusOK)),
		site.Get("/clusters/{id}/waiting", p.apiWaiting, site.About("Explain why steps of a cluster are waiting")),
		site.Get("/queue", p.apiQueue, site.About("Show the tenant's queue, for admins")),
		site.Get("/queues", p.apiQueues, site.About("Show the queues of all tenants, for superadmins")),
	}
}
