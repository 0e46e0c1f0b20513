package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/app"
)

// workspace is Slack, as far as a server speaks to it.
type workspace struct {
	mu     sync.Mutex
	posts  int
	cards  map[string][]string // by message, what it said one after the other
	told   []string            // through response addresses
	serial int
}

func (s *workspace) RoundTrip(r *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := `{"ok":false,"error":"unknown_method"}`
	switch form, _ := url.ParseQuery(string(b)); {
	case r.URL.Host == "hooks.slack.com":
		s.told = append(s.told, string(b))
		answer = "ok"
	case r.Header.Get("Authorization") != "Bearer xoxb-story" && form.Get("token") != "xoxb-story":
		answer = `{"ok":false,"error":"invalid_auth"}`
	case strings.HasSuffix(r.URL.Path, "/chat.postMessage"):
		s.posts++
		ts := fmt.Sprintf("17000000%02d.0001", s.posts)
		s.cards[ts] = append(s.cards[ts], form.Get("text"))
		answer = fmt.Sprintf(`{"ok":true,"channel":%q,"ts":%q}`, form.Get("channel"), ts)
	case strings.HasSuffix(r.URL.Path, "/chat.update"):
		ts := form.Get("ts")
		if len(s.cards[ts]) == 0 || form.Get("channel") != "C1" {
			answer = `{"ok":false,"error":"message_not_found"}`
			break
		}
		s.cards[ts] = append(s.cards[ts], form.Get("text"))
		answer = fmt.Sprintf(`{"ok":true,"channel":"C1","ts":%q}`, ts)
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
}

// last is what a card says now.
func (s *workspace) last(ts string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if all := s.cards[ts]; len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

const slackSecret = "the secret by which slack signs"

// send signs a form and gives what the server answers.
func (s *workspace) send(t *testing.T, at, path string, form url.Values) string {
	t.Helper()
	body, now := form.Encode(), strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(slackSecret))
	fmt.Fprintf(mac, "v0:%s:%s", now, body)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Slack-Request-Timestamp", now)
	r.Header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%d %s, %v", resp.StatusCode, b, err)
	}
	return string(b)
}

func (s *workspace) say(t *testing.T, at, text string) string {
	t.Helper()
	s.serial++
	return s.send(t, at, "/slack/commands", url.Values{"team_id": {"T1"}, "team_domain": {"acme"}, "user_id": {"U1"}, "user_name": {"ada"}, "channel_id": {"C1"},
		"command": {"/muster"}, "text": {text}, "trigger_id": {strconv.Itoa(s.serial)}, "response_url": {"https://hooks.slack.com/commands/1"}})
}

// button finds what stands behind the first button of an answer that has a link or a value.
func button(t *testing.T, answer, field string) string {
	t.Helper()
	var a struct {
		Blocks []struct{ Elements []map[string]any }
	}
	if err := json.Unmarshal([]byte(answer), &a); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	for _, b := range a.Blocks {
		for _, e := range b.Elements {
			if v, _ := e[field].(string); v != "" {
				return v
			}
		}
	}
	t.Fatalf("no button with a %s in %s", field, answer)
	return ""
}

func TestSlackStory(t *testing.T) {
	slack := &workspace{cards: map[string][]string{}}
	w := newTown(t, "", func(c *serverConfig) {
		c.Workers, c.TLS, c.Password = 4, tlsConfig{}, "a password for stories"
		c.Slack = slackConfig{Secret: slackSecret, Token: "xoxb-story", Tenant: app.DefaultTenant, Client: &http.Client{Transport: slack}}
	})
	at := w.server.URL
	wait := func(what string, done func() bool) {
		t.Helper()
		for deadline := time.Now().Add(60 * time.Second); !done(); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s; the cards say %v, and people were told %v", what, slack.cards, slack.told)
			}
		}
	}
	if got := slack.say(t, at, "create web slow 2 for 2h"); !strings.Contains(got, "/muster link") {
		t.Fatalf("a stranger is answered %s", got)
	}
	// Whoever opens the link and proves who they are is who asks from then on.
	_, token, _ := strings.Cut(button(t, slack.say(t, at, "link"), "url"), "token=")
	session, err := w.server.app.SignIn(t.Context(), app.DefaultTenant, "admin", "a password for stories", app.Visit{})
	if err != nil {
		t.Fatal(err)
	}
	admin, err := w.server.app.ActorOfSession(t.Context(), session.ID, app.Visit{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.server.app.ConfirmLink(t.Context(), admin, token); err != nil {
		t.Fatal(err)
	}
	if got := slack.say(t, at, "create web slow 2 for 2h"); !strings.Contains(got, "web: creating") && !strings.Contains(got, "One moment") {
		t.Fatalf("a create is answered %s", got)
	}
	const first, second = "1700000001.0001", "1700000002.0001"
	wait("the card does not say that it is active", func() bool { return slack.last(first) == "web is active" })
	if got := slack.say(t, at, "status web"); !strings.Contains(got, "web is active") || !strings.Contains(got, "2 nodes") {
		t.Errorf("the status is %s", got)
	}
	if got := slack.say(t, at, "create web slow"); !strings.Contains(got, "That did not work") {
		t.Errorf("a name that is taken is answered %s", got)
	}
	value := button(t, slack.say(t, at, "delete web"), "value")
	payload, _ := json.Marshal(map[string]any{"type": "block_actions", "team": map[string]any{"id": "T1"}, "user": map[string]any{"id": "U1", "team_id": "T1"},
		"channel": map[string]any{"id": "C1"}, "container": map[string]any{"message_ts": "1.1"}, "response_url": "https://hooks.slack.com/actions/1",
		"actions": []map[string]any{{"type": "button", "block_id": "b", "action_id": "do0", "value": value}}})
	for range 2 { // a double click
		slack.send(t, at, "/slack/actions", url.Values{"payload": {string(payload)}})
	}
	wait("the card does not say that it is gone", func() bool { return slack.last(second) == "web is gone" })
	if slack.posts != 2 || len(slack.told) != 1 {
		t.Errorf("%d cards, and people were told %v", slack.posts, slack.told)
	}
	if left, err := w.server.app.ChatCards(t.Context(), "slack"); err != nil || len(left) != 0 {
		t.Errorf("cards that are done with are kept: %+v, %v", left, err)
	}
	// All of it stands in the audit, with the face through which it was asked for.
	deeds, _, err := w.server.app.Audit(t.Context(), admin, app.AuditFilter{Limit: 50})
	if err != nil || !strings.Contains(fmt.Sprint(deeds), "slack") {
		t.Errorf("the audit says %+v, %v", deeds, err)
	}
}

func TestSlackSettings(t *testing.T) {
	env := func(pairs ...string) func(string) (string, bool) {
		return func(name string) (string, bool) {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1], true
				}
			}
			return "", false
		}
	}
	if c, err := readSlack(env()); err != nil || c != (slackConfig{}) {
		t.Errorf("without settings: %+v, %v", c, err)
	}
	if c, err := readSlack(env("SLACK_SIGNING_SECRET", "s", "SLACK_BOT_TOKEN", "xoxb-1")); err != nil || c.Tenant != app.DefaultTenant {
		t.Errorf("with both: %+v, %v", c, err)
	}
	for _, bad := range [][]string{{"SLACK_SIGNING_SECRET", "s"}, {"SLACK_BOT_TOKEN", "xoxb-1"}, {"SLACK_SIGNING_SECRET", "s", "SLACK_BOT_TOKEN", "xapp-1"}} {
		if _, err := readSlack(env(bad...)); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
}
