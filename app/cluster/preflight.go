package cluster

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/providervalue"
	"muster/app/secret"
	"muster/app/template"
)

// PreflightStore is what Preflight needs of the database.
type PreflightStore interface {
	Provisioners(ctx context.Context) ([]app.Provisioner, error)
}

// PreflightConfig is what Preflight is created from. Only what says so may be nil.
type PreflightConfig struct {
	Store PreflightStore
	Now   func() time.Time
	// Accounts asks accounts what they would do; nil: they cannot be asked.
	Accounts Accounts
	// CheckScript tells what keeps a shell from reading a script, nil for nothing; nil: scripts are not read before they run.
	CheckScript func(script string) *template.ScriptFault
	// Provisioned says that steps are carried out by provisioners, which register. What none of them can take is refused.
	Provisioned bool
	Catalogs    *catalog.Service
	Secrets     *secret.Service
	Values      *providervalue.Service // nil: users set nothing of providers
}

// Preflight finds before anything is accepted what would fail later: for lack of provisioners or secrets, or in the provider's account.
type Preflight struct {
	PreflightConfig

	preflights preflights
	faults     scriptFaults
}

// NewPreflight returns Preflight on top of their needs.
func NewPreflight(c PreflightConfig) *Preflight { return &Preflight{PreflightConfig: c} }

// AccountState says how far the provider's account has been asked about a preview.
type AccountState string

// The states.
const (
	AccountChecked  AccountState = "checked"
	AccountChecking AccountState = "checking" // the account has not answered yet
	AccountUnknown  AccountState = "unknown"  // the account cannot be asked now
)

// AccountAnswer says whether the provider's account was asked about a preview. What it would refuse is among the preview's problems.
type AccountAnswer struct {
	Provider string       `json:"provider"`
	State    AccountState `json:"state"`
	At       time.Time    `json:"at,omitzero"`
}

// ProblemLines say for people what would go wrong, and whether the provider has been asked.
func (p Preview) ProblemLines() []string { return problemLines(p.Problems, p.Account) }

// ProblemLines are those of an update.
func (p UpdatePreview) ProblemLines() []string { return problemLines(p.Problems, p.Account) }

func problemLines(problems []family.Finding, account *AccountAnswer) (lines []string) {
	for _, f := range problems {
		what := "Problem: "
		if f.Warning {
			what = "Warning: "
		}
		lines = append(lines, strings.TrimSpace(what+f.Message+" "+f.Hint))
	}
	if words := account.Text(); words != "" {
		lines = append(lines, words)
	}
	return lines
}

// Text say that the account has not answered; "" where it has.
func (a *AccountAnswer) Text() string {
	switch {
	case a == nil:
	case a.State == AccountChecking:
		return "Still checking what provider " + a.Provider + " would refuse."
	case a.State == AccountUnknown:
		return "Provider " + a.Provider + " couldn't be checked."
	}
	return ""
}

// Bounds of what previews ask of accounts.
const (
	preflightWait  = 500 * time.Millisecond // a preview waits for an answer
	preflightLimit = 30 * time.Second       // one question may take
	preflightGood  = time.Minute            // for how long an answer without problems is kept
	preflightBad   = 10 * time.Second       // and one with problems, which a person may be fixing
	mostPreflights = 1000                   // answers that are kept
	mostAsking     = 64                     // questions at the same time
	mostAskingOf   = 4                      // of them for one tenant
)

// aboutScript is what a finding about a script is about; see Finding.
const aboutScript = "script"

// foresee adds to a preview what would fail once it is asked for: scripts that no shell can read, and what the provider's account would refuse.
func (a *Creates) runPreflight(ctx context.Context, tenant string, d Draft, values providervalue.Values, p *Preview) error {
	p.Problems = a.Preflight.scriptProblems(d.Definition)
	if p.FromPools != nil && p.FromPools.Machines >= p.FromPools.Total {
		return nil
	}
	answer, found, err := a.Preflight.AskAccount(ctx, tenant, p.Layout.Provider, providervalue.Own{Values: values}, d.Needs(p.Layout))
	p.Account, p.Problems = answer, append(p.Problems, found...)
	return err
}

// AskAccount asks what a provider of a tenant's catalog would refuse; nil where it cannot be asked at all.
func (a *Preflight) AskAccount(ctx context.Context, tenant, provider string, own providervalue.Own, needs family.AccountNeeds) (
	*AccountAnswer, []family.Finding, error) {
	if missing := a.Values.Missing(ctx, tenant, provider, own.Values); own.Cluster == "" && len(missing) > 0 {
		return nil, []family.Finding{{About: family.AboutCredentials, Warning: true,
			Message: fmt.Sprintf("Provider %s needs your %s before the cluster can be created.", provider, humanize.And(missing))}}, nil
	}
	if a.Accounts == nil {
		return nil, nil, nil
	}
	c, err := a.Catalogs.CachedCatalogOf(ctx, tenant)
	if err != nil || c.Providers[provider] == nil {
		return nil, nil, err
	}
	spec, _, err := a.Values.With(ctx, tenant, *c.Providers[provider], own)
	if err != nil {
		return nil, nil, err
	}
	open, err := a.Secrets.SecretsOf(ctx, tenant, spec)
	if err != nil {
		return nil, nil, err
	}
	account, question := preflightKeys(tenant, open, needs)
	answer, found := a.preflights.ask(ctx, a.Now, tenant, account, question, func(ctx context.Context) ([]family.Finding, error) {
		return a.Accounts.CheckAccount(ctx, open, needs)
	})
	answer.Provider = provider
	return &answer, found, nil
}

// preflightKeys name an account, as a tenant has it, and a question to it. Values of settings may be secret, so of these there is only a sum.
func preflightKeys(tenant string, spec template.ProviderSpec, needs family.AccountNeeds) (account, question string) {
	sum := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil { // what JSON has no word for is printed
			b = fmt.Appendf(nil, "%#v", v)
		}
		return fmt.Sprintf("%x", sha256.Sum256(b))
	}
	account = tenant + "\x00" + spec.Account() + "\x00" + spec.Type + "\x00" + sum(spec.Settings)
	return account, account + "\x00" + sum(needs)
}

// preflights asks accounts what they would refuse: one question at a time each, and of those that wait the latest.
type preflights struct {
	mu    sync.Mutex
	kept  map[string]preflightAnswer // by question
	turns map[string]*preflightTurn  // by account: questions that are being asked
}

type preflightAnswer struct {
	at, until time.Time
	state     AccountState
	problems  []family.Finding
}

type preflightTurn struct {
	preflightQuestion
	tenant string
	done   chan struct{}
	next   *preflightQuestion // is asked after this one
}

type preflightQuestion struct {
	key string
	ask func(context.Context) ([]family.Finding, error)
}

// ask returns what is known of a question, and asks it where nothing is. It waits for a moment only: the question continues without it, and the next one
// to ask finds
// the answer.
func (f *preflights) ask(ctx context.Context, now func() time.Time, tenant, account, key string, ask func(context.Context) ([]family.Finding, error)) (AccountAnswer, []family.Finding) {
	wait := time.NewTimer(preflightWait)
	defer wait.Stop()
	for {
		answer, done := f.turn(ctx, now, tenant, account, preflightQuestion{key, ask})
		if done == nil {
			return AccountAnswer{State: answer.state, At: answer.at}, slices.Clone(answer.problems)
		}
		select {
		case <-done:
		case <-wait.C:
			return AccountAnswer{State: AccountChecking}, nil
		case <-ctx.Done():
			return AccountAnswer{State: AccountChecking}, nil
		}
	}
}

// turn returns the answer that is kept, or what to wait for.
func (f *preflights) turn(ctx context.Context, now func() time.Time, tenant, account string, q preflightQuestion) (preflightAnswer, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if a, ok := f.kept[q.key]; ok && now().Before(a.until) {
		return a, nil
	}
	if t := f.turns[account]; t != nil {
		if t.key != q.key {
			t.next = &q
		}
		return preflightAnswer{}, t.done
	}
	of := 0
	for _, t := range f.turns {
		if t.tenant == tenant {
			of++
		}
	}
	if len(f.turns) >= mostAsking || of >= mostAskingOf {
		return preflightAnswer{state: AccountUnknown}, nil
	}
	t := &preflightTurn{preflightQuestion: q, tenant: tenant, done: make(chan struct{})}
	if f.turns == nil {
		f.turns = map[string]*preflightTurn{}
	}
	f.turns[account] = t
	go f.run(context.WithoutCancel(ctx), now, account, t) // the answer is kept for the next preview, even if this request has ended
	return preflightAnswer{}, t.done
}

// run asks one question after the other, until none waits.
func (f *preflights) run(ctx context.Context, now func() time.Time, account string, t *preflightTurn) {
	for t != nil {
		limited, cancel := context.WithTimeout(ctx, preflightLimit)
		found, err := t.ask(limited)
		cancel()
		t = f.answered(account, t, judgeAccount(found, err), now())
	}
}

// answered keeps an answer, and returns the turn that follows; nil for none.
func (f *preflights) answered(account string, t *preflightTurn, a preflightAnswer, now time.Time) (next *preflightTurn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer close(t.done)
	a.at, a.until = now, now.Add(preflightGood)
	if len(a.problems) > 0 || a.state != AccountChecked {
		a.until = now.Add(preflightBad)
	}
	if len(f.kept) >= mostPreflights {
		maps.DeleteFunc(f.kept, func(_ string, old preflightAnswer) bool { return !now.Before(old.until) })
	}
	if f.kept == nil || len(f.kept) >= mostPreflights {
		f.kept = map[string]preflightAnswer{}
	}
	f.kept[t.key] = a
	if t.next == nil {
		delete(f.turns, account)
		return nil
	}
	next = &preflightTurn{preflightQuestion: *t.next, tenant: t.tenant, done: make(chan struct{})}
	f.turns[account] = next
	return next
}

// judgeAccount leaves of what was found what is of use to people who want machines now. What passes by itself, such as a cloud that does not answer,
// is no problem of
// theirs.
func judgeAccount(found []family.Finding, err error) preflightAnswer {
	a := preflightAnswer{state: AccountChecked}
	if err != nil {
		a.state = AccountUnknown
		return a
	}
	for _, f := range found {
		switch {
		case f.OK:
		case f.Code == app.ETransient, f.Code == app.ETimeout, f.Code == app.ERateLimit:
			a.state = AccountUnknown
		case f.Warning && !slices.Contains([]string{family.AboutQuota, family.AboutFlavor, family.AboutImage, family.AboutRegion}, f.About): // such as what cannot be looked up
		default:
			f.Warning = f.Warning || f.Code == app.ECapacity // there may be room later, or in another zone
			a.problems = append(a.problems, f)
		}
	}
	slices.SortStableFunc(a.problems, func(x, y family.Finding) int { return cmp.Compare(x.Rank(), y.Rank()) })
	return a
}

// scriptProblems are the scripts of a cluster that shells cannot read. Catalogs refuse them, but for those that were saved before, or written for Coopr.
func (a *Preflight) scriptProblems(d Definition) (problems []family.Finding) {
	if a.CheckScript == nil {
		return nil
	}
	check := func(subject, where, script string) {
		if fault := a.faults.of(script, a.CheckScript); fault != nil && len(problems) < family.MostChanges {
			problems = append(problems, family.Finding{About: aboutScript, Subject: subject, Warning: fault.Warning, Code: app.EScript, Hint: asSentence(fault.Hint),
				Message: asSentence(fmt.Sprintf("%s: line %d, column %d of the script: %s", where, fault.Line, fault.Column, fault.Message))})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Services)) {
		s := d.Services[name]
		if s == nil {
			continue
		}
		for _, act := range template.ServiceActions {
			if c := s.Actions[act]; c != nil && c.Automator == "shell" {
				check(name, fmt.Sprintf("Service %s, action %s", name, act), c.Fields["script"])
			}
		}
		if s.Health != nil {
			check(name, "Service "+name+", health check", template.CoverMacros(s.Health.Command))
		}
	}
	for _, h := range d.Hooks {
		check(h.Name, "Hook "+h.Name, h.Script)
	}
	return problems
}

// asSentence begins with a capital and ends with a full stop.
func asSentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + strings.TrimRight(s[1:], ".") + "."
}

// scriptFaults remembers what was said of scripts, by their sums: a form asks for a preview with every change.
type scriptFaults struct {
	mu   sync.Mutex
	kept map[[sha256.Size]byte]*template.ScriptFault
}

func (f *scriptFaults) of(script string, check func(string) *template.ScriptFault) *template.ScriptFault {
	if script == "" {
		return nil
	}
	key := sha256.Sum256([]byte(script))
	f.mu.Lock()
	fault, ok := f.kept[key]
	f.mu.Unlock()
	if ok {
		return fault
	}
	fault = check(script)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kept == nil || len(f.kept) >= mostPreflights {
		f.kept = map[[sha256.Size]byte]*template.ScriptFault{}
	}
	f.kept[key] = fault
	return fault
}

// Accounts asks provider accounts, from where the server is, what they would do.
type Accounts interface {
	// CheckAccount opens an account and looks at it; see AccountChecker. An account that does not open is a finding, too. An error says
	// that it cannot be asked from here.
	CheckAccount(ctx context.Context, spec template.ProviderSpec, needs family.AccountNeeds) ([]family.Finding, error)
	// Offers tells what an account can make; see Offerer. EInvalid, reason no_offers, where it does not tell.
	Offers(ctx context.Context, spec template.ProviderSpec) (family.Offers, error)
}
