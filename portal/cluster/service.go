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

	parts []part
}

// part serves the pages and REST operations of a noun; either can be nil.
type part interface {
	routes() []site.Route
	operations() []site.Operation
}

// New returns the service on top of what all nouns share.
func New(s *site.Site, quota *quota.Service, policy *policy.Service) *Service {
	p := &Service{List: &lists{Site: s, quota: quota}, Page: &clusterPage{Site: s}}
	p.ManualSteps = &questions{Site: s, page: p.Page}
	p.parts = []part{
		p.List,
		&creates{Site: s, quota: quota, policy: policy},
		&clones{Site: s},
		&places{Site: s},
		p.Page,
		&events{Site: s},
		&logs{Site: s},
		&accessPages{Site: s},
		&managePages{Site: s},
		&labels{Site: s},
		&powerPages{Site: s},
		&leasePages{Site: s},
		p.ManualSteps,
	}
	return p
}
