package cluster

import (
	"muster/portal/policy"
	"muster/portal/quota"
	"muster/portal/site"
)

// Service serves the pages, live updates and REST operations of clusters, noun by noun.
type Service struct {
	List        *lists
	Page        *clusterPage
	ManualSteps *questions

	creates *creates
	clones  *clones
	events  *events
	logs    *logs
	access  *accessPages
	manage  *managePages
	sharing *sharing
	power   *powerPages
	leases  *leasePages
}

// New returns the service on top of what all nouns share.
func New(s *site.Site, quota *quota.Service, policy *policy.Service) *Service {
	p := &clusterPage{Site: s}
	return &Service{
		List: &lists{Site: s, quota: quota}, Page: p, ManualSteps: &questions{Site: s, page: p},
		creates: &creates{Site: s, quota: quota, policy: policy},
		clones:  &clones{Site: s},
		events:  &events{Site: s},
		logs:    &logs{Site: s},
		access:  &accessPages{Site: s},
		manage:  &managePages{Site: s},
		sharing: &sharing{Site: s},
		power:   &powerPages{Site: s},
		leases:  &leasePages{Site: s},
	}
}
