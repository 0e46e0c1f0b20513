package home

import (
	"muster/portal/fleet"
	"muster/portal/quota"
	"muster/portal/site"
	"muster/portal/template"
)

// Service serves the first page, the overview for admins, and search.
type Service struct {
	*site.Site

	quota    *quota.Service
	template *template.Service
	fleet    *fleet.Service
}

// New returns the service on top of what all nouns share.
func New(s *site.Site, quota *quota.Service, template *template.Service, fleet *fleet.Service) *Service {
	return &Service{Site: s, quota: quota, template: template, fleet: fleet}
}
