package template_test

import (
	"math"
	"testing"

	"muster/app"
	"muster/app/template"
)

// Prices come out in one currency, whatever the provider's; the catalog that was read stays as it was.
func TestPricesAreInOneCurrency(t *testing.T) {
	asleep := 0.1
	c := template.NewCatalog()
	c.Providers["us"] = &template.ProviderSpec{}
	c.Providers["eu"] = &template.ProviderSpec{Currency: "EUR", ExchangeRate: 1.25}
	c.Hardware["small"] = &template.HardwareType{Providers: map[string]template.Flavor{
		"us": {Flavor: "s", CostPerHour: 1, AsleepCostPerHour: &asleep}, "eu": {Flavor: "s", CostPerHour: 1, AsleepCostPerHour: &asleep}, "gone": {Flavor: "s", CostPerHour: 1}}}
	c.Hardware["free"] = &template.HardwareType{Providers: map[string]template.Flavor{"eu": {Flavor: "f"}}}
	for _, w := range []struct {
		to                        template.Exchange
		us, eu, usAsleep, euSleep float64
	}{
		{template.Exchange{Currency: "USD", Rate: 1}, 1, 1.25, 0.1, 0.125},
		{template.Exchange{Currency: "EUR", Rate: 0.8}, 0.8, 1, 0.08, 0.1},
	} {
		got := c.InCurrency(w.to)
		f := got.Hardware["small"].Providers
		for name, pair := range map[string][2]float64{"us": {f["us"].CostPerHour, w.us}, "eu": {f["eu"].CostPerHour, w.eu},
			"us asleep": {*f["us"].AsleepCostPerHour, w.usAsleep}, "eu asleep": {*f["eu"].AsleepCostPerHour, w.euSleep}} {
			if math.Abs(pair[0]-pair[1]) > 1e-12 {
				t.Errorf("%s in %s: %v, want %v", name, w.to.Currency, pair[0], pair[1])
			}
		}
		if got.Currency != w.to.Currency || f["us"].Flavor != "s" || got.Hardware["free"] != c.Hardware["free"] {
			t.Errorf("in %s: %+v", w.to.Currency, got)
		}
		if got.InCurrency(template.Exchange{Currency: "JPY", Rate: 100}) != got {
			t.Error("prices are converted twice")
		}
	}
	if c.Currency != "" || c.Hardware["small"].Providers["eu"].CostPerHour != 1 || *c.Hardware["small"].Providers["eu"].AsleepCostPerHour != 0.1 {
		t.Errorf("the catalog itself was changed: %+v", c.Hardware["small"].Providers)
	}
}

func TestExchangeRates(t *testing.T) {
	for _, w := range []struct {
		code  string
		rate  float64
		house string
		field string // that is refused; "" for none
	}{
		{"", 0, "USD", ""}, {"USD", 0, "USD", ""}, {"USD", 1, "USD", ""}, {"EUR", 1.08, "USD", ""}, {"EUR", 0, "", ""}, {"EUR", 1.08, "", ""},
		{"EUR", 0, "USD", "exchange_rate"}, {"USD", 2, "USD", "exchange_rate"}, {"", 2, "USD", "exchange_rate"}, {"EUR", -1, "USD", "exchange_rate"},
		{"EUR", math.NaN(), "USD", "exchange_rate"}, {"EUR", math.Inf(1), "USD", "exchange_rate"}, {"EUR", 1e9, "USD", "exchange_rate"}, {"EUR", 1e-9, "USD", "exchange_rate"},
		{"eur", 1, "USD", "currency"}, {"$", 1, "USD", "currency"}, {"EURO", 1, "", "currency"},
	} {
		err := template.CheckExchange(w.code, w.rate, w.house)
		if field := app.AsError(err); err != nil && (field.Field != w.field || field.Message == "") || (err != nil) != (w.field != "") {
			t.Errorf("%q at %v in %q: %v, want field %q refused", w.code, w.rate, w.house, err, w.field)
		}
	}
}
