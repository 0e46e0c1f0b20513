package fleet

import (
	"cmp"
	"context"
	"io"
	"slices"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/secret"
	"muster/app/template"
)

// InstallationStore knows what accounts have said, and what waits for them.
type InstallationStore interface {
	Accounts(ctx context.Context) ([]app.Account, error)
	WaitingByProvider(ctx context.Context) (map[string]int, error)
}

// InstallationConfig is what Installation is created from. Only what says so may be nil.
type InstallationConfig struct {
	Store InstallationStore
	Now   func() time.Time
	// Accounts asks accounts what they would do; nil: they cannot be asked.
	Accounts cluster.Accounts
	Calls    CallBook
	// Catalog returns the installation's catalog as it is published now. What a tenant sees is that with its own entries over it; see
	// CatalogOf in app/catalog.
	Catalog  func() *template.Catalog
	Catalogs *catalog.Service
	// Expose writes what was counted; nil: nothing is.
	Expose func(ctx context.Context, to io.Writer) error
	// What operators look at: how the server is set up, what calls went to accounts, and how many they take; nil: not known.
	Facts   func(context.Context) (ServerInfo, error)
	RateOf  func(template.ProviderSpec) template.Rate
	Secrets *secret.Service
}

// Installation is what operators look at: how the server is set up, and how its providers are.
type Installation struct {
	InstallationConfig
}

// NewInstallation returns one on top of what c holds.
func NewInstallation(c InstallationConfig) *Installation { return &Installation{InstallationConfig: c} }

// Setting is one setting of a server from outside, as the server sees it.
type Setting struct {
	Name    string `json:"name"` // a flag such as --listen, or an environment variable
	Value   string `json:"value"`
	Secret  bool   `json:"secret,omitempty"`
	Set     bool   `json:"set"`
	From    string `json:"from"` // "flag", "environment" or "default"
	Default string `json:"default,omitempty"`
	About   string `json:"about"`
}

// ServerInfo are how a server and what it leans on are.
type ServerInfo struct {
	Server     string        `json:"server"` // its name among those on the same database
	Version    string        `json:"version"`
	Go         string        `json:"go"`
	StartedAt  time.Time     `json:"started_at"`
	Uptime     time.Duration `json:"uptime"`
	Database   string        `json:"database"` // kind and version
	Migration  int64         `json:"migration"`
	Skew       time.Duration `json:"clock_skew"`
	Redis      string        `json:"redis"`
	RedisError string        `json:"redis_error,omitempty"`
	Leader     bool          `json:"leader"`
	Settings   []Setting     `json:"settings"`
}

// Settings tells superadmins how the server that answers is set up, without any secret.
func (a *Installation) Settings(ctx context.Context, actor app.Actor) (ServerInfo, error) {
	if err := actor.Authorize("Settings"); err != nil {
		return ServerInfo{}, err
	}
	if a.Facts == nil {
		return ServerInfo{}, app.Errorf(app.ENotFound, "This server doesn't report its configuration.")
	}
	return a.Facts(ctx)
}

// AccountCalls is what is known of the calls that went to a provider account recently, from all workers and servers.
type AccountCalls struct {
	LastAt    time.Time        `json:"last_at,omitzero"`
	LastError string           `json:"last_error,omitempty"`
	ErrorCode app.Code         `json:"error_code,omitempty"`
	ErrorAt   time.Time        `json:"error_at,omitzero"`
	Hour      map[app.Code]int `json:"hour,omitempty"`
	Day       map[app.Code]int `json:"day,omitempty"`
	// Remaining is how many calls could be made at once now, and Throttled for how long none can; of accounts with a rate.
	Remaining float64       `json:"remaining"`
	Throttled time.Duration `json:"throttled,omitempty"`
}

// CallBook knows what calls went to accounts.
type CallBook interface {
	// AccountCalls returns what is known; the zero value for an account of which nothing is. ETransient where no one can be asked.
	AccountCalls(ctx context.Context, account string, rate template.Rate) (AccountCalls, error)
}

// ProviderHealth is how an account is to work with.
type ProviderHealth struct {
	Name        string        `json:"name"`
	Type        string        `json:"type"`
	Rate        template.Rate `json:"rate"`
	Known       bool          `json:"known"`
	Waiting     int           `json:"waiting"`
	LastListing app.Account   `json:"last_listing"`
	AccountCalls
}

// Calls and Failed are how many calls there were in the last hour, and how many of those did not go well.
func (h ProviderHealth) Calls() (all, failed int) {
	for code, n := range h.Hour {
		if all += n; code != "" {
			failed += n
		}
	}
	return all, failed
}

// ProviderHealth tells superadmins how the accounts of the installation are to work with, by name.
func (a *Installation) ProviderHealth(ctx context.Context, actor app.Actor) ([]ProviderHealth, error) {
	if err := actor.Authorize("ProviderHealth"); err != nil {
		return nil, err
	}
	accounts, err := a.Store.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	waiting, err := a.Store.WaitingByProvider(ctx)
	if err != nil {
		return nil, err
	}
	listed := map[string]app.Account{}
	for _, x := range accounts {
		listed[x.Provider] = x
	}
	all := []ProviderHealth{}
	for name, spec := range a.Catalog().Providers {
		h := ProviderHealth{Name: name, Type: spec.Type, Rate: spec.Rate, Waiting: waiting[name], LastListing: listed[name]}
		if a.RateOf != nil {
			h.Rate = a.RateOf(*spec)
		}
		if a.Calls != nil {
			calls, err := a.Calls.AccountCalls(ctx, name, h.Rate)
			h.AccountCalls, h.Known = calls, err == nil
		}
		all = append(all, h)
	}
	slices.SortFunc(all, func(x, y ProviderHealth) int { return cmp.Compare(x.Name, y.Name) })
	return all, nil
}
