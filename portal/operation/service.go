package operation

import (
	"muster/portal/cluster"
	"muster/portal/health"
	"muster/portal/site"
)

// Service serves the pages and REST operations that change clusters and control their operations.
type Service struct {
	*site.Site

	health  *health.Service
	cluster *cluster.Service
}

// New returns the service on top of what all nouns share.
func New(s *site.Site, health *health.Service, cluster *cluster.Service) *Service {
	return &Service{Site: s, health: health, cluster: cluster}
}
