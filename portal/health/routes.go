package health

import (
	"net/http"

	"muster/portal/site"
)

// Routes are its pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/clusters/{id}/health", p.ClusterHealth),
		site.Submit("/clusters/{id}/health/check", p.ClusterHealthCheck),
		site.Show("/clusters/{id}/health/check", p.ClusterHealth),
		site.Show("/clusters/{id}/checks", p.ClusterChecks),
	}
}

// Operations are its part of the REST API.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Get("/clusters/{id}/health", p.APIClusterHealth, site.About("Tell how a cluster and its nodes are")),
		site.Post("/clusters/{id}/health/check", p.APICheck,
			site.About("Check a cluster's health now instead of when the next check is due"), site.Answers(http.StatusAccepted)),
		site.Get("/clusters/{id}/facts", p.APIClusterFacts,
			site.About("Tell what the services of a cluster told of its nodes: ports, versions, where they are found; secret values are left out")),
		site.Get("/clusters/{id}/drift", p.APIClusterDrift, site.About("Tell where a cluster is not what it should be, and what would mend it")),
		site.Get("/clusters/{id}/checks", p.APIChecks, site.About("Tell what the nodes of a cluster were found to be when they were bootstrapped")),
	}
}
