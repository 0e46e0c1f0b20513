//go:build small

package kms_test

import (
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/store/kms"
)

func TestSmallBuildNamesMissingFeatures(t *testing.T) {
	for _, scheme := range []string{"awskms", "azurekeyvault"} {
		_, err := kms.Open(t.Context(), scheme+"://key")
		code(t, err, app.EInvalid)
		if e := app.AsError(err); !strings.Contains(e.Message, "small build") || !strings.Contains(e.Hint, "make build") || slices.Contains(kms.Schemes, scheme) {
			t.Errorf("%+v, %v", e, kms.Schemes)
		}
	}
}
