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
		site.Get("/clusters/{id}/health", p.apiClusterHealth, site.About("Tell how a cluster and its nodes are")),
		site.Post("/clusters/{id}/health/check", p.apiCheck,
			site.About("Check a cluster's health now instead of when the next check is due"), site.Answers(http.StatusAccepted)),
		site.Get("/clusters/{id}/facts", p.apiClusterFacts,
			site.About("Tell what the services of a cluster told of its nodes: ports, versions, where they are found; secret values are left out")),
		site.Get("/clusters/{id}/drift", p.apiClusterDrift, site.About("Tell where a cluster is not what it should be, and what would mend it")),
		site.Get("/clusters/{id}/checks", p.apiChecks, site.About("Tell what the nodes of a cluster were found to be when they were bootstrapped")),
	}
}
