package cluster_test

import (
	"testing"

	"muster/app/apptest/harness"
	"muster/app/identity"
	"muster/app/template"
)

// Tenants without entries of their own share a catalog as long as they pay in the same currency, so that prices are worked out once for all.
func TestTenantsOfOneCurrencyShareACatalog(t *testing.T) {
	o := harness.NewBare(t)
	o.Catalog.Providers["cloud"] = &template.ProviderSpec{}
	o.Catalog.Hardware["small"] = &template.HardwareType{Providers: map[string]template.Flavor{"cloud": {CostPerHour: 1}}}
	for name, e := range map[string]template.Exchange{"one": {}, "two": {}, "three": {Currency: "CHF", Rate: 0.5}, "four": {Currency: "CHF", Rate: 0.5}} {
		in := identity.Tenant{Name: name, Currency: e.Currency, ExchangeRate: e.Rate, CreatedAt: o.Clock.Now()}
		o.Must(o.Store.CreateTenant(t.Context(), harness.Root, in, nil))
	}
	of := func(tenant string) *template.Catalog {
		t.Helper()
		c, err := o.Services.Catalog.CatalogOf(t.Context(), tenant)
		o.Must(err)
		return c
	}
	if of("one") != of("two") || of("three") != of("four") || of("one") == of("three") {
		t.Error("tenants of one currency have catalogs of their own, or those of two share one")
	}
	for tenant, want := range map[string]float64{"one": 1, "three": 0.5} {
		if c := of(tenant); c.Hardware["small"].Providers["cloud"].CostPerHour != want {
			t.Errorf("%s pays %v %s", tenant, c.Hardware["small"].Providers["cloud"].CostPerHour, c.Currency)
		}
	}
}
