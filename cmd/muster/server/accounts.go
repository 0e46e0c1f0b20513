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

// AccountDesk asks the accounts that this process has opened.
type AccountDesk struct {
	Providers jobs.Providers
	elsewhere func(template.ProviderSpec) bool
}

var _ cluster.Accounts = AccountDesk{}

// madeElsewhere tells of accounts whose machines are on the hosts of provisioners, and not on this one.
func (s *Server) madeElsewhere(p template.ProviderSpec) bool {
	return s.Workers == 0 && p.Type == "sandbox"
}

func (a AccountDesk) here(p template.ProviderSpec) error {
	if !a.elsewhere(p) {
		return nil
	}
	return &app.Error{Code: app.EInvalid, Reason: "elsewhere", Message: "The machines of provider " + p.Name + " are made on the hosts of provisioners, and this server carries out nothing itself, so it cannot look.",
		Hint: "Start a small cluster there, or run the server with --workers."}
}

func (a AccountDesk) CheckAccount(ctx context.Context, spec template.ProviderSpec, needs family.AccountNeeds) ([]family.Finding, error) {
	if err := a.here(spec); err != nil {
		return nil, err
	}
	p, err := a.Providers.Provider(ctx, spec)
	if err != nil {
		return []family.Finding{providers.Finding(err)}, nil
	}
	checker, ok := p.(family.AccountChecker) // what the family opens can always look
	if !ok {
		return nil, app.Errorf(app.EInternal, "provider %s cannot be looked at", spec.Name)
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
	o, ok := p.(family.Offerer) // what the family opens always is one
	if !ok {
		return family.Offers{}, app.Errorf(app.EInternal, "provider %s cannot be asked", spec.Name)
	}
	offers, err := o.Offers(ctx)
	if err == nil && len(offers.Flavors)+len(offers.Images)+len(offers.Zones) == 0 {
		err = &app.Error{Code: app.EInvalid, Reason: "no_offers", Message: "Providers of type " + spec.Type + " do not tell what they can make.",
			Hint: "Flavors and images are typed by hand there."}
	}
	return offers, err
}
