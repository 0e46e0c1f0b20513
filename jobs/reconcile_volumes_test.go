package jobs_test

import (
	"context"
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/jobs/reconcile"
	"muster/providers/fake"
)

// oldAccount is a cloud with volumes whose credentials are of a time before them.
type oldAccount struct {
	*fake.Cloud
	family.Volumes
}

func (oldAccount) ListVolumes(context.Context, map[string]string) ([]family.Volume, error) {
	return nil, &app.Error{Code: app.ECredentials, Message: "You are not authorized to list volumes."}
}

type oldAccounts struct{ cloud *fake.Cloud }

func (o oldAccounts) Provider(context.Context, template.ProviderSpec) (family.Provider, error) {
	return oldAccount{Cloud: o.cloud}, nil
}

// An account that may not list volumes is still searched for orphaned machines.
func TestOrphansOfAnAccountThatMayNotListVolumes(t *testing.T) {
	t.Parallel()
	e := newEngine(t, nil)
	e.leave(2)
	defer e.reconciler(func(r *reconcile.Reconciler) { r.Providers, r.Volumes = oldAccounts{e.cloud}, e.store })()
	e.comesAbout("orphaned machines are deleted", func() bool { return e.machines() == 0 })
}
