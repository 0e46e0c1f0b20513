package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"muster/app"
	"muster/app/cluster"
)

// sender returns what sends requests of the API with a token; headers are names and values in turn.
func sender(t *testing.T, site, token string) func(method, path, body string, headers ...string) (int, http.Header, string) {
	return func(method, path, body string, headers ...string) (int, http.Header, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, site+"/api/v1"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Error(err)
			return 0, nil, ""
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, resp.Header, string(b)
	}
}

// TestRequestsWithAKeyAreCarriedOutOnce sends creates again and again, at the same time and after another, as programs do that lost an answer.
func TestRequestsWithAKeyAreCarriedOutOnce(t *testing.T) {
	f := newForeign(t)
	site := httptest.NewServer(f.server.HTTP.Handler)
	defer site.Close()
	v := f.visitor(site.URL, there, app.RoleAdmin)
	send := sender(t, site.URL, v.token)
	const create = `{"template":"web","size":3,"name":"once"}`
	var all sync.WaitGroup
	ids := make(chan string, 20)
	for range 20 {
		all.Go(func() {
			for {
				status, _, body := send("POST", "/clusters", create, "Idempotency-Key", "k1")
				if status == http.StatusConflict && strings.Contains(body, "in_progress") {
					continue
				}
				var c cluster.View
				if err := json.Unmarshal([]byte(body), &c); err != nil || status != http.StatusCreated {
					t.Errorf("%d %s", status, body)
				}
				ids <- c.ID
				return
			}
		})
	}
	all.Wait()
	close(ids)
	first := <-ids
	for id := range ids {
		if id != first {
			t.Errorf("there are clusters %s and %s", first, id)
		}
	}
	if status, h, _ := send("POST", "/clusters", create, "Idempotency-Key", "k1"); status != http.StatusCreated || h.Get("Idempotency-Replayed") != "true" {
		t.Errorf("sent again, it is answered %d, %v", status, h)
	}
	if status, _, body := send("POST", "/clusters", strings.Replace(create, "3", "4", 1), "Idempotency-Key", "k1"); status != http.StatusUnprocessableEntity || !strings.Contains(body, "a different request") {
		t.Errorf("another request with the key is answered %d %s", status, body)
	}
	if status, _, body := send("POST", "/clusters", create, "Idempotency-Key", "k2"); status != http.StatusConflict {
		t.Errorf("the same name with another key is answered %d %s", status, body)
	}
	// What was refused can be sent again, once there is no reason any more.
	if status, _, body := send("DELETE", "/secrets/LATE", "", "Idempotency-Key", "k3"); status != http.StatusNotFound {
		t.Errorf("deleting nothing is answered %d %s", status, body)
	}
	if status, _, body := send("PUT", "/secrets/LATE", "word", "Content-Type", "application/octet-stream"); status != http.StatusNoContent {
		t.Fatalf("setting a secret is answered %d %s", status, body)
	}
	for range 2 { // gone, and said so again
		if status, _, body := send("DELETE", "/secrets/LATE", "", "Idempotency-Key", "k3"); status != http.StatusNoContent {
			t.Errorf("deleting it is answered %d %s", status, body)
		}
	}
	for _, bad := range []string{strings.Repeat("x", 256), "späti"} {
		if status, _, _ := send("POST", "/clusters", create, "Idempotency-Key", bad); status != http.StatusUnprocessableEntity {
			t.Errorf("the key %.20s is answered %d", bad, status)
		}
	}
}

// TestAnswersHaveTagsThatChangesCanName reads with If-None-Match and writes with If-Match.
func TestAnswersHaveTagsThatChangesCanName(t *testing.T) {
	f := newForeign(t)
	site := httptest.NewServer(f.server.HTTP.Handler)
	defer site.Close()
	v := f.visitor(site.URL, there, app.RoleAdmin)
	send := sender(t, site.URL, v.token)
	user := "/users/" + f.values["users"][0]
	status, h, body := send("GET", user, "")
	tag := h.Get("ETag")
	if status != http.StatusOK || tag == "" || body == "" {
		t.Fatalf("reading is answered %d, tag %q", status, tag)
	}
	if status, _, body := send("GET", user, "", "If-None-Match", `"x", `+tag); status != http.StatusNotModified || body != "" {
		t.Errorf("what is the same is answered %d %q", status, body)
	}
	change := func(name string) string { return fmt.Sprintf(`{"full_name":%q}`, name) }
	if status, _, body := send("PATCH", user, change("Ada One"), "If-Match", tag); status != http.StatusOK {
		t.Errorf("a change of what was read is answered %d %s", status, body)
	}
	if status, _, body := send("PATCH", user, change("Ada Two"), "If-Match", tag); status != http.StatusPreconditionFailed || !strings.Contains(body, "changed since") {
		t.Errorf("a change of what was changed meanwhile is answered %d %s", status, body)
	}
	if _, _, body := send("GET", user, ""); !strings.Contains(body, "Ada One") {
		t.Errorf("it is now %s", body)
	}
	if status, _, body := send("PUT", "/policies/none", `{}`, "If-Match", `*`); status != http.StatusPreconditionFailed {
		t.Errorf("a condition on what is not there is answered %d %s", status, body)
	}
	// Of many who change the same thing that they have all read, one may.
	_, h, _ = send("GET", user, "")
	tag = h.Get("ETag")
	var all sync.WaitGroup
	var mu sync.Mutex
	got := map[int]int{}
	for i := range 20 {
		all.Go(func() {
			status, _, _ := send("PATCH", user, change(fmt.Sprint("Ada ", i)), "If-Match", tag)
			mu.Lock()
			defer mu.Unlock()
			got[status]++
		})
	}
	all.Wait()
	if got[http.StatusOK] != 1 || got[http.StatusPreconditionFailed] != 19 {
		t.Errorf("20 changes at once are answered %v", got)
	}
}
