package site

import (
	"log/slog"
	"time"

	"github.com/a-h/templ"
	"github.com/alexedwards/scs/v2"
	"muster/app/catalog"
	"muster/app/identity"
	"muster/app/observe"
)

// Site is what the pages and REST operations of all nouns share.
type Site struct {
	UseCases

	Log         *slog.Logger
	Sessions    *scs.SessionManager
	Streams     *Streams
	Broadcaster Broadcaster // clusters with open pages
	Version     string
	Note        string
	Secure      bool
	URL         string
	AppsDomain  string // below which ports of nodes have names of their own; "" for none
	Elsewhere   []IdentityProvider
	Directories []identity.Directory // that know names and passwords
	Keys        SecurityKeys
	Texts       catalog.Texts
	Rules       RuleTexts
	Now         func() time.Time
	Meter       observe.Meter
	// Notice shows an error instead of the requested part of a page.
	Notice  func(message string) templ.Component
	Closing chan struct{}
}
