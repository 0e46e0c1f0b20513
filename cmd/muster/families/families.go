package families

import (
	"cmp"
	"errors"
	"os"
	"strings"

	"muster/app"
	appcatalog "muster/app/catalog"
	"muster/app/file/catalog"
	"muster/app/resource"
	"muster/app/template"
	"muster/automators"
	"muster/automators/shell"
	"muster/cmd/muster/cli"
	"muster/providers"
)

// All are the providers and automators of this binary.
func All() appcatalog.Families {
	return appcatalog.Families{Providers: providers.Descriptors(), Automators: automators.Descriptors()}
}

// CatalogOptions are the families to check a catalog against. Env looks up the variables in providers' settings; nil if secrets
// aren't available.
func CatalogOptions(env func(string) (string, bool)) catalog.Options {
	return catalog.Options{
		Env:           env,
		Currency:      Currency(),
		ProviderTypes: providers.Names(), ProviderTypesLeftOut: providers.LeftOut,
		RemovedType: providers.Removed, RemovedAutomator: automators.Removed,
		CheckProvider: func(spec template.ProviderSpec) error {
			err := providers.Check(spec)
			var e *app.Error
			if !errors.As(err, &e) {
				return err
			}
			inner := *e // the catalog uses the setting's bare name
			inner.Field = strings.TrimPrefix(e.Field, "settings.")
			return &inner
		},
		CheckExtra: providers.CheckExtra, MakesVolumes: providers.Volumes, Sleeps: providers.Sleeps,
		Automators:  automators.Names(),
		CheckAction: automators.Check, CheckScript: shell.Syntax,
		CheckResources: func(automator string, refs []template.ResourceRef) error {
			return resource.CheckRefs(automators.ResourceTypes(automator), automator, refs)
		},
	}
}

// CheckCurrency refuses a value of MUSTER_CURRENCY that names no currency.
func CheckCurrency() error {
	if err := template.CheckCurrency(Currency()); err != nil {
		return cli.Usagef("MUSTER_CURRENCY: %s", app.AsError(err).Message).Hint("%s", app.AsError(err).Hint)
	}
	return nil
}

// Currency is the installation's currency: MUSTER_CURRENCY, or template.DefaultCurrency.
func Currency() string {
	return cmp.Or(strings.TrimSpace(os.Getenv("MUSTER_CURRENCY")), template.DefaultCurrency)
}

// ResourceKinds are the resource types that the families declare.
func ResourceKinds() (all []resource.Types) {
	for _, name := range automators.Names() {
		if types := automators.ResourceTypes(name); len(types) > 0 {
			all = append(all, resource.Types{Family: resource.ForAutomator, Member: name, Types: types})
		}
	}
	for _, d := range providers.Descriptors() {
		if len(d.ResourceTypes) > 0 {
			all = append(all, resource.Types{Family: resource.ForProvider, Member: d.Name, Types: d.ResourceTypes})
		}
	}
	return all
}
