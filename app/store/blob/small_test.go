//go:build small

package blob_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/store/blob"
)

func TestSmallBuildNamesMissingFeatures(t *testing.T) {
	for _, scheme := range []string{"azblob", "s3"} {
		_, err := blob.Open(t.Context(), blob.Config{URL: scheme + "://things", Spool: path.Join(t.TempDir(), "spool")})
		e := app.AsError(err)
		if e == nil || e.Code != app.EInvalid || !strings.Contains(e.Message, "small build") || !strings.Contains(e.Hint, "make build") {
			t.Errorf("%s: %v", scheme, err)
		}
		if slices.Contains(blob.Schemes, scheme) {
			t.Errorf("this build says it has %v", blob.Schemes)
		}
	}
}
