package slack

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/bot"
	"muster/portal/address"
)

func TestCheckAPI(t *testing.T) {
	for address, want := range map[string]string{
		"": StandardAPI, "https://slack-gov.com/api": "https://slack-gov.com/api/", "https://slack-gov.com/api/": "https://slack-gov.com/api/",
		"http://127.0.0.1:8000/api/": "http://127.0.0.1:8000/api/", "http://[::1]:8000": "http://[::1]:8000/",
		"http://slack.com/api/": "", "ftp://slack.com/": "", "slack.com": "", "https://": "", "https://me:x@slack.com/api/": "", "https://slack.com/api/?x=1": "", "http://localhost.evil.example/": "", ":": "",
	} {
		if got, err := CheckAPI(address); got != want || (err == nil) != (want != "") {
			t.Errorf("%q is read as %q, %v, want %q", address, got, err, want)
		}
	}
}

// TestCallsGoToTheConfiguredAPI has a Slack at another address, and nothing may be asked of any other host.
func TestCallsGoToTheConfiguredAPI(t *testing.T) {
	var mu sync.Mutex
	var calls []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		calls = append(calls, r.URL.Path)
		user := firstWord(r.FormValue("user"), "U1")
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/respond":
			_, _ = io.WriteString(w, "ok")
		case "/api/users.info":
			_ = json.NewEncoder(w).Encode(map[string]any{"ok": true, "user": map[string]any{"id": user, "team_id": "T1"}})
		default:
			_, _ = io.WriteString(w, `{"ok":true,"team":"acme","team_id":"T1","user_id":"UBOT","access_token":"xoxb-2","token_type":"bot","url":"","channel":"C1","ts":"1.1"}`)
		}
	}))
	defer srv.Close()
	api, err := CheckAPI(srv.URL + "/api")
	if err != nil {
		t.Fatal(err)
	}
	m := &fakeApp{seen: map[string]bool{}}
	client := srv.Client()
	client.Transport = only{client.Transport, strings.TrimPrefix(srv.URL, "http://")}
	s := New(Config{UseCases: m.useCases(), Secret: secret, Token: "xoxb-1", AppToken: "xapp-1", ClientID: "1.2", ClientSecret: "c", Tenant: "default", API: api,
		URL: func() string { return "https://m.test" }, Pages: address.Of, Client: client, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	defer s.Close()
	w := s.teams.learn(t.Context())
	_, _, _ = s.Exchange(t.Context(), "code")
	_, _ = s.refresh(t.Context(), "token")
	_, _ = s.socket.connect(t.Context())
	_, _ = s.dispatcher.people.info(t.Context(), w, "T1/U1", "U1")
	s.dispatcher.open(t.Context(), w, "trigger", bot.InModal(bot.Answer{Title: "X"}))
	s.dispatcher.tell(t.Context(), w, "C1", "U1", bot.Answer{Title: "X"})
	_ = workspacePoster{s.teams, s.dispatcher.people, w}.Publish(t.Context(), "U1", bot.Home{})
	if !s.dispatcher.post(srv.URL+"/respond", bot.Answer{Title: "X"}, false) {
		t.Error("an answer is not taken at the host of the API")
	}
	if s.dispatcher.post("https://evil.example/respond", bot.Answer{Title: "X"}, false) {
		t.Error("an answer goes to a host that is not Slack's")
	}
	if u, err := url.Parse(s.InstallURL("state")); err != nil || "http://"+u.Host != srv.URL || u.Path != "/oauth/v2/authorize" {
		t.Errorf("people consent at %v", u)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, want := range []string{"auth.test", "oauth.v2.access", "apps.connections.open", "users.info", "views.open", "chat.postEphemeral", "views.publish"} {
		if !slices.Contains(calls, "/api/"+want) {
			t.Errorf("%s was not called there, only %q", want, calls)
		}
	}
	gov := New(Config{UseCases: m.useCases(), API: "https://slack-gov.com/api/", ClientID: "1.2", URL: func() string { return "https://m.test" }, Pages: address.Of, Now: time.Now})
	defer gov.Close()
	if at := gov.InstallURL("x"); !strings.HasPrefix(at, "https://slack-gov.com/oauth/v2/authorize?") {
		t.Errorf("in GovSlack people consent at %s", at)
	}
	if u, _ := url.Parse("https://hooks.slack-gov.com/commands/1"); !gov.answersAt(u) {
		t.Error("GovSlack gets no answers")
	}
}

// only lets nothing out but to one host.
type only struct {
	next http.RoundTripper
	host string
}

func (o only) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != o.host {
		return nil, fmt.Errorf("%s was called instead of %s", r.URL.Host, o.host)
	}
	return o.next.RoundTrip(r)
}
