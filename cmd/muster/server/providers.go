package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/netguard"
	"muster/app/observe"
	"muster/app/providervalue"
	"muster/app/template"
	"muster/cmd/muster/cli"
	"muster/jobs"
	"muster/providers"
)

// ProviderSet opens each account once, on first use.
type ProviderSet struct {
	Dir          string
	Installation string
	Log          *slog.Logger
	budget       providers.Budget // nil: no limit
	meter        observe.Meter    // nil: no metrics
	tracer       observe.Tracer   // nil: no tracing
	guard        *netguard.Guard  // of tenants' own accounts; nil: public addresses only

	mu     sync.Mutex
	opened map[string]family.Provider // by accountKey
	used   map[string]time.Time       // by accountKey: when an account of a single cluster was last asked for
}

// Bounds of the accounts of single clusters that are open: anyone who creates clusters can bring any number of credentials.
const (
	clusterAccountIdle = 2 * time.Hour // longer than a step or a pass holds one
	triedAccountIdle   = 15 * time.Minute
	mostTriedAccounts  = 20 // of a tenant's requests, which have no cluster yet
)

// forgetIdle closes accounts of single clusters that no one has asked for recently, and reports whether there is room for one more that a tenant tries.
func (p *ProviderSet) forgetIdle(tenant string, now time.Time) bool {
	tried := 0
	for key, at := range p.used {
		is, limit := strings.Contains(key, "@"+providervalue.NewCluster+" "), clusterAccountIdle
		if is {
			limit = triedAccountIdle
		}
		if now.Sub(at) < limit {
			if is && strings.HasPrefix(key, tenant+"/") {
				tried++
			}
			continue
		}
		if c, ok := p.opened[key].(family.ProviderCloser); ok {
			_ = c.Close()
		}
		delete(p.opened, key)
		delete(p.used, key)
	}
	return tried < mostTriedAccounts
}

// touch notes when an account of a single cluster was asked for, if it could be opened.
func (p *ProviderSet) touch(key string, now time.Time) {
	if p.opened[key] == nil {
		return
	}
	if p.used == nil {
		p.used = map[string]time.Time{}
	}
	p.used[key] = now
}

var _ jobs.Providers = (*ProviderSet)(nil)

func (p *ProviderSet) Provider(ctx context.Context, spec template.ProviderSpec) (family.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := accountKey(spec)
	if own := spec.Own; own != nil {
		now := time.Now()
		room := p.forgetIdle(spec.Tenant, now)
		if p.opened[key] == nil && !room && own.Cluster == providervalue.NewCluster {
			return nil, &app.Error{Code: app.ERateLimit, Message: "Too many accounts are being tried at the moment.",
				Hint: "Try again in a few minutes.", RetryAfter: time.Minute}
		}
		defer p.touch(key, now)
	}
	if open := p.opened[key]; open != nil {
		return open, nil
	}
	// The account outlives the step that first used it.
	open, err := providers.Open(context.WithoutCancel(ctx), spec, providers.Env{
		Installation: p.Installation, DataDir: p.dataDir(spec), Logger: p.Log, Budget: p.budget, Meter: p.meter, Tracer: p.tracer, Guard: p.guard})
	if err != nil {
		return nil, err
	}
	if p.opened == nil {
		p.opened = map[string]family.Provider{}
	}
	p.opened[key] = open
	return open, nil
}

// accountKey distinguishes accounts: of tenants with their own secrets, and after a changed secret.
func accountKey(spec template.ProviderSpec) string {
	settings, err := json.Marshal(spec.Settings)
	if err != nil {
		return spec.Account()
	}
	sum := sha256.Sum256(settings)
	key := spec.Account() + " " + hex.EncodeToString(sum[:])
	if spec.Untrusted {
		key += " untrusted"
	}
	if spec.Own != nil { // never the one that others use as well, which isn't closed while it is idle for this cluster
		key += " own"
	}
	return key
}

// dataDir is an account's own directory. Names of providers don't contain an @.
func (p *ProviderSet) dataDir(spec template.ProviderSpec) string {
	if spec.Own != nil && spec.Own.Cluster != "" {
		return filepath.Join(p.Dir, "@clusters", spec.Own.Cluster, spec.Name)
	}
	if spec.Tenant != "" {
		return filepath.Join(p.Dir, "@tenants", spec.Tenant, spec.Name)
	}
	return filepath.Join(p.Dir, spec.Name)
}

// Close closes all accounts. Machines keep running.
func (p *ProviderSet) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, open := range p.opened {
		if c, ok := open.(family.ProviderCloser); ok {
			errs = append(errs, c.Close())
		}
	}
	p.opened = nil
	return errors.Join(errs...)
}

// moded is a provider with more than one way of creating machines.
type moded interface {
	// Mode names the way, and why it isn't the better one; "" if it is.
	Mode() (mode, why string)
}

// Notes describes how the catalog's accounts create machines if that depends on this host. An account that can't be opened is a note
// too; its clusters' errors have details.
func (s *Server) Notes(ctx context.Context) (notes []string) {
	specs := s.catalog.Load().Providers
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		if specs[name].Type != "sandbox" {
			continue // other accounts are opened on first use
		}
		if specs[name].HasSecrets() {
			continue // each tenant has its own
		}
		p, err := s.Providers.Provider(ctx, *specs[name])
		if err != nil {
			notes = append(notes, fmt.Sprintf("can't open provider %s: %s", name, cli.MessageOf(err)))
			continue
		}
		if m, ok := providers.As[moded](p); ok {
			note := modeNote(m.Mode())
			if mode, _ := m.Mode(); mode == sandboxProcess && s.crowded(ctx) {
				note += " New ones are refused, since several tenants share this installation: their owners could read other tenants' data. Delete existing ones."
			}
			notes = append(notes, note)
		}
	}
	return notes
}

// sharesHost says why a provider's machines would be processes of this host; "" if they wouldn't, or if another host creates them and their
// mode isn't set: that host refuses them.
func (s *Server) sharesHost(ctx context.Context, spec template.ProviderSpec) string {
	if spec.Type != "sandbox" {
		return ""
	}
	if spec.Settings["mode"] == sandboxProcess {
		return "its setting mode is " + sandboxProcess
	}
	if s.madeElsewhere(spec) || s.Providers == nil || spec.HasSecrets() {
		return ""
	}
	p, err := s.Providers.Provider(ctx, spec)
	if err != nil {
		return "" // it can't create any
	}
	if m, ok := providers.As[moded](p); ok {
		if mode, why := m.Mode(); mode == sandboxProcess {
			return why
		}
	}
	return ""
}

const sandboxProcess = "process"

// crowded reports whether several tenants share the installation without --tenant-host-access.
func (s *Server) crowded(ctx context.Context) bool {
	names, err := s.Store.TenantNames(ctx)
	return err == nil && len(names) > 1 && !s.HostAccess
}

func modeNote(mode, why string) string {
	if mode == "namespaces" {
		return "Sandbox machines are namespaces on this host, each with its own file system, address and OpenSSH."
	}
	return "Sandbox machines are directories on this host behind an SSH server in Muster, because " + why + "."
}
