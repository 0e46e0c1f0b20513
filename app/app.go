package app

import (
	"context"
	"io"
	"time"
)

// Keys makes SSH keys and certificates.
type Keys interface {
	// NewKey gives a fresh ed25519 key: the private part as OpenSSH PEM, the public part in authorized_keys form.
	// It is called by several goroutines at the same time.
	NewKey(comment string) (private []byte, public string, err error)
	// SignCertificate makes an SSH user certificate with a private key (OpenSSH PEM) that machines trust. EInvalid with the
	// field public_key says what is wrong with the key that it is for.
	SignCertificate(private []byte, o CertificateOrder) (SignedCertificate, error)
}

// Deps is what the use cases need from outside. All fields but Explainer and the last ones are required.
type Deps struct {
	Store     Store
	Solver    Solver
	Explainer Explainer // nil: refusals are not explained further
	Changer   Changer   // nil: no cluster can be amended
	Planner   Planner
	Keys      Keys
	// Catalog gives the installation's catalog as it is published now. What a tenant sees is that with its own entries over it; see
	// CatalogOf in app/catalog.
	Catalog func() *Catalog
	// TenantHostAccess lets admins of tenants run what they wrote on machines that are on Muster's own hosts.
	TenantHostAccess bool
	// SharesHost says why machines of a provider would be processes of this host, with the rights of the server's user; "" where they are
	// not, or where only the host that makes them can tell. Nil: none are.
	SharesHost func(ctx context.Context, spec ProviderSpec) string
	Now        func() time.Time
	Tries      func(Code) int // how often a step is tried whose attempts fail with a code; 0: not known
	// Provisioned says that steps are carried out by provisioners, which register. What none of them can take is refused.
	Provisioned bool
	// Sleeps tells whether machines of a type of provider can be stopped and kept; nil: not known, the steps will tell.
	Sleeps func(kind string) bool
	// DryRuns tells whether an automator can say what it would change; nil: none can.
	DryRuns func(automator string) bool
	// Firewalls tells whether a type of provider makes firewalls for clusters; nil: not known, and nobody is warned.
	Firewalls func(kind string) bool
	// CheckScript tells what keeps a shell from reading a script, nil for nothing; nil: scripts are not read before they run.
	CheckScript func(script string) *ScriptFault
	// Accounts asks accounts what they would do; nil: they cannot be asked.
	Accounts Accounts
	// Meter counts what happens, Expose writes what was counted, and Tracer follows requests; nil: nobody does.
	Meter  Meter
	Expose func(ctx context.Context, to io.Writer) error
	Tracer Tracer
	// Faults is for tests: it may fail between two steps that are not one transaction. Nil: never.
	Faults func(where string) error
}

// App is the use cases. Every face and every worker calls the same ones, so rules, limits and audit are the same
// everywhere. Its methods may be called from many goroutines.
type App struct {
	Deps
}

// New gives the use cases on top of their needs.
func New(d Deps) *App {
	return &App{Deps: d}
}
