package chat

import "muster/portal/site"

// Service serves the pages and REST operations of chats.
type Service struct {
	*site.Site

	Chat Chat
}

// New returns the service.
func New(s *site.Site) *Service { return &Service{Site: s} }
