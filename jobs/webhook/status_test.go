package webhook

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"muster/app"
	"muster/app/build"
	"muster/app/webhook"
)

const gitToken = "glpat-a-token-that-stays-secret"

// gitServer takes commit statuses as strictly as GitHub and GitLab do.
type gitServer struct {
	t      *testing.T
	system string
	srv    *httptest.Server

	mu     sync.Mutex
	broken int // so many requests are answered 503
	lost   int // so many are taken, and their answer lost
	taken  []map[string]string
}

func newGitServer(t *testing.T, system string) *gitServer {
	g := &gitServer{t: t, system: system}
	g.srv = httptest.NewServer(g)
	t.Cleanup(func() { g.srv.CloseClientConnections(); g.srv.Close() })
	return g
}

var statusPath = regexp.MustCompile(`^/api(/repos/octo/web/statuses/|/projects/octo%2Fweb/statuses/)[0-9a-f]{40}$`)

func (g *gitServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	refuse := func(status int, text string) { http.Error(w, `{"message":`+text+`}`, status) }
	b, _ := io.ReadAll(r.Body)
	var body map[string]string
	states, name, most, auth := []string{"error", "failure", "pending", "success"}, "context", 140, r.Header.Get("Authorization") == "Bearer "+gitToken
	if g.system == "gitlab" {
		states, name, most, auth = []string{"pending", "running", "success", "failed", "canceled", "skipped"}, "name", 255, r.Header.Get("PRIVATE-TOKEN") == gitToken
	}
	switch {
	case g.broken > 0:
		g.broken--
		refuse(http.StatusServiceUnavailable, `"down"`)
		return
	case !auth:
		refuse(http.StatusUnauthorized, `"Bad credentials"`)
		return
	case r.Method != http.MethodPost || !statusPath.MatchString(r.URL.EscapedPath()) || (g.system == "gitlab") != strings.Contains(r.URL.EscapedPath(), "/projects/"):
		refuse(http.StatusNotFound, `"Not Found"`)
		return
	case r.Header.Get("Content-Type") != "application/json" || json.Unmarshal(b, &body) != nil:
		refuse(http.StatusBadRequest, `"Problems parsing JSON"`)
		return
	}
	target, err := url.Parse(body["target_url"])
	switch {
	case !slices.Contains(states, body["state"]), utf8.RuneCountInString(body["description"]) > most, len(body[name]) > 255,
		body["target_url"] != "" && (err != nil || target.Scheme != "https" && target.Scheme != "http" || target.Host == "" || len(body["target_url"]) > 255):
		g.t.Errorf("%s refuses %s", g.system, b)
		refuse(http.StatusUnprocessableEntity, `"Validation Failed"`)
		return
	}
	for field := range body {
		if !slices.Contains([]string{"state", name, "description", "target_url"}, field) {
			g.t.Errorf("%s knows no %s", g.system, field)
		}
	}
	if n := len(g.taken); g.system == "gitlab" && n > 0 && g.taken[n-1]["state"] == body["state"] {
		refuse(http.StatusBadRequest, `"Cannot transition status via :enqueue from :pending (Reason(s): Status cannot transition via \"enqueue\")"`)
		return
	}
	g.taken = append(g.taken, body)
	if g.lost > 0 {
		g.lost--
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(http.StatusCreated)
}

// Commits show how a build's cluster is, at servers that are as strict as the real ones, through failures and lost answers; the token is in no log.
func TestCommitStatuses(t *testing.T) {
	t.Parallel()
	for _, system := range []string{"github", "gitlab"} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			g := newGitServer(t, system)
			g.broken, g.lost = 1, 1
			if system == "github" {
				g.lost = 0 // it takes a status twice
			}
			d := newDesk(t)
			owner, token, api := "ci", gitToken, g.srv.URL+"/api"
			h, _, err := d.s.SaveBuildHook(d.Context(), admin, build.BuildHookChange{ID: "abc", Name: "ci", System: system, Owner: &owner, Secret: "s", TokenKey: []byte("key"), StatusToken: &token, StatusAPI: &api}, d.clock.Now())
			d.must(err)
			log := &lockedLog{}
			stop := d.callBack(log)
			queue := 0
			done, err := d.s.IngestBuild(d.Context(), build.IngestOrder{Hook: h, Who: admin, Uniq: "1", Now: d.clock.Now(),
				Event: app.BuildEvent{Build: "octo/web/1", Job: strings.Repeat("long name ", 60), Repository: "octo/web", Commit: strings.Repeat("ab", 20)},
				Begin: &build.Start{Key: "octo/web/1", Rule: build.Rule{Name: "web", Concurrency: 9, Queue: &queue}}})
			d.must(err)
			b := *done.Build
			d.written(&b, "waiting waiting", 503)
			d.clock.Move(6e9)
			if system == "gitlab" {
				d.wake(h)
				d.written(&b, "waiting waiting", 0)
				d.clock.Move(16e9)
			}
			d.wake(h)
			d.written(&b, "waiting delivered", -1)
			b.State, b.ReadyAt = app.BuildReady, d.clock.Now()
			n := b.News(d.clock.Now(), nil)
			n.Status = b.CommitStatus(h, strings.Repeat("Ünïcode wörds are count\u0065d as characters. ", 20))
			n.Status.Link, n.Cluster = "https://shop.example.com/", "web-1"
			if _, err := d.s.MoveBuild(d.Context(), b, nil, &n, d.clock.Now()); err != nil {
				t.Fatal(err)
			}
			d.written(&b, "waiting delivered; ready delivered", 201)
			stop()
			g.mu.Lock()
			defer g.mu.Unlock()
			if len(g.taken) != 2 || g.taken[0]["state"] != "pending" || g.taken[1]["state"] != "success" || g.taken[1]["target_url"] != "https://muster.test/clusters/web-1" {
				t.Errorf("shown is %v", g.taken)
			}
			if strings.Contains(log.String(), gitToken) {
				t.Errorf("the log has the token: %s", log)
			}
		})
	}
}

// What can't be written says what to do, without the token; only addresses that people can open are given.
func TestCommitStatusFailures(t *testing.T) {
	t.Parallel()
	for system := range statusAPIs {
		g := newGitServer(t, system)
		news := &app.BuildNews{Status: &app.CommitStatus{System: system, Repository: "octo/web", Commit: strings.Repeat("ab", 20), Context: "muster/web", State: app.CommitFailure, Description: "No.", Link: "javascript:alert(1)"}}
		one := webhook.DueDelivery{BuildNews: news, API: g.srv.URL + "/api/", Token: "another"}
		m, err := statusMessage(one, portalAt(""))
		if err != nil || strings.Contains(string(m.Body), "javascript") {
			t.Fatalf("%s: %s, %v", system, m.Body, err)
		}
		a, err := sender(0).Send(t.Context(), m)
		if err = judgeStatus(*news.Status, a, err); err == nil || err.Code != app.ECredentials || !strings.Contains(err.Advised(), "octo/web") || strings.Contains(err.Advised(), "another") {
			t.Errorf("%s: %v", system, err)
		}
		// A tenant's address leads to no private network.
		if _, err := NewSender(SenderConfig{}).Send(t.Context(), m); err == nil || err.Code != app.EForbidden {
			t.Errorf("%s: a private address returns %v", system, err)
		}
	}
}

// The token reaches no other host than the one that it was entered for: an API that redirects is not followed, at once and for good, and the
// message says what to change.
func TestStatusTokensAreNotRedirected(t *testing.T) {
	t.Parallel()
	for system, api := range statusAPIs {
		for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
			other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				t.Errorf("%s: %d was followed, with %v", system, status, r.Header)
			}))
			asked := 0
			moved := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if asked++; r.Header.Get("Authorization")+r.Header.Get("PRIVATE-TOKEN") == "" {
					t.Errorf("%s: no token at the address that it is for", system)
				}
				http.Redirect(w, r, other.URL+r.URL.EscapedPath(), status)
			}))
			news := app.CommitStatus{System: system, Repository: "octo/web", Commit: strings.Repeat("ab", 20), Context: "muster/web", State: app.CommitSuccess}
			m, err := statusMessage(webhook.DueDelivery{BuildNews: &app.BuildNews{Status: &news}, API: moved.URL, Token: gitToken}, portalAt(""))
			if err != nil || len(m.Header) < len(api.header("")) {
				t.Fatalf("%+v, %v", m, err)
			}
			a, err := sender(0).Send(t.Context(), m)
			err = judgeStatus(news, a, err)
			moved.Close()
			other.Close()
			if asked != 1 || a.Status != status || err == nil || err.Code != app.EInvalid || !strings.Contains(err.Hint, "API URL") || !strings.Contains(err.Hint, "octo/web") || strings.Contains(err.Advised(), gitToken) {
				t.Errorf("%s: %d after %d requests: %+v, %v", system, status, asked, a, err)
			}
		}
	}
}

// wake lets the deliverers look again, as another build's news would.
func (d *desk) wake(h build.BuildHook) {
	d.Helper()
	d.called(h, "other "+d.clock.Now().String(), "")
}

// written waits until the commit statuses of a build are as is asked for, the last one with an answer of this status; -1 is any.
func (d *desk) written(b *build.Build, want string, status int) {
	d.Helper()
	var got string
	for end := time.Now().Add(hangs); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		is, err := d.s.Build(d.Context(), "t", b.ID)
		d.must(err)
		var all []string
		last := -2
		for _, s := range is.Statuses {
			all, last = append(all, string(s.State)+" "+string(s.Outcome)), s.Status
			if s.Attempts == 0 {
				last = -2
			}
		}
		if got = strings.Join(all, "; "); got == want && (status == -1 || last == status) {
			*b = is
			return
		}
	}
	d.Fatalf("the statuses are %q, want %q", got, want)
}
