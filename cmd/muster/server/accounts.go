package server

import (
	"context"

	"muster/app"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/template"
	"muster/jobs"
	"muster/providers"
)

// AccountDesk inspects the accounts opened by this process.
type AccountDesk struct {
	Providers jobs.Providers
	elsewhere func(template.ProviderSpec) bool
}

var _ cluster.Accounts = AccountDesk{}

// madeElsewhere reports accounts whose machines are on the provisioners' hosts, not on this one.
func (s *Server) madeElsewhere(p template.ProviderSpec) bool {
	return s.Workers == 0 && p.Type == "sandbox"
}

func (a AccountDesk) here(p template.ProviderSpec) error {
	if !a.elsewhere(p) {
		return nil
	}
	return &app.Error{Code: app.EInvalid, Reason: "elsewhere", Message: "The machines of provider " + p.Name + " are created on the provisioners' hosts, and this server has no workers, so it can't check the account.",
		Hint: "Create a small cluster to test it, or run the server with --workers."}
}

func (a AccountDesk) CheckAccount(ctx context.Context, spec template.ProviderSpec, needs family.AccountNeeds) ([]family.Finding, error) {
	if err := a.here(spec); err != nil {
		return nil, err
	}
	p, err := a.Providers.Provider(ctx, spec)
	if err != nil {
		return []family.Finding{providers.Finding(err)}, nil
	}
	checker, ok := p.(family.AccountChecker) // all providers of the family can check their account
	if !ok {
		return nil, app.Errorf(app.EInternal, "provider %s can't be checked", spec.Name)
	}
	findings, err := checker.CheckAccount(ctx, needs)
	if err != nil && ctx.Err() == nil {
		return []family.Finding{providers.Finding(err)}, nil
	}
	return findings, err
}

func (a AccountDesk) Offers(ctx context.Context, spec template.ProviderSpec) (family.Offers, error) {
	if err := a.here(spec); err != nil {
		return family.Offers{}, err
	}
	p, err := a.Providers.Provider(ctx, spec)
	if err != nil {
		return family.Offers{}, err
	}
	o, ok := p.(family.Offerer) // all providers of the family are
	if !ok {
		return family.Offers{}, app.Errorf(app.EInternal, "provider %s can't list its offers", spec.Name)
	}
	offers, err := o.Offers(ctx)
	if err == nil && len(offers.Flavors)+len(offers.Images)+len(offers.Zones) == 0 {
		err = &app.Error{Code: app.EInvalid, Reason: "no_offers", Message: "Providers of type " + spec.Type + " can't list flavors and images.",
			Hint: "Enter their names yourself."}
	}
	return offers, err
}

// List lists the machines of an account that carry tags.
func (a AccountDesk) List(ctx context.Context, spec template.ProviderSpec, tags map[string]string) ([]family.Machine, error) {
	if err := a.here(spec); err != nil {
		return nil, err
	}
	p, err := a.Providers.Provider(ctx, spec)
	if err != nil {
		return nil, err
	}
	return p.List(ctx, tags)
}
