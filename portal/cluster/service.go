package cluster

import (
	"muster/app"
	"muster/portal/policy"
	"muster/portal/quota"
	"muster/portal/site"
)

// Service serves the pages, live updates and REST operations of clusters.
type Service struct {
	*site.Site

	quota  *quota.Service
	policy *policy.Service
	looks  site.Joint[*sharedLook]       // at clusters, by person
	facts  site.Joint[site.ClusterFacts] // of clusters, by role
	logs   site.Joint[[]app.LogLine]     // that pages follow, by role
}

// New returns the service on top of what all nouns share.
func New(s *site.Site, quota *quota.Service, policy *policy.Service) *Service {
	return &Service{Site: s, quota: quota, policy: policy}
}
