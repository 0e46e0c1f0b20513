package cluster

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/cmd/muster/cli"
)

// A request that is not answered in time is named by its number, also when the time is over while the server is asked.
func TestAnUndecidedRequestKeepsItsNumber(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer srv.Close()
	t.Setenv("MUSTER_DATA", t.TempDir())
	var out, errs bytes.Buffer
	c := &cli.Context{Stdout: &out, Stderr: &errs, Server: srv.URL, Token: "x", NoPause: true}
	cl, err := c.Connect()
	if err != nil {
		t.Fatal(err)
	}
	_, err = awaitDecision(t.Context(), c, cl, cluster.Request{ID: 17, Status: cluster.RequestWaiting}, 300*time.Millisecond)
	if e := app.AsError(err); e.Code != app.ETimeout || !strings.Contains(e.Message, "request 17 is still undecided") || !strings.Contains(e.Hint, "muster request show 17") {
		t.Errorf("it ends with %v, %s", err, e.Hint)
	}
}
