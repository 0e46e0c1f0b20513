//go:build small

package providers

import (
	"testing"

	"muster/app"
	"muster/app/family"
)

func TestSmallBuildNamesMissingProviders(t *testing.T) {
	for _, name := range LeftOut {
		e := app.AsError(Check(provider(name, nil)))
		if e.Code != app.EInvalid || e.Field != "type" || e.Hint != family.FullBuildHint {
			t.Errorf("%s: %+v", name, e)
		}
	}
}
