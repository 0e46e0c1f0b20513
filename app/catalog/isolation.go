package catalog

import (
	"context"
	"fmt"
	"slices"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/template"
)

// Some providers can make machines that are processes of Muster's own host: a shell on one is a shell as the server's user, who can read
// the data of every tenant. That is acceptable only in an installation with one tenant.

// TenantsSharingHost tells how many tenants share the installation, where that matters: 0 where there is one, or the operator allows it.
func (a *Service) TenantsSharingHost(ctx context.Context) (int, error) {
	if a.TenantHostAccess {
		return 0, nil
	}
	names, err := a.Uses.TenantNames(ctx)
	if err != nil || len(names) < 2 {
		return 0, err
	}
	return len(names), nil
}

// sharesHost says why machines of a provider would be processes of this host; "" where they are not, or only the host that makes them can tell.
func (a *Service) sharesHost(ctx context.Context, spec *template.ProviderSpec) string {
	if spec == nil || a.SharesHost == nil || !a.OnHost(spec.Type) {
		return ""
	}
	return a.SharesHost(ctx, *spec)
}

// CheckIsolation refuses new machines of a provider whose plugin was removed, and those that are processes of this host where several tenants share it.
func (a *Service) CheckIsolation(ctx context.Context, spec *template.ProviderSpec) error {
	if err := checkRemoved(a.RemovedType, spec); err != nil {
		return err
	}
	if spec == nil || !a.OnHost(spec.Type) {
		return nil
	}
	tenants, err := a.TenantsSharingHost(ctx)
	if err != nil || tenants == 0 {
		return err
	}
	if why := a.sharesHost(ctx, spec); why != "" {
		return &app.Error{Code: app.EForbidden, Reason: "process_mode", Field: "provider",
			Message: fmt.Sprintf("Machines of provider %s would run as processes on the server's host, since %s. This installation has %d tenants, and the owner of such a machine could read the data of all of them.", spec.Name, why, tenants),
			Hint:    family.IsolationHint}
	}
	return nil
}

func checkRemoved(check func(string) error, spec *template.ProviderSpec) error {
	if spec == nil || check == nil {
		return nil
	}
	err := check(spec.Type)
	if err == nil {
		return nil
	}
	e := *app.AsError(err)
	e.Field, e.Message = "provider", fmt.Sprintf("Provider %s can't be used: %s.", spec.Name, e.Message)
	return &e
}

// CheckFirstTenant refuses a second tenant while the first has machines that are processes of this host.
func (a *Service) CheckFirstTenant(ctx context.Context) error {
	if a.TenantHostAccess || a.SharesHost == nil || a.Config.Catalog == nil {
		return nil
	}
	names, err := a.Uses.TenantNames(ctx)
	if err != nil || len(names) != 1 {
		return err // what there is beyond the first was allowed, or is refused where it is used
	}
	specs, err := a.TenantProviders(ctx)
	if err != nil {
		return err
	}
	specs = slices.Clone(specs)
	for _, spec := range a.Config.Catalog().Providers {
		specs = append(specs, spec)
	}
	for _, spec := range specs {
		why := a.sharesHost(ctx, spec)
		if why == "" {
			continue
		}
		live, err := a.Uses.IntentsOf(ctx, spec.Account())
		if err != nil {
			return err
		}
		if len(live) > 0 {
			return &app.Error{Code: app.EConflict, Reason: "process_mode", Field: "name",
				Message: fmt.Sprintf("Can't add a second tenant while provider %s has %s: they run as processes on the server's host, since %s, and the owner of one could read the new tenant's data.", spec.Name, humanize.Count(len(live), "machine"), why),
				Hint:    "Delete the clusters and pools on that provider first. To allow it because you trust all tenants, start the server with --tenant-host-access."}
		}
	}
	return nil
}

// checkTenantIsolation refuses to save a provider whose machines would be processes of this host where several tenants share it.
func (a *Service) checkTenantIsolation(ctx context.Context, d *catalogDraft, touched map[template.CatalogKey]Text) error {
	for _, e := range d.Entries {
		spec, is := d.After.Entry(e.CatalogKey).(*template.ProviderSpec)
		if !is || e.Deleted {
			continue
		}
		err := a.CheckIsolation(ctx, spec)
		if err == nil {
			continue
		}
		refusal := app.AsError(err)
		if refusal.Reason != "process_mode" {
			return err
		}
		d.problem(Problem{File: touched[e.CatalogKey].File, Severity: SeverityError, CatalogKey: e.CatalogKey, Field: "settings.mode", Message: refusal.Message, Hint: refusal.Hint})
	}
	return nil
}
