package identity

import (
	"muster/app"
	"muster/app/identity"
	"muster/app/policy"
	"muster/app/store/storetest/kit"
	"muster/app/template"
)

// currency has tenants with and without a currency of their own. It changes until there are budgets or costs, its rate always.
func (t *storeTest) currency() {
	a, root, boss := t.services()
	head := func(tenant string, want template.Exchange) {
		t.Helper()
		if _, got, err := t.Store.CatalogHead(t.Ctx, tenant); err != nil || got != want {
			t.Errorf("%s has %+v (%v), want %+v", tenant, got, err, want)
		}
	}
	create := func(n identity.NewTenant) (identity.Tenant, error) {
		made, _, err := a.Identity.Tenants.CreateTenant(t.Ctx, root, n)
		return made, err
	}
	change := func(tenant, currency string, rate float64) error {
		return kit.Err(a.Identity.Tenants.ChangeTenant(t.Ctx, root, tenant, identity.TenantChange{Currency: &currency, ExchangeRate: &rate}))
	}
	refused := func(err error, code app.Code, field string) {
		t.Helper()
		if e := app.AsError(err); e.Code != code || e.Field != field {
			t.Errorf("%v, want %s about %s", err, code, field)
		}
	}
	head(kit.Tenant, template.Exchange{})
	head("absent", template.Exchange{})
	made, err := create(identity.NewTenant{Name: "alps", Currency: "CHF", ExchangeRate: 0.9})
	t.Must(err)
	if made.Currency != "CHF" || made.ExchangeRate != 0.9 {
		t.Errorf("created %+v", made)
	}
	head("alps", template.Exchange{Currency: "CHF", Rate: 0.9})
	for _, bad := range []identity.NewTenant{{Name: "x", Currency: "CHF"}, {Name: "x", ExchangeRate: 2}, {Name: "x", Currency: "USD", ExchangeRate: 2}} {
		_, err := create(bad)
		refused(err, app.EInvalid, "exchange_rate")
	}
	_, err = create(identity.NewTenant{Name: "x", Currency: "franc", ExchangeRate: 1})
	refused(err, app.EInvalid, "currency")
	_, err = create(identity.NewTenant{Name: "x", From: "alps", Currency: "EUR", ExchangeRate: 1.1})
	refused(err, app.EInvalid, "currency")
	copied, err := create(identity.NewTenant{Name: "valley", From: "alps"})
	if t.Must(err); copied.Currency != "CHF" || copied.ExchangeRate != 0.9 {
		t.Errorf("copied %+v", copied)
	}

	t.Must(change("alps", "EUR", 1.1))
	head("alps", template.Exchange{Currency: "EUR", Rate: 1.1})
	code := "JPY"
	refused(kit.Err(a.Identity.Tenants.ChangeTenant(t.Ctx, root, "alps", identity.TenantChange{Currency: &code})), app.EInvalid, "exchange_rate")
	rate := 1.2
	t.Must(kit.Err(a.Identity.Tenants.ChangeTenant(t.Ctx, root, "alps", identity.TenantChange{ExchangeRate: &rate})))
	head("alps", template.Exchange{Currency: "EUR", Rate: 1.2})

	perHour := 5.0
	t.Must(t.Store.SetQuota(t.Ctx, app.Actor{Tenant: "alps", User: "root"}, policy.Quota{Scope: policy.QuotaTenant, Limits: policy.Limits{PerHour: &perHour}}))
	refused(change("alps", "CHF", 0.9), app.EConflict, "currency")
	t.Must(change("alps", "EUR", 1.3))

	t.Must(change(kit.Tenant, "CHF", 0.9))
	t.Create("shop", 2)
	refused(change(kit.Tenant, "", 0), app.EConflict, "currency")
	t.Must(change(kit.Tenant, "CHF", 0.8))
	head(kit.Tenant, template.Exchange{Currency: "CHF", Rate: 0.8})
	if got, err := a.Identity.Tenants.Tenant(t.Ctx, boss, kit.Tenant); err != nil || got.Currency != "CHF" || got.ExchangeRate != 0.8 {
		t.Errorf("its admin sees %+v (%v)", got, err)
	}
}
