package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
)

// learnAccounts finds which accounts there are: those of the installation's catalog, and tenants' own.
func (r *Reconciler) learnAccounts(ctx context.Context) error {
	known := maps.Clone(r.Catalog().Providers)
	if known == nil {
		known = map[string]*template.ProviderSpec{}
	}
	if r.Own != nil {
		own, err := r.Own(ctx)
		if err != nil {
			return err
		}
		for _, spec := range own {
			known[spec.Account()] = spec
		}
	}
	maps.DeleteFunc(known, func(_ string, spec *template.ProviderSpec) bool { return spec.NeedsOwn() }) // there is no account to look at
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known = known
	return nil
}

// accounts are all that are known, by name. The map is not changed.
func (r *Reconciler) accounts() map[string]*template.ProviderSpec {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known
}

// accountOf names the account in which the machines of a cluster are: the cluster's own, the tenant's own provider of the name, or the installation's.
func (r *Reconciler) accountOf(c app.Cluster) string {
	if own := template.ClusterAccountName(c.Tenant, c.Provider, c.ID); r.accounts()[own] != nil {
		return own
	}
	if own := template.AccountName(c.Tenant, c.Provider); r.accounts()[own] != nil {
		return own
	}
	return c.Provider
}

// mine reports whether a cluster's machines are in the account of the pass. Accounts of single clusters are looked at for these alone, whatever other machines
// are there, and no other account is looked at for them.
func (p *pass) mine(i app.LiveIntent) bool {
	own := template.ClusterAccountName(i.Tenant, p.name, i.Cluster)
	return own == p.account.Provider || p.own == "" && p.accounts()[own] == nil
}

// open opens an account, from this server.
func (r *Reconciler) open(ctx context.Context, name string) (family.Provider, *template.ProviderSpec, error) {
	spec := r.accounts()[name]
	if spec == nil {
		return nil, nil, app.Errorf(app.EInvalid, "provider %s is no longer in the catalog", name)
	}
	if spec.Own != nil && spec.Own.Broken != "" {
		return nil, spec, r.fromHere(spec, app.Errorf(app.EInvalid, "%s", spec.Own.Broken))
	}
	if r.Elsewhere != nil && r.Elsewhere(*spec) {
		return nil, spec, r.fromHere(spec, &app.Error{Code: app.ETransient, Reason: "elsewhere",
			Message: "its machines run on provisioners' hosts, which this server can't access"})
	}
	cloud, err := r.Providers.Provider(ctx, *spec)
	return cloud, spec, r.fromHere(spec, err)
}

// cannotList begins what is said of an account that this server can't list.
const cannotList = "can't be listed from here"

// fromHere says of an error of listing an account that it is this server that cannot list it. Others may: steps of an account whose
// provider asks for tags are carried out by provisioners with these tags only, and their network may be the only one that reaches it.
func (r *Reconciler) fromHere(spec *template.ProviderSpec, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	e := app.AsError(err)
	out := &app.Error{Code: e.Code, Reason: e.Reason, RetryAfter: e.RetryAfter, Hint: e.Hint}
	text := e.ForPeople()
	if e.Code == app.EInternal {
		out.Code, text = app.ETransient, err.Error()
	}
	out.Message = cannotList + ": " + text
	if !app.HasTags(r.Tags, spec.Provisioner) {
		out.Message += fmt.Sprintf(" (its provider is reached through provisioners with %s, but this server has %s; the server itself must also be able to reach the account)",
			app.TagText(spec.Provisioner), app.TagText(r.Tags))
	}
	return out
}
