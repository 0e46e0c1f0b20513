package template

import (
	"fmt"
	"maps"

	"muster/app"
	"muster/app/humanize"
)

// DefaultCurrency is the installation's where no other is set.
const DefaultCurrency = "USD"

// MaxExchangeRate bounds exchange rates from above; 1/MaxExchangeRate bounds them from below.
const MaxExchangeRate = 1e6

// Exchange says in which currency a tenant sees prices, by ISO 4217, and how much of it one unit of the installation's currency buys.
type Exchange struct {
	Currency string  `json:"currency"`
	Rate     float64 `json:"exchange_rate"`
}

// OrInstallation fills in the installation's currency where a tenant has none of its own.
func (e Exchange) OrInstallation(currency string) Exchange {
	if e.Currency == "" {
		return Exchange{Currency: currency, Rate: 1}
	}
	return e
}

// CheckCurrency refuses what is no currency of ISO 4217.
func CheckCurrency(code string) error {
	if humanize.IsCurrency(code) {
		return nil
	}
	return &app.Error{Code: app.EInvalid, Field: "currency", Message: fmt.Sprintf("%.20q isn't a currency.", code), Hint: "Use a code of ISO 4217 in capital letters, such as USD, EUR or JPY."}
}

// CheckExchange refuses a currency that needs an exchange rate and has none, or has one that it doesn't need. Base is the installation's
// currency; "" skips that check. It returns an *app.Error whose field is currency or exchange_rate.
func CheckExchange(code string, rate float64, base string) error {
	if code == "" && rate == 0 {
		return nil
	}
	wrong := func(message, hint string) error {
		return &app.Error{Code: app.EInvalid, Field: "exchange_rate", Message: message, Hint: hint}
	}
	if code == "" {
		return wrong("An exchange rate needs a currency.", "Set the currency too, or leave out the rate.")
	}
	if err := CheckCurrency(code); err != nil {
		return err
	}
	switch {
	case rate != 0 && !(rate >= 1/MaxExchangeRate && rate <= MaxExchangeRate): // neither is NaN
		return wrong(fmt.Sprintf("The exchange rate must be from %g to %g.", 1/MaxExchangeRate, MaxExchangeRate), "")
	case base != "" && code == base && rate != 0 && rate != 1:
		return wrong(fmt.Sprintf("%s is the installation's own currency, whose rate is 1.", code), "Leave out the exchange rate.")
	case base != "" && code != base && rate == 0:
		return wrong(fmt.Sprintf("%s needs an exchange rate, because the installation's currency is %s.", code, base), "")
	}
	return nil
}

// InCurrency returns the catalog with all prices in one currency: each price times its provider's exchange rate times that of to. A catalog
// whose prices are in one currency already is returned as it is. Neither is changed later.
func (c *Catalog) InCurrency(to Exchange) *Catalog {
	if c.Currency != "" {
		return c
	}
	priced := *c
	priced.Currency = to.Currency
	factor := map[string]float64{}
	for name, p := range c.Providers {
		f := to.Rate
		if p.ExchangeRate > 0 {
			f *= p.ExchangeRate
		}
		if f != 1 {
			factor[name] = f
		}
	}
	if len(factor) == 0 {
		return &priced
	}
	priced.Providers = maps.Clone(c.Providers)
	for name, f := range factor {
		if p := c.Providers[name]; p.VolumeCost+p.SnapshotCost > 0 {
			converted := *p
			converted.VolumeCost *= f
			converted.SnapshotCost *= f
			priced.Providers[name] = &converted
		}
	}
	priced.Hardware = maps.Clone(c.Hardware)
	for name, h := range c.Hardware {
		var flavors map[string]Flavor
		for provider, flavor := range h.Providers {
			f, other := factor[provider]
			if !other || flavor.CostPerHour == 0 && flavor.AsleepCostPerHour == nil {
				continue
			}
			if flavors == nil {
				flavors = maps.Clone(h.Providers)
			}
			flavor.CostPerHour *= f
			if flavor.AsleepCostPerHour != nil {
				asleep := *flavor.AsleepCostPerHour * f
				flavor.AsleepCostPerHour = &asleep
			}
			flavors[provider] = flavor
		}
		if flavors != nil {
			converted := *h
			converted.Providers = flavors
			priced.Hardware[name] = &converted
		}
	}
	return &priced
}
