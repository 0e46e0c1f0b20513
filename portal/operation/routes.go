package operation

import (
	"net/http"

	"muster/portal/site"
)

// Routes are its pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/clusters/{id}/plan", p.ClusterPlan),
		site.Show("/clusters/{id}/operations/{operation}", p.ClusterOperation),
		site.Show("/clusters/{id}/history", p.ClusterHistory),
		site.Show("/clusters/{id}/delete", p.ClusterDeleteAsk),
		site.Submit("/clusters/{id}/delete", p.ClusterDelete),
		site.Submit("/clusters/{id}/pause", p.ClusterPause),
		site.Submit("/clusters/{id}/resume", p.ClusterResume),
		site.Submit("/clusters/{id}/nodes/{node}/retry", p.NodeRetry),
		site.Show("/clusters/{id}/cancel", p.ClusterCancelAsk),
		site.Submit("/clusters/{id}/cancel", p.ClusterCancel),
		site.Show("/clusters/{id}/roll-back", p.ClusterRollBackAsk),
		site.Submit("/clusters/{id}/roll-back", p.ClusterRollBack),
		site.Show("/clusters/{id}/go-on", p.ClusterGoOnAsk),
		site.Submit("/clusters/{id}/go-on", p.ClusterGoOn),
		site.Submit("/clusters/{id}/top-up", p.ClusterTopUp),
		site.Show("/clusters/{id}/change", p.AmendShow),
		site.Submit("/clusters/{id}/change/preview", p.AmendPreview),
		site.Show("/clusters/{id}/change/preview", p.AmendBack),
		site.Submit("/clusters/{id}/change", p.Amend),
	}
}

// Operations are its part of the REST API.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Post("/clusters/{id}/operations/{operation}/cancel", p.APICancel, site.About("Stop an operation"), site.Answers(http.StatusAccepted)),
		site.Post("/clusters/{id}/operations/{operation}/pause", p.APIPause, site.About("Let nothing new of an operation start"), site.Answers(http.StatusAccepted)),
		site.Post("/clusters/{id}/operations/{operation}/resume", p.APIResume,
			site.About("Go on with an operation that is paused or has failed"), site.Answers(http.StatusAccepted)),
		site.Get("/clusters/{id}/operations/{operation}/roll-back", p.APIRollBackShow, site.About("Work out what the roll-back of an operation would do")),
		site.Post("/clusters/{id}/operations/{operation}/roll-back", p.APIRollBack,
			site.About("Undo what an operation has done that failed or was cancelled"), site.Answers(http.StatusAccepted)),
		site.Get("/clusters/{id}/operations/{operation}/go-on", p.APIGoOnShow, site.About("Work out what it would be to go on with the machines that came")),
		site.Post("/clusters/{id}/operations/{operation}/go-on", p.APIGoOn, site.About("Go on with the machines that came"), site.Answers(http.StatusAccepted)),
		site.Put("/clusters/{id}/top-up", p.APITopUp, site.About("Say whether the nodes that a cluster lacks are asked for again, and when")),
		site.Post("/clusters/{id}/nodes/{node}/retry", p.APINodeRetry, site.About("Try again what failed on one node"), site.Answers(http.StatusAccepted)),
		site.Post("/clusters/{id}/operations", p.APIAmend, site.About("Amend a cluster that stands, or ask for it where people have to approve"), site.EitherAmend),
		site.Get("/clusters/{id}/config", p.APIClusterConfig, site.About("Show the configuration of a cluster to those who may amend it")),
		site.Post("/clusters/{id}/operations/preview", p.APIAmendPreview,
			site.About("Work out what an amendment of a cluster would do"), site.Answers(http.StatusOK)),
		site.Get("/clusters/{id}/waiting", p.APIWaiting, site.About("Say why steps of a cluster wait")),
		site.Get("/queue", p.APIQueue, site.About("Tell admins what waits in their tenant")),
		site.Get("/queues", p.APIQueues, site.About("Tell superadmins what waits in which tenant, and why")),
	}
}
