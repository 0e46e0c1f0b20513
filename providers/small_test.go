//go:build small

package providers

import (
	"testing"

	"muster/app"
)

func TestASmallBuildSaysWhatItLeavesOut(t *testing.T) {
	for _, name := range LeftOut {
		e := app.AsError(Check(provider(name, nil)))
		if e.Code != app.EInvalid || e.Field != "type" || e.Hint != app.FullBuildHint {
			t.Errorf("%s: %+v", name, e)
		}
	}
}
