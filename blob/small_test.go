//go:build small

package blob_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/blob"
)

func TestSmallBuildSaysWhatItLacks(t *testing.T) {
	for _, scheme := range []string{"azblob", "s3"} {
		_, err := blob.Open(t.Context(), blob.Config{URL: scheme + "://things", Spool: path.Join(t.TempDir(), "spool")})
		if e := app.AsError(err); e == nil || e.Code != app.EInvalid || !strings.Contains(e.Message, "small build") || !strings.Contains(e.Hint, "make build") || slices.Contains(blob.Schemes, scheme) {
			t.Errorf("%v, %v", err, blob.Schemes)
		}
	}
}
