package webhook

import (
	"time"

	"muster/app/template"
)

// Store is what the service needs of the database.
type Store interface {
	HookStore
}

// Config is what a service is created from. Only what says so may be nil.
type Config struct {
	Store Store
	Now   func() time.Time
	// CheckScript tells what keeps a shell from reading a script, nil for nothing; nil: scripts are not read before they run.
	CheckScript func(script string) *template.ScriptFault

	HookGuard HookGuard // where hooks may lead; nil: anywhere over https
}

// Service keeps the hooks that tell other systems what happens, and their deliveries.
type Service struct {
	Config
}

// New returns the service on top of its needs.
func New(c Config) *Service {
	return &Service{Config: c}
}
