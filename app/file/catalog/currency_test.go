package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/app/catalog"
	"muster/app/file/catalog/form"
)

// A provider says its currency, and what one unit of it is worth in the installation's.
func TestProvidersHaveCurrencies(t *testing.T) {
	read := func(lines string) (problems string, currency string, rate float64) {
		t.Helper()
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("kind: provider\nname: p\ntype: cloud\n"+lines), 0o600); err != nil {
			t.Fatal(err)
		}
		var said []string
		c, err := NewReader(Options{ProviderTypes: []string{"cloud"}, Currency: "USD", Warn: func(p form.Problem) { said = append(said, p.String()) }}, catalog.Families{}).Load(dir)
		if err != nil {
			return err.Error(), "", 0
		}
		return strings.Join(said, "\n"), c.Providers["p"].Currency, c.Providers["p"].ExchangeRate
	}
	if said, currency, rate := read("currency: EUR\nexchange_rate: 1.08\n"); said != "" || currency != "EUR" || rate != 1.08 {
		t.Errorf("%q, %s, %v", said, currency, rate)
	}
	for lines, want := range map[string]string{
		"currency: EUR\n":                      "EUR needs an exchange rate, because the installation's currency is USD.",
		"currency: euro\n":                     `"euro" isn't a currency.`,
		"currency: USD\nexchange_rate: 2\n":    "USD is the installation's own currency, whose rate is 1.",
		"exchange_rate: 2\n":                   "An exchange rate needs a currency.",
		"currency: EUR\nexchange_rate: -1\n":   "exchange_rate",
		"currency: EUR\nexchange_rate: 1e99\n": "The exchange rate must be from 1e-06 to 1e+06.",
	} {
		if said, _, _ := read(lines); !strings.Contains(said, want) || !strings.Contains(said, "a.yaml:") {
			t.Errorf("%q is refused with %q, want %q", lines, said, want)
		}
	}
}
