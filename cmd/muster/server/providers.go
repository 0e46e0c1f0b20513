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
	"sync"

	"muster/app/family"
	"muster/app/netguard"
	"muster/app/observe"
	"muster/app/template"
	"muster/cmd/muster/cli"
	"muster/jobs"
	"muster/providers"
)

// ProviderSet opens each account once, when it is first asked for.
type ProviderSet struct {
	Dir          string
	Installation string
	Log          *slog.Logger
	budget       providers.Budget // nil: no limit
	meter        observe.Meter    // nil: no one counts
	tracer       observe.Tracer   // nil: no one follows
	guard        *netguard.Guard  // of tenants' own accounts; nil: public addresses alone

	mu     sync.Mutex
	opened map[string]family.Provider // by accountKey
}

var _ jobs.Providers = (*ProviderSet)(nil)

func (p *ProviderSet) Provider(ctx context.Context, spec template.ProviderSpec) (family.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := accountKey(spec)
	if open := p.opened[key]; open != nil {
		return open, nil
	}
	// The account outlives the step that asked for it first.
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

// accountKey tells accounts apart: those of tenants with secrets of their own, and of one whose secret was changed.
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
	return key
}

// dataDir is a directory for an account alone. No name of a provider has an @.
func (p *ProviderSet) dataDir(spec template.ProviderSpec) string {
	if spec.Tenant != "" {
		return filepath.Join(p.Dir, "@tenants", spec.Tenant, spec.Name)
	}
	return filepath.Join(p.Dir, spec.Name)
}

// Close lets go of what the accounts hold. Machines stay.
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

// moded is a provider that can make machines in more than one way.
type moded interface {
	// Mode names the way, and says why it is not the better one; "" where it is.
	Mode() (mode, why string)
}

// Notes says, for people, in which way the accounts of the catalog make machines where that depends on this host. An account
// that does not open is a note too: its clusters will tell more.
func (s *Server) Notes(ctx context.Context) (notes []string) {
	specs := s.catalog.Load().Providers
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		if specs[name].Type != "sandbox" {
			continue // other accounts are opened when they are needed
		}
		if specs[name].HasSecrets() {
			continue // each tenant has its own
		}
		p, err := s.Providers.Provider(ctx, *specs[name])
		if err != nil {
			notes = append(notes, fmt.Sprintf("provider %s does not open: %s", name, cli.MessageOf(err)))
			continue
		}
		if m, ok := providers.As[moded](p); ok {
			note := modeNote(m.Mode())
			if mode, _ := m.Mode(); mode == sandboxProcess && s.crowded(ctx) {
				note += " New ones are refused, since several tenants share this installation: their owners could read what belongs to all of them. Existing ones should be deleted."
			}
			notes = append(notes, note)
		}
	}
	return notes
}

// sharesHost says why machines of a provider would be processes of this host; "" where they would not, or where another host makes them and
// their mode is not written down: that host refuses them.
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
		return "" // it makes none at all
	}
	if m, ok := providers.As[moded](p); ok {
		if mode, why := m.Mode(); mode == sandboxProcess {
			return why
		}
	}
	return ""
}

const sandboxProcess = "process"

// crowded tells whether several tenants share the installation, and the operator has not said that they may be this host's user.
func (s *Server) crowded(ctx context.Context) bool {
	names, err := s.Store.TenantNames(ctx)
	return err == nil && len(names) > 1 && !s.HostAccess
}

func modeNote(mode, why string) string {
	if mode == "namespaces" {
		return "Machines of the sandbox are namespaces of this host, each with its own file system, address and OpenSSH."
	}
	return "Machines of the sandbox are folders of this host behind an SSH server inside Muster, since " + why + "."
}
