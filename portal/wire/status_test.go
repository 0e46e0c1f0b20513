package wire_test

import (
	"net/http"
	"testing"

	"muster/app"
	"muster/portal/wire"
)

// A refusal is the sender's fault exactly where HTTP says so, whatever the status: what is said to be our fault instead is looked for in the wrong place, and
// what can be tried again is only what a proxy answers.
func TestCodeOfStatus(t *testing.T) {
	want := map[int]app.Code{
		400: app.EInvalid, 401: app.EUnauthorized, 403: app.EForbidden, 404: app.ENotFound, 405: app.EInvalid, 406: app.EInvalid, 408: app.ETimeout, 409: app.EConflict,
		412: app.EConflict, 413: app.ETooLarge, 415: app.EInvalid, 422: app.EInvalid, 429: app.ERateLimit, 431: app.EInvalid,
		500: app.EInternal, 501: app.EInternal, 502: app.ETransient, 503: app.ETransient, 504: app.ETransient, 505: app.EInternal,
	}
	for status := http.StatusBadRequest; status < 600; status++ {
		code := wire.CodeOfStatus(status)
		if is, ok := want[status]; ok && code != is {
			t.Errorf("%d %s is %s, want %s", status, http.StatusText(status), code, is)
		}
		if ours := status >= http.StatusInternalServerError; ours != (code == app.EInternal || code == app.ETransient) {
			t.Errorf("%d %s is %s", status, http.StatusText(status), code)
		}
	}
}
