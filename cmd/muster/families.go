package main

import (
	"errors"
	"strings"

	"muster/app"
	"muster/app/catalog"
	"muster/automators"
	"muster/providers"
)

// catalogOptions are what a catalog is checked against: the families as they stand in this binary. Env looks up the
// variables that providers' settings name; nil where there are no secrets at hand.
func catalogOptions(env func(string) (string, bool)) catalog.Options {
	return catalog.Options{
		Env:           env,
		ProviderTypes: providers.Names(),
		CheckProvider: func(typ string, settings map[string]any) error {
			err := providers.Check(app.ProviderSpec{About: app.About{Name: typ}, Type: typ, Settings: settings})
			var e *app.Error
			if !errors.As(err, &e) {
				return err
			}
			inner := *e // the catalog knows the setting by its bare name
			inner.Field = strings.TrimPrefix(e.Field, "settings.")
			return &inner
		},
		Automators:  automators.Names(),
		CheckAction: automators.Check,
	}
}
