package blob

import (
	"errors"
	"strings"
	"testing"

	"muster/app"
)

// What git says has addresses in it, whose numbers mean nothing.
func TestGitFailuresAreDistinguished(t *testing.T) {
	for said, want := range map[string]string{
		"fatal: unable to access 'https://127.0.0.1:40311/x.git/': SSL certificate problem: unable to get local issuer certificate": "certificate",
		"fatal: unable to access 'https://127.0.0.1:40311/x.git/': The requested URL returned error: 403":                           "was denied",
		"fatal: Authentication failed for 'https://example.com/x.git/'":                                                             "was denied",
		"fatal: couldn't find remote ref refs/tags/v403":                                                                            "no such tag",
	} {
		g := &gitRun{ctx: t.Context()}
		e := app.AsError(g.failed(t.Context(), "fetch", said, errors.New("exit status 128")))
		if e.Code != app.EInvalid || !strings.Contains(e.Message, want) {
			t.Errorf("%s\nis reported as %s, %q, want %q", said, e.Code, e.Message, want)
		}
	}
}
