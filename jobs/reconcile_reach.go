package jobs

import (
	"context"
	"errors"
	"fmt"

	"muster/app"
)

// open opens an account of the catalog, from this server.
func (r *Reconciler) open(ctx context.Context, name string) (app.Provider, *app.ProviderSpec, error) {
	spec := r.Catalog().Providers[name]
	if spec == nil {
		return nil, nil, app.Errorf(app.EInvalid, "provider %s is not in the catalog any more", name)
	}
	if r.Elsewhere != nil && r.Elsewhere(*spec) {
		return nil, spec, r.fromHere(spec, &app.Error{Code: app.ETransient, Reason: "elsewhere",
			Message: "its machines are on the hosts of provisioners, and this server carries out nothing itself"})
	}
	cloud, err := r.Providers.Provider(ctx, *spec)
	return cloud, spec, r.fromHere(spec, err)
}

// fromHere says of an error of listing an account that it is this server that cannot list it. Others may: steps of an account whose
// provider asks for tags are carried out by provisioners with these tags only, and their network may be the only one that reaches it.
func (r *Reconciler) fromHere(spec *app.ProviderSpec, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	e := app.AsError(err)
	out := &app.Error{Code: e.Code, Reason: e.Reason, RetryAfter: e.RetryAfter, Hint: e.Hint}
	text := e.ForPeople()
	if e.Code == app.EInternal {
		out.Code, text = app.ETransient, err.Error()
	}
	out.Message = "cannot be listed from here: " + text
	if !app.HasTags(r.Tags, spec.Provisioner) {
		out.Message += fmt.Sprintf(" (its provider is for provisioners with %s, and this server has %s: accounts are listed by the server itself, so it needs a way to this one, too)",
			app.TagText(spec.Provisioner), app.TagText(r.Tags))
	}
	return out
}
