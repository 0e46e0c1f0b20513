package app

import (
	"context"
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
	// Catalog gives the catalog as it is published now.
	Catalog func() *Catalog
	// Policies understands policies; nil: where a policy stands, all is refused.
	Policies PolicyEngine
	Now      func() time.Time
	// What people are told of why something waits; nil: not known, or for Workers what the provisioners say.
	Workers   Workforce
	Budgets   Budgets
	Tries     func(Code) int // how often a step is tried whose attempts fail with a code; 0: not known
	HookGuard HookGuard      // where hooks may lead; nil: anywhere over https
	// Provisioned says that steps are carried out by provisioners, which register. What none of them can take is refused.
	Provisioned bool
	// Sleeps tells whether machines of a type of provider can be stopped and kept; nil: not known, the steps will tell.
	Sleeps func(kind string) bool
	// LeaseGrace is for how long a deletion may stay paused after the cluster's lease has ended; 0: DefaultLeaseGrace.
	LeaseGrace time.Duration
}

// App is the use cases. Every face and every worker calls the same ones, so rules, limits and audit are the same
// everywhere. Its methods may be called from many goroutines.
type App struct {
	Deps
	money   moneyTimes
	configs configCache
	workers workerKey
	refused refusals
	rounds  roundBell
	pools   poolCatalog
}

// New gives the use cases on top of their needs.
func New(d Deps) *App { return &App{Deps: d} }

// Catalog gives what is published. Every signed-in person may read it; it shows no settings of providers, and drafts to admins only.
func (a *App) Catalog(_ context.Context, actor Actor) (*Catalog, error) {
	if err := actor.may("Catalog"); err != nil {
		return nil, err
	}
	return a.Deps.Catalog().For(actor), nil
}
