package executable

import (
	"context"
	"slices"
	"time"

	"muster/app"
	"muster/app/family"
)

var (
	_ family.Provider       = (*account)(nil)
	_ family.ProviderCloser = (*account)(nil)
	_ family.LateLister     = (*account)(nil)
	_ family.Sleeper        = (*account)(nil)
	_ family.Adopter        = (*account)(nil)
	_ family.AccountChecker = (*account)(nil)
	_ family.Offerer        = (*account)(nil)
	_ family.Sharer         = (*account)(nil)
	_ family.Empowered      = (*account)(nil)
)

// Has reports whether the program has said that it has a power.
func (a *account) Has(power any) bool {
	switch power.(type) {
	case *family.Sleeper:
		return a.has(verbSleep)
	case *family.Adopter:
		return a.has(verbAdopt)
	case *family.AccountChecker:
		return a.has(verbCheck)
	case *family.Offerer:
		return a.has(verbOffers)
	case *family.Sharer:
		return a.has(verbShared)
	}
	return true
}

func (a *account) has(power string) bool { return slices.Contains(a.program.Powers, power) }

// ListsLate is what the program said of itself.
func (a *account) ListsLate() time.Duration { return a.program.ListsLate }

// nothing is the result of verbs that have none.
type nothing struct{}

// invalid is the error of a result that is malformed or wrong.
func invalid(err error) error {
	if err == nil {
		return nil
	}
	return app.Errorf(app.EInternal, "the provider's program returned an invalid result: %w", err)
}

// Create makes a machine.
func (a *account) Create(ctx context.Context, spec family.MachineSpec) (family.Machine, error) {
	return a.askMachine(ctx, verbCreate, specLine(spec))
}

// Describe returns a machine as it is now.
func (a *account) Describe(ctx context.Context, id string) (family.Machine, error) {
	m, err := a.askMachine(ctx, verbMachine, idParams{id})
	if err == nil && m.ID != id {
		return family.Machine{}, app.Errorf(app.EInternal, "asked for machine %q, the provider's program returned %q", id, m.ID)
	}
	return m, err
}

func (a *account) askMachine(ctx context.Context, verb string, params any) (family.Machine, error) {
	var line machineLine
	if err := a.ask(ctx, verb, params, &line); err != nil {
		return family.Machine{}, err
	}
	m, err := line.machine(a.hidden)
	return m, invalid(err)
}

// List returns the machines with all of the tags.
func (a *account) List(ctx context.Context, tags map[string]string) ([]family.Machine, error) {
	if tags == nil {
		tags = map[string]string{}
	}
	var line machinesLine
	if err := a.ask(ctx, verbList, tagParams{tags}, &line); err != nil {
		return nil, err
	}
	ms, err := line.machines(a.hidden)
	return ms, invalid(err)
}

// Delete removes a machine.
func (a *account) Delete(ctx context.Context, id string) error {
	return a.ask(ctx, verbDelete, idParams{id}, &nothing{})
}

// Sleep stops a machine.
func (a *account) Sleep(ctx context.Context, id string) error {
	return a.ask(ctx, verbSleep, idParams{id}, &nothing{})
}

// Wake starts it again.
func (a *account) Wake(ctx context.Context, id string) error {
	return a.ask(ctx, verbWake, idParams{id}, &nothing{})
}

// Adopt returns a machine to another node.
func (a *account) Adopt(ctx context.Context, id string, spec family.MachineSpec) error {
	return a.ask(ctx, verbAdopt, adoptParams{id, specLine(spec)}, &nothing{})
}

// CheckAccount has the program look. That the account cannot be opened is a finding, not an error.
func (a *account) CheckAccount(ctx context.Context, needs family.AccountNeeds) ([]family.Finding, error) {
	if needs.Machines == nil {
		needs.Machines = []family.MachineNeed{}
	}
	var line findingsLine
	if err := a.ask(ctx, verbCheck, checkParams{needs.Machines, needs.Each}, &line); err != nil {
		return nil, err
	}
	found, err := line.findings(a.hidden)
	return found, invalid(err)
}

// Offers returns what can be made.
func (a *account) Offers(ctx context.Context) (family.Offers, error) {
	var o family.Offers
	if err := a.ask(ctx, verbOffers, nothing{}, &o); err != nil {
		return family.Offers{}, err
	}
	return sorted(o), nil
}

// Shared lists what was made for clusters.
func (a *account) Shared(ctx context.Context, tags map[string]string) ([]family.SharedThing, error) {
	if tags == nil {
		tags = map[string]string{}
	}
	var line thingsLine
	if err := a.ask(ctx, verbShared, tagParams{tags}, &line); err != nil {
		return nil, err
	}
	things, err := line.things()
	return things, invalid(err)
}

// DeleteShared removes one of them.
func (a *account) DeleteShared(ctx context.Context, id string) error {
	return a.ask(ctx, verbDeleteShared, idParams{id}, &nothing{})
}
