package health

import (
	"net/http"

	"muster/portal/site"
)

// Routes are its pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/clusters/{id}/health", p.clusterHealth),
		site.Submit("/clusters/{id}/health/check", p.clusterHealthCheck),
		site.Show("/clusters/{id}/health/check", p.clusterHealth),
		site.Show("/clusters/{id}/checks", p.clusterChecks),
	}
}

// Operations are its part of the REST API.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/clusters/{id}/health", p.apiClusterHealth, site.About("Show the health of a cluster and its nodes")),
		site.Post("/clusters/{id}/health/check", p.apiCheck,
			site.About("Start a health check now"), site.Answers(http.StatusAccepted)),
		site.Get("/clusters/{id}/facts", p.apiClusterFacts,
			site.About("List the facts that services reported about nodes, such as ports and versions, without secret values")),
		site.Get("/clusters/{id}/drift", p.apiClusterDrift, site.About("Show a cluster's drift and how to repair it")),
		site.Get("/clusters/{id}/checks", p.apiChecks, site.About("Show the results of node checks")),
	}
}
