package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"muster/app"
	"muster/app/chat"
	"muster/app/cluster"
	"muster/app/template"
	"muster/bot"
	"muster/bot/slack/slacktest"
	"muster/portal/address"
)

// TestARefusedFormIsExplainedInTheLog opens a form that Slack takes not: its own words are in the log.
func TestARefusedFormIsExplainedInTheLog(t *testing.T) {
	r := newRig(t)
	defer r.server.Close()
	var log strings.Builder
	r.server.log = slog.New(slog.NewTextHandler(&log, nil))
	w := chat.Workspace{Kind: kind, Team: "T1", Fixed: true}
	if r.server.dispatcher.open(t.Context(), w, "trigger", bot.Modal{ID: "x", Title: "X", Parts: []bot.Part{{Field: &bot.Field{Name: "y", Kind: bot.FieldText, Label: "Y"}}}}) {
		t.Error("it's said to be open")
	}
	if len(r.hooks.found) != 1 || !strings.Contains(log.String(), "missing, though there are inputs") || !strings.Contains(log.String(), "level=WARN") {
		t.Errorf("the log says %s", log.String())
	}
	r.hooks.found = nil // it was meant
}

const secret = "8f742231b10e8888abcd99yyyzzz85a5"

// fakeApp is an app with one account that notes what it is asked for.
type fakeApp struct {
	unasked
	mu      sync.Mutex
	seen    map[string]bool
	created int
	deleted int
	cards   []chat.Card
	slow    time.Duration
	unwell  bool
	home    *fakeWorkspaces
}

func (m *fakeApp) ChatFirst(_ context.Context, _ string, names ...string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.unwell {
		return false, io.ErrUnexpectedEOF
	}
	first := true
	for _, n := range names {
		first = first && (n == "" || !m.seen[n])
		m.seen[n] = true
	}
	return first, nil
}

func (m *fakeApp) ActorOfIdentity(_ context.Context, kind, external string) (app.Actor, error) {
	if kind != "slack" || external != "T1/U1" {
		return app.Actor{}, &app.Error{Code: app.EUnauthorized, Reason: "not_linked", Message: "You are not linked."}
	}
	return app.Actor{Tenant: "default", User: "ada", Role: app.RoleUser}, nil
}

func (m *fakeApp) Ask(ctx context.Context, _ app.Actor, r cluster.CreateRequest) (cluster.Answer, error) {
	select {
	case <-time.After(m.slow):
	case <-ctx.Done():
		return cluster.Answer{}, ctx.Err()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.created++
	return cluster.Answer{Cluster: &cluster.View{Cluster: app.Cluster{ID: "shop-1", Name: "shop", Tenant: "default", Size: 3},
		Operations: []app.Operation{{ID: 7, Kind: app.OperationCreate}}}}, nil
}

func (m *fakeApp) DeleteCluster(context.Context, app.Actor, string) (cluster.View, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.deleted++
	return cluster.View{Cluster: app.Cluster{ID: "shop-1", Name: "shop", Tenant: "default", Size: 3}, Operations: []app.Operation{{ID: 8, Kind: app.OperationDelete}}}, nil
}

func (m *fakeApp) Catalog(context.Context, app.Actor) (*template.Catalog, error) {
	return &template.Catalog{Templates: map[string]*template.Template{"web": {About: template.About{Name: "web"}, Constraints: template.Constraints{Size: template.SizeRange{Min: 3, Max: 9}}}}}, nil
}

func (m *fakeApp) FollowInChat(_ context.Context, c chat.Card) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cards = append(m.cards, c)
	return nil
}

// hooks is Slack's end for answers that come later, and what it says of people.
type hooks struct {
	mu    sync.Mutex
	posts []map[string]any
	calls []string
	users map[string]string // what users.info says, by id; full members where nothing else is said
	found []slacktest.Violation
}

// judge holds what Slack is sent against its rules.
func (h *hooks) judge(method string, form url.Values, body []byte) []slacktest.Violation {
	var v map[string]any
	if json.Unmarshal(body, &v) != nil {
		v = map[string]any{}
		for k := range form {
			v[k] = form.Get(k)
		}
	}
	for _, k := range []string{"view", "blocks"} {
		if text, ok := v[k].(string); ok {
			var o any
			_ = json.Unmarshal([]byte(text), &o)
			v[k] = o
		}
	}
	if strings.HasPrefix(method, "views.") {
		view, _ := json.Marshal(v["view"])
		return slacktest.CheckView(method, view)
	}
	if v["blocks"] == nil {
		return nil
	}
	message, _ := json.Marshal(map[string]any{"text": v["text"], "blocks": v["blocks"]})
	return slacktest.CheckMessage(method, message)
}

func (h *hooks) RoundTrip(r *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if r.URL.Host == "slack.com" {
		return h.api(r, b), nil
	}
	var v map[string]any
	if err := json.Unmarshal(b, &v); err != nil || r.URL.Host != "hooks.slack.com" || r.Header.Get("Content-Type") != "application/json" {
		return nil, fmt.Errorf("slack was sent %s to %s: %w", b, r.URL.Host, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.posts = append(h.posts, v)
	h.found = append(h.found, h.judge("response_url", nil, b)...)
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("ok")), Header: http.Header{}, Request: r}, nil
}

func (h *hooks) api(r *http.Request, body []byte) *http.Response {
	h.mu.Lock()
	defer h.mu.Unlock()
	method := strings.TrimPrefix(r.URL.Path, "/api/")
	form, _ := url.ParseQuery(string(body))
	h.calls = append(h.calls, method+" "+form.Get("user"))
	answer := `{"ok":true}`
	if found := h.judge(method, form, body); len(found) > 0 {
		h.found = append(h.found, found...)
		messages, _ := json.Marshal(fmt.Sprint("[ERROR] ", found[0]))
		answer = fmt.Sprintf(`{"ok":false,"error":"invalid_arguments","response_metadata":{"messages":[%s]}}`, messages)
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(answer)), Request: r}
	}
	switch method {
	case "auth.test":
		answer = `{"ok":true,"team":"acme","team_id":"T1","user_id":"UBOT"}`
	case "users.info":
		user := firstWord(form.Get("user"), r.URL.Query().Get("user"))
		answer = fmt.Sprintf(`{"ok":true,"user":{"id":%q,"team_id":"T1"%s}}`, user, h.users[user])
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(answer)), Request: r}
}

type rig struct {
	*testing.T
	fakeApp *fakeApp
	hooks   *hooks
	server  *Server
	serial  int
}

func newRig(t *testing.T) *rig {
	r := &rig{T: t, fakeApp: &fakeApp{seen: map[string]bool{}}, hooks: &hooks{}}
	t.Cleanup(func() {
		for _, v := range r.hooks.found {
			t.Errorf("Slack would refuse %s", v)
		}
	})
	r.server = New(Config{UseCases: r.fakeApp.useCases(), Secret: secret, Token: "xoxb-1", Tenant: "default", URL: func() string { return "https://m.test" }, Pages: address.Of,
		Client: &http.Client{Transport: r.hooks}, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	return r
}

// ask builds a request as Slack would.
func (r *rig) ask(path, body string, at time.Time) *http.Request {
	q := httptest.NewRequestWithContext(r.Context(), http.MethodPost, path, strings.NewReader(body))
	ts := strconv.FormatInt(at.Unix(), 10)
	q.Header.Set(headerTime, ts)
	q.Header.Set(headerSignature, sign([]byte(secret), ts, []byte(body)))
	return q
}

func (r *rig) send(q *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r.server.ServeHTTP(w, q)
	if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		r.hooks.found = append(r.hooks.found, r.hooks.judge("response", nil, w.Body.Bytes())...)
	}
	return w
}

func (r *rig) command(user, text string) string {
	r.serial++
	return url.Values{"team_id": {"T1"}, "team_domain": {"acme"}, "user_id": {user}, "user_name": {"ada"}, "command": {"/muster"}, "text": {text},
		"channel_id": {"C1"}, "response_url": {"https://hooks.slack.com/commands/1"}, "trigger_id": {fmt.Sprint(r.serial)}}.Encode()
}

func (r *rig) press(user, value string) string {
	r.serial++
	payload, _ := json.Marshal(map[string]any{"type": "block_actions", "team": map[string]any{"id": "T1", "domain": "acme"}, "user": map[string]any{"id": user, "name": "ada", "team_id": "T1"},
		"channel": map[string]any{"id": "C1"}, "container": map[string]any{"message_ts": "1.2"}, "response_url": "https://hooks.slack.com/actions/1", "trigger_id": fmt.Sprint(r.serial),
		"actions": []map[string]any{{"type": "button", "action_id": "do0", "block_id": "b1", "value": value, "action_ts": fmt.Sprintf("%d.5", 1000+r.serial)}}})
	return url.Values{"payload": {string(payload)}}.Encode()
}

// TestSignatureOfSlacksExample is the one from Slack's documentation.
func TestSignatureOfSlacksExample(t *testing.T) {
	const body = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner" +
		"&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
	if got := sign([]byte(secret), "1531420618", []byte(body)); got != "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503" {
		t.Errorf("it is %s", got)
	}
}

func TestWhoIsHeard(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name   string
		at     time.Time
		change func(r *http.Request)
		status int
	}{
		{"good", now, nil, 200},
		{"a little old", now.Add(-4 * time.Minute), nil, 200},
		{"old", now.Add(-6 * time.Minute), nil, 401},
		{"of the future", now.Add(6 * time.Minute), nil, 401},
		{"without a signature", now, func(r *http.Request) { r.Header.Del(headerSignature) }, 401},
		{"without a time", now, func(r *http.Request) { r.Header.Del(headerTime) }, 401},
		{"with another time", now, func(r *http.Request) { r.Header.Set(headerTime, strconv.FormatInt(now.Unix()+1, 10)) }, 401},
		{"a time that is none", now, func(r *http.Request) { r.Header.Set(headerTime, "9999999999999999999") }, 401},
		{"changed", now, func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader("text=delete")) }, 401},
		{"too large", now, func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader(strings.Repeat("x", bodyLimit+1))) }, 413},
		{"of the wrong version", now, func(r *http.Request) {
			r.Header.Set(headerSignature, "v1"+strings.TrimPrefix(r.Header.Get(headerSignature), "v0"))
		}, 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			defer r.server.Close()
			q := r.ask("/slack/commands", r.command("U1", "create web"), c.at)
			if c.change != nil {
				c.change(q)
			}
			if w := r.send(q); w.Code != c.status {
				t.Errorf("answered %d %s", w.Code, w.Body)
			}
			if want := map[bool]int{true: 1}[c.status == 200]; r.fakeApp.created != want {
				t.Errorf("%d clusters were made", r.fakeApp.created)
			}
		})
	}
}

func TestNothingIsDoneTwice(t *testing.T) {
	r := newRig(t)
	body := r.command("U1", "create web")
	if w := r.send(r.ask("/slack/commands", body, time.Now())); !strings.Contains(w.Body.String(), "shop: creating") {
		t.Errorf("answered %d %s", w.Code, w.Body)
	}
	retry := r.ask("/slack/commands", body, time.Now().Add(time.Second)) // signed again
	retry.Header.Set("X-Slack-Retry-Num", "1")
	for _, q := range []*http.Request{r.ask("/slack/commands", body, time.Now()), retry} {
		if w := r.send(q); w.Code != 200 || w.Body.Len() != 0 {
			t.Errorf("again it answers %d %s", w.Code, w.Body)
		}
	}
	value := `{"do":"delete","cluster":"shop-1"}`
	for i := range 3 {
		if w := r.send(r.ask("/slack/actions", r.press("U1", value), time.Now().Add(time.Duration(i)*time.Second))); w.Code != 200 {
			t.Errorf("a click answers %d %s", w.Code, w.Body)
		}
	}
	r.fakeApp.unwell = true
	if w := r.send(r.ask("/slack/commands", r.command("U1", "create web"), time.Now())); w.Code != 503 {
		t.Errorf("without a memory it answers %d", w.Code)
	}
	_ = r.server.Close()
	if r.fakeApp.created != 1 || r.fakeApp.deleted != 1 || len(r.fakeApp.cards) != 2 || r.fakeApp.cards[0].Operation != 7 || r.fakeApp.cards[1].Operation != 8 {
		t.Errorf("%d made, %d deleted, cards %+v", r.fakeApp.created, r.fakeApp.deleted, r.fakeApp.cards)
	}
	if len(r.hooks.posts) != 1 || r.hooks.posts[0]["replace_original"] != true {
		t.Errorf("Slack was told %v", r.hooks.posts)
	}
	r.fakeApp.unwell = false
	if w := r.send(r.ask("/slack/commands", r.command("U1", "help"), time.Now())); !strings.Contains(w.Body.String(), "Muster is busy") {
		t.Errorf("a server that has ended answers %s", w.Body)
	}
}

func TestStrangers(t *testing.T) {
	r := newRig(t)
	defer r.server.Close()
	if w := r.send(r.ask("/slack/commands", r.command("U2", "create web"), time.Now())); !strings.Contains(w.Body.String(), "/muster link") {
		t.Errorf("a stranger is answered %s", w.Body)
	}
	if w := r.send(r.ask("/slack/commands", "text=create+web", time.Now())); w.Code != 400 {
		t.Errorf("no user is answered %d", w.Code)
	}
	foreign := strings.Replace(r.press("U1", `{"do":"delete","cluster":"shop-1"}`), "team_id%22%3A%22T1", "team_id%22%3A%22T9", 1)
	if w := r.send(r.ask("/slack/actions", foreign, time.Now())); w.Code != 403 {
		t.Errorf("a user of another workspace is answered %d", w.Code)
	}
	for _, payload := range []string{"", "payload=", "payload={", "payload=null", "payload=%7B%22type%22%3A%22block_actions%22%2C%22actions%22%3A%5Bnull%5D%7D"} {
		if w := r.send(r.ask("/slack/actions", payload, time.Now())); w.Code >= 500 {
			t.Errorf("%q is answered %d", payload, w.Code)
		}
	}
	if r.fakeApp.created+r.fakeApp.deleted != 0 {
		t.Error("it was done all the same")
	}
}

func TestSlowAnswersComeLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.fakeApp.slow = 10 * time.Second
		began := time.Now()
		w := r.send(r.ask("/slack/commands", r.command("U1", "create web"), time.Now()))
		if d := time.Since(began); d >= 3*time.Second || w.Code != 200 || !strings.Contains(w.Body.String(), "One moment") {
			t.Errorf("after %s it answers %d %s", d, w.Code, w.Body)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if text := fmt.Sprint(r.hooks.posts); len(r.hooks.posts) != 1 || !strings.Contains(text, "shop: creating") || r.hooks.posts[0]["response_type"] != "ephemeral" {
			t.Errorf("Slack was told %s", text)
		}
		// An address that is not Slack's gets nothing.
		r.server.dispatcher.post("https://evil.example/commands/1", busy, false)
		if len(r.hooks.posts) != 1 {
			t.Error("an answer went elsewhere")
		}
		_ = r.server.Close()
		_ = r.server.Close()
	})
}

func TestEvents(t *testing.T) {
	r := newRig(t)
	defer r.server.Close()
	send := func(body string, status int) string {
		t.Helper()
		w := r.send(r.ask("/slack/events", body, time.Now()))
		if w.Code != status {
			t.Errorf("%.60s is answered %d %s", body, w.Code, w.Body)
		}
		return w.Body.String()
	}
	if got := send(`{"type":"url_verification","challenge":"a challenge"}`, 200); !strings.Contains(got, `"a challenge"`) {
		t.Errorf("the challenge is answered %s", got)
	}
	forged := r.ask("/slack/events", `{"type":"url_verification","challenge":"x"}`, time.Now())
	forged.Header.Set(headerSignature, "v0=00")
	if w := r.send(forged); w.Code != 401 || strings.Contains(w.Body.String(), "x\"") {
		t.Errorf("a forged challenge is answered %d %s", w.Code, w.Body)
	}
	send(`{`, 400)
	for _, odd := range []string{`{}`, `null`, `[]`, `{"type":"event_callback"}`, `{"type":"event_callback","team_id":"T9","event":{"type":"message"}}`,
		`{"type":"event_callback","team_id":"T9","event":{"type":"user_change","user":7}}`, `{"type":"event_callback","team_id":"T9","event":{"type":"tokens_revoked","tokens":{"oauth":["U1"]}}}`} {
		if w := r.send(r.ask("/slack/events", odd, time.Now())); w.Code >= 500 {
			t.Errorf("%s is answered %d", odd, w.Code)
		}
	}
	// What could not be carried out is asked for again, and then done; twice does no harm.
	gone := `{"type":"event_callback","team_id":"T7","event_id":"Ev7","event":{"type":"app_uninstalled"}}`
	r.fakeApp.unwell = true
	send(gone, 503)
	r.fakeApp.unwell = false
	send(gone, 200)
	send(gone, 200)
	if h := r.fakeApp.fakeWorkspaces(); len(h.gone) != 2 || h.gone[0] != "T7" {
		t.Errorf("gone are %v", h.gone)
	}
	// The token of a setting is no one's to take.
	_ = r.send(r.ask("/slack/commands", r.command("U1", "help"), time.Now()))
	send(`{"type":"event_callback","team_id":"T1","event_id":"Ev8","event":{"type":"app_uninstalled"}}`, 200)
	if h := r.fakeApp.fakeWorkspaces(); len(h.gone) != 2 {
		t.Errorf("gone are %v", h.gone)
	}
}
