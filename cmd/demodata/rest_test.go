package demodata

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"muster/app"
	"muster/app/store/db"
)

// Pages that are open while nothing happens cost the database next to nothing, and those that no one looks at, nothing.
func TestRestingPagesLeaveTheDatabaseAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := populated(t)
		list, err := h.Services.Cluster.Views.Clusters(t.Context(), h.actor(Operator), app.ClusterFilter{Name: "payments"})
		if err != nil || len(list) == 0 {
			t.Fatalf("no cluster is at rest: %v", err)
		}
		in := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/signin",
			strings.NewReader(url.Values{"tenant": {Tenant}, "user": {Operator}, "password": {password}}.Encode()))
		in.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		signedIn := httptest.NewRecorder()
		h.Portal.ServeHTTP(signedIn, in)

		var read db.Reading
		ctx, hide := context.WithCancel(read.In(t.Context()))
		defer hide()
		paths := []string{"/live?page=%2F", "/live?page=%2Fclusters", "/live?page=%2Fqueue", "/live?page=%2Frequests", "/clusters/" + list[0].ID + "/live?after=0"}
		var open sync.WaitGroup
		pages := make([]*httptest.ResponseRecorder, len(paths))
		for i, p := range paths {
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, p, nil)
			for _, c := range signedIn.Result().Cookies() {
				r.AddCookie(c)
			}
			pages[i] = httptest.NewRecorder()
			open.Go(func() { h.Portal.ServeHTTP(pages[i], r) })
		}
		time.Sleep(5 * time.Second) // of the bubble's clock
		synctest.Wait()
		before := read.Queries()
		if before == 0 {
			t.Fatal("pages are open for which nothing was read")
		}
		const minutes = 10
		time.Sleep(minutes * time.Minute)
		synctest.Wait()
		rested := read.Queries() - before
		t.Logf("%d pages ask %d times to begin with, and %d times within %d minutes in which nothing happens", len(paths), before, rested, minutes)
		// Once a minute each, since they say how long ago things were.
		if rested > before*minutes*3/2 {
			t.Errorf("%d resting pages ask the database %d times within %d minutes", len(paths), rested, minutes)
		}
		hide()
		open.Wait()
		for i, p := range pages {
			if p.Code != http.StatusOK || !strings.Contains(p.Body.String(), "still") {
				t.Errorf("%s returns %d: %.200s", paths[i], p.Code, p.Body.String())
			}
		}
		before = read.Queries()
		time.Sleep(minutes * time.Minute)
		synctest.Wait()
		if n := read.Queries() - before; n != 0 {
			t.Errorf("pages that no one has open ask the database %d times", n)
		}
	})
}
