package slacktest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
)

// ours is an app that does what a test says.
type ours struct {
	*testing.T
	s     *Slack
	w     *Workspace
	mu    sync.Mutex
	heard []*http.Request
	texts []string
	do    func(form url.Values) (int, string)
}

func (o *ours) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(b))
	o.mu.Lock()
	o.heard, o.texts = append(o.heard, r), append(o.texts, string(b))
	do := o.do
	o.mu.Unlock()
	status, body := http.StatusOK, ""
	if do != nil {
		status, body = do(form)
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

func (o *ours) will(do func(form url.Values) (int, string)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.do = do
}

func (o *ours) count() int { o.mu.Lock(); defer o.mu.Unlock(); return len(o.heard) }

func newOurs(t *testing.T, change ...func(*Config)) *ours {
	o := &ours{T: t}
	c := Config{ClientID: "id", ClientSecret: "secret", SigningSecret: "s", AppToken: "xapp-1", Base: "http://app", CommandPath: "/c", ActionPath: "/a", OptionsPath: "/o", EventsPath: "/e", Client: To(o)}
	for _, f := range change {
		f(&c)
	}
	o.s = New(t, c)
	o.w = o.s.Workspace("T1").Install("xoxb-1")
	return o
}

// call calls the API as an app does, and returns the answer and its status.
func (o *ours) call(method string, args ...string) (object, int) {
	o.Helper()
	form := url.Values{}
	for i := 0; i < len(args); i += 2 {
		form.Set(args[i], args[i+1])
	}
	r, err := http.NewRequestWithContext(o.Context(), http.MethodPost, "https://slack.com/api/"+method, strings.NewReader(form.Encode()))
	if err != nil {
		o.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if form.Get("token") == "" && !strings.HasPrefix(method, "oauth") && method != "api.test" {
		r.Header.Set("Authorization", "Bearer xoxb-1")
	}
	resp, err := o.s.HTTP().Do(r)
	if err != nil {
		return object{"error": err.Error()}, 0
	}
	defer resp.Body.Close()
	var v object
	_ = json.NewDecoder(resp.Body).Decode(&v)
	return v, resp.StatusCode
}

func (o *ours) post(address, body string) int {
	o.Helper()
	r, err := http.NewRequestWithContext(o.Context(), http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		o.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := o.s.HTTP().Do(r)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// want says that a rule was broken so often, and that nothing else was.
func (o *ours) want(rule string, n int) {
	o.Helper()
	if got := o.s.Broken(rule); len(got) != n {
		o.Errorf("%s was broken %d times instead of %d: %v", rule, len(got), n, got)
	}
	o.s.Expect(rule)
	if left := o.s.Violations(); len(left) > 0 {
		o.Errorf("and %v", left)
	}
}

func text(v any) string { b, _ := json.Marshal(v); return string(b) }

func TestRatesOfMethodsAndChannels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOurs(t)
		ops := o.w.Channel("ops")
		var ts string
		for i := range 5 {
			answer, status := o.call("chat.postMessage", "channel", ops.ID, "text", strconv.Itoa(i))
			if want := map[bool]int{true: 200, false: 429}[i < channelBurst]; i <= channelBurst && status != want {
				t.Fatalf("message %d is answered %d %v", i, status, answer)
			}
			if i == 0 {
				ts = str(answer["ts"])
			}
		}
		o.s.Expect("retry_after")
		o.want("rate.channel", 1)
		o.want("retry_after", 1) // the last one came before Retry-After was over
		time.Sleep(time.Second)
		for range 30 {
			if _, status := o.call("chat.postMessage", "channel", ops.ID, "text", "x"); status != 200 {
				t.Fatalf("one a second is answered %d", status)
			}
			time.Sleep(time.Second)
		}
		for i := range tierThree {
			if answer, _ := o.call("chat.update", "channel", ops.ID, "ts", ts, "text", strconv.Itoa(i)); answer["ok"] != true {
				t.Fatalf("%d: %v", i, answer)
			}
		}
		if _, status := o.call("chat.update", "channel", ops.ID, "ts", ts, "text", "too many"); status != 429 {
			t.Errorf("call 51 of a minute is answered %d", status)
		}
		o.want("rate", 1)
		time.Sleep(time.Minute)
		o.s.Fail("chat.update", Fault{RetryAfter: 30 * time.Second}, Fault{Status: 500}, Fault{Error: "fatal_error"}, Fault{Lose: true})
		update := func() (object, int) { return o.call("chat.update", "channel", ops.ID, "ts", ts, "text", "later") }
		_, limited := update()
		time.Sleep(30 * time.Second)
		_, broken := update()
		answer, _ := update()
		_, gone := update()
		if limited != 429 || broken != 500 || answer["error"] != "fatal_error" || gone != 0 || ops.messages[0].Text() != "later" {
			t.Errorf("faults: %d %d %v %d %q", limited, broken, answer, gone, ops.messages[0].Text())
		}
		if calls := o.s.Calls(); calls[len(calls)-1].Method != "chat.update" || calls[0].Channel != ops.ID {
			t.Errorf("noted: %+v", calls[len(calls)-1])
		}
	})
}

func TestWhereMessagesMayGo(t *testing.T) {
	o := newOurs(t, func(c *Config) { c.Scopes = []string{"chat:write", "users:read"} })
	ada, ops := o.w.User("ada"), o.w.Channel("ops")
	for channel, want := range map[string]string{"C999": "channel_not_found", o.w.Channel("away").kick().ID: "not_in_channel", o.w.Channel("old").archive().ID: "is_archived",
		o.w.Channel("secret").Private().kick().ID: "channel_not_found", o.w.User("robot").Robot().ID: "cannot_dm_bot", o.w.User("eve").Stranger("T9").ID: "channel_not_found"} {
		if answer, _ := o.call("chat.postMessage", "channel", channel, "text", "x"); answer["error"] != want {
			t.Errorf("%s is answered %v instead of %s", channel, answer, want)
		}
	}
	answer, _ := o.call("chat.postMessage", "channel", ada.ID, "text", "hello")
	if answer["channel"] != ada.Direct().ID || !ada.Direct().Messages()[0].Says("hello") {
		t.Errorf("a message to a person is answered %v", answer)
	}
	o.call("chat.update", "channel", ada.ID, "ts", str(answer["ts"]), "text", "x")
	o.want("channel", 1)
	if answer, _ := o.call("chat.postMessage", "channel", ops.ID, "text", "x", "thread_ts", "1.1"); answer["error"] != "thread_not_found" {
		t.Errorf("below nothing: %v", answer)
	}
	o.call("chat.postMessage", "channel", o.w.Channel("b").ID, "text", "x", "metadata", `{"event_type":"No Name","event_payload":{}}`)
	o.want("metadata", 1)
	if answer, _ := o.call("users.info", "user", "U999"); answer["error"] != "user_not_found" {
		t.Errorf("no user: %v", answer)
	}
	for _, u := range []*User{o.w.User("guest").Guest(), o.w.User("robot"), o.w.User("eve"), ada} {
		answer, _ := o.call("users.info", "user", u.ID)
		p, _ := answer["user"].(object)
		if p["is_restricted"] != u.guest || p["is_bot"] != u.bot || p["team_id"] != u.home || p["is_stranger"] != u.stranger || text(p["profile"]) == "" || strings.Contains(text(p), "@example.org") {
			t.Errorf("%s is %v", u.Name, p)
		}
	}
	o.call("conversations.open", "users", ada.ID)
	o.want("scope", 1)
	o.call("chat.meow")
	o.want("unknown_method", 1)
	o.call("chat.postMessage", "channel", o.w.Channel("b").ID, "text", "x", "blocks", "{")
	o.want("json", 1)
	o.call("chat.postMessage", "channel", o.w.Channel("b").ID, "text", "x", "blocks", text([]any{object{"type": "banner"}}))
	o.want("block.type", 1)
	for token, want := range map[string]string{"xoxb-9": "invalid_auth", "xapp-1": "invalid_auth"} {
		if answer, _ := o.call("auth.test", "token", token); answer["error"] != want {
			t.Errorf("the token %s is answered %v", token, answer)
		}
	}
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://slack.com/api/auth.test", nil)
	_, _ = o.s.HTTP().Do(r)
	o.want("token", 1)
	r, _ = http.NewRequestWithContext(t.Context(), http.MethodGet, "https://evil.example/", nil)
	if _, err := o.s.HTTP().Do(r); err == nil {
		t.Error("another host answers")
	}
	o.want("host", 1)
	r, _ = http.NewRequestWithContext(t.Context(), http.MethodGet, "https://slack.com/api/chat.delete?token=xoxb-1", nil)
	_, _ = o.s.HTTP().Do(r)
	o.want("request", 1)
	o.call("chat.postMessage", "channel", ops.ID, "text", "\xff")
	if o.post("https://hooks.slack.com/commands/T1/r1", "\xff") != 400 {
		t.Error("bytes that are no text are taken")
	}
	o.want("utf8", 1)
	o.call("chat.postMessage", "channel", o.w.Channel("b").ID, "text", many(maxCallSize))
	o.s.Expect("message.text")
	o.want("size", 1)
}

func TestTriggersAndModals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOurs(t)
		ada, ops := o.w.User("ada"), o.w.Channel("ops")
		var trigger string
		o.do = func(form url.Values) (int, string) { trigger = form.Get("trigger_id"); return 200, "" }
		open := func(view object) object {
			answer, _ := o.call("views.open", "trigger_id", trigger, "view", text(view))
			return answer
		}
		ada.In(ops).Says("/muster create")
		if answer := open(modal(nil)); answer["ok"] != true || ada.Modal("Name").Text() == "" {
			t.Fatalf("a modal is answered %v", answer)
		}
		if answer := open(modal(nil)); answer["error"] != "exchanged_trigger_id" {
			t.Errorf("again: %v", answer)
		}
		o.want("trigger.used", 1)
		ada.In(ops).Says("/muster create")
		time.Sleep(triggerLife + time.Second)
		if answer := open(modal(nil)); answer["error"] != "expired_trigger_id" {
			t.Errorf("later: %v", answer)
		}
		o.want("trigger.late", 1)
		trigger = "none"
		open(modal(nil))
		o.want("trigger", 1)
		ada.In(ops).Says("/muster create")
		o.call("views.open", "trigger_id", trigger)
		o.want("view", 1)
		ada.In(ops).Says("/muster create")
		open(modal(object{"external_id": "one"}))
		ada.In(ops).Says("/muster create")
		open(modal(object{"external_id": "one"}))
		o.s.Broken("view.external_id")
		o.want("view.external_id", 1)
		v := ada.Modal()
		if r := v.Submit(); r.Errors["Name"] != "must be filled" {
			t.Errorf("an empty field: %v", r.Errors)
		}
		id := str(v.body["blocks"].([]any)[0].(object)["block_id"])
		for answer, rule := range map[string]string{`{"response_action":"dance"}`: "response_action", `{"response_action":"errors","errors":{"x":"y"}}`: "response_action", "no": "response_action",
			`{"response_action":"update","view":{"type":"home"}}`: "view.title", `{"response_action":"update","view":{"type":"modal","title":{"type":"plain_text","text":"x"},"blocks":[]}}`: "view.blocks"} {
			before := len(o.s.Broken(rule))
			o.do = func(url.Values) (int, string) { return 200, answer }
			v.Fill("Name", "shop").Submit()
			if len(o.s.Broken(rule)) <= before && len(o.s.Broken("view.type")) == 0 {
				t.Errorf("the answer %s is taken", answer)
			}
		}
		o.s.Expect("response_action", "view.blocks", "view.type")
		o.do = func(url.Values) (int, string) {
			return 200, text(object{"response_action": "errors", "errors": object{id: "taken"}})
		}
		if r := v.Submit(); r.Errors["Name"] != "taken" || ada.Modals() != 1 {
			t.Errorf("refused: %v", r.Errors)
		}
		for range maxViewStack {
			o.do = func(url.Values) (int, string) {
				return 200, text(object{"response_action": "push", "view": modal(nil)})
			}
			ada.Modal().Fill("Name", "shop").Submit()
		}
		if ada.Modals() != maxViewStack {
			t.Errorf("%d modals", ada.Modals())
		}
		o.want("view.stack", 1)
		if answer, _ := o.call("views.update", "view_id", v.ID, "hash", "old", "view", text(modal(nil))); answer["error"] != "hash_conflict" {
			t.Errorf("an old hash: %v", answer)
		}
		if answer, _ := o.call("views.update", "view_id", v.ID, "view", text(modal(object{"title": plain("Newer")}))); answer["ok"] != true || !v.Says("Newer") {
			t.Errorf("updated: %v", answer)
		}
		if answer, _ := o.call("views.publish", "user_id", ada.ID, "view", text(object{"type": "home", "blocks": []any{object{"type": "header", "text": plain("Mine")}}})); answer["ok"] != true || !ada.homeView.Says("Mine") {
			t.Errorf("a home: %v", answer)
		}
		o.do = nil
		ada.Modal().Submit()
		if ada.Modals() != maxViewStack-1 {
			t.Error("what was taken stays open")
		}
		v.Cancel()
		if ada.Modals() != 0 {
			t.Error("what was closed stays open")
		}
	})
}

func TestLateAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOurs(t)
		ada, ops := o.w.User("ada"), o.w.Channel("ops")
		var address string
		o.do = func(form url.Values) (int, string) {
			address = form.Get("response_url")
			return 200, `{"text":"One moment"}`
		}
		r := ada.In(ops).Says("/muster list")
		r.Answer("One moment")
		for range responseUses {
			if status := o.post(address, `{"text":"done"}`); status != 200 {
				t.Fatalf("answered %d", status)
			}
		}
		r.Answer("done")
		o.post(address, `{"text":"done"}`)
		o.want("response.uses", 1)
		ada.In(ops).Says("/muster list")
		time.Sleep(responseLife + time.Second)
		o.post(address, `{"text":"done"}`)
		o.want("response.late", 1)
		o.post("https://hooks.slack.com/commands/T1/r9/x", `{"text":"done"}`)
		o.want("response", 1)
		if len(ops.Messages()) != 0 || len(ops.Ephemeral(ada)) != responseUses+2 {
			t.Errorf("everyone sees %d, ada %d", len(ops.Messages()), len(ops.Ephemeral(ada)))
		}
		o.call("chat.postMessage", "channel", ops.ID, "text", "card", "blocks", text([]any{actions(button(object{"value": "v"}), button(object{"action_id": "u", "text": plain("Open"), "url": "https://m.test"}))}))
		o.do = func(form url.Values) (int, string) {
			var p object
			_ = json.Unmarshal([]byte(form.Get("payload")), &p)
			address = str(p["response_url"])
			return 200, ""
		}
		m := ops.Card("Go")
		if m.Link("Open") != "https://m.test" || !slices.Equal(m.Buttons(), []string{"Go", "Open"}) {
			t.Errorf("buttons %v", m.Buttons())
		}
		press := ada.Press(m, "Go")
		o.post(address, `{"text":"gone","replace_original":true}`)
		if press.Answer("gone") != m || m.Edits() != 1 {
			t.Errorf("the card says %v", m.States())
		}
	})
}

func TestLateAndFailedDeliveries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOurs(t)
		ada, ops := o.w.User("ada"), o.w.Channel("ops")
		o.will(func(url.Values) (int, string) { time.Sleep(4 * time.Second); return 200, "" })
		ada.In(ops).Says("/muster list")
		o.want("late", 1)
		o.will(func(url.Values) (int, string) { return 500, "" })
		ada.In(ops).Says("/muster list")
		o.want("status", 1)
		began, n := time.Now(), o.count()
		o.w.Event(object{"type": "app_home_opened", "user": ada.ID})
		time.Sleep(time.Second)
		if got := o.count() - n; got != 2 { // at once, and at once again
			t.Errorf("told %d times", got)
		}
		time.Sleep(time.Minute)
		o.will(nil)
		time.Sleep(10 * time.Minute)
		if got := o.count() - n; got != 4 || time.Since(began) < 5*time.Minute {
			t.Errorf("told %d times", got)
		}
		for i, r := range o.heard[n:] {
			if num := r.Header.Get("X-Slack-Retry-Num"); i > 0 && (num != strconv.Itoa(i) || r.Header.Get("X-Slack-Retry-Reason") != "http_error") || i == 0 && num != "" {
				t.Errorf("try %d is called %q %q", i, num, r.Header.Get("X-Slack-Retry-Reason"))
			}
		}
		if o.texts[n] != o.texts[n+3] {
			t.Error("another body")
		}
		o.s.Cut()
		n = o.count()
		o.w.Event(object{"type": "app_uninstalled"})
		if _, status := o.call("auth.test"); status != 0 {
			t.Error("the API answers without a connection")
		}
		time.Sleep(30 * time.Second)
		o.s.Restore()
		time.Sleep(time.Minute)
		if o.count() != n+1 {
			t.Errorf("what was not to be told was told %d times", o.count()-n)
		}
		o.s.c.Client = To(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
		o.s.c.Client.Transport = broken5{}
		ada.In(ops).Says("/muster list")
		o.want("unreachable", 1)
	})
}

type broken5 struct{}

func (broken5) RoundTrip(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

func TestTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOurs(t, func(c *Config) { c.Scopes = []string{"chat:write"} })
		w := o.s.Workspace("T2")
		ada := w.User("ada")
		access := func(args ...string) object {
			answer, _ := o.call("oauth.v2.access", append([]string{"client_id", "id", "client_secret", "secret"}, args...)...)
			return answer
		}
		code := ada.Consent("id", "chat:write", "https://m.test/slack/back")
		if answer := access("code", code, "redirect_uri", "https://evil.example"); answer["error"] != "bad_redirect_uri" {
			t.Errorf("another address: %v", answer)
		}
		first := access("code", code, "redirect_uri", "https://m.test/slack/back")
		if first["ok"] != true || first["expires_in"] != 43200.0 || text(first["team"]) != `{"id":"T2","name":"t2"}` {
			t.Fatalf("a code returns %v", first)
		}
		access("code", code, "redirect_uri", "https://m.test/slack/back")
		o.want("oauth.code", 1)
		ada.Consent("other", "admin", "")
		o.s.Expect("oauth.scope")
		o.want("oauth.client_id", 1)
		token := str(first["access_token"])
		time.Sleep(tokenLife + time.Second)
		if answer, _ := o.call("auth.test", "token", token); answer["error"] != "token_expired" {
			t.Errorf("an old token: %v", answer)
		}
		second := access("grant_type", "refresh_token", "refresh_token", str(first["refresh_token"]))
		if answer, _ := o.call("auth.test", "token", str(second["access_token"])); answer["team_id"] != "T2" {
			t.Errorf("a new token: %v", answer)
		}
		access("grant_type", "refresh_token", "refresh_token", str(first["refresh_token"]))
		o.want("oauth.refresh", 1)
		w.Uninstall()
		if answer, _ := o.call("auth.test", "token", str(second["access_token"])); answer["error"] != "token_revoked" || o.count() != 2 {
			t.Errorf("after the end: %v, told %d", answer, o.count())
		}
	})
}

func TestHistory(t *testing.T) {
	o := newOurs(t)
	ops := o.w.Channel("ops")
	o.call("chat.postMessage", "channel", ops.ID, "text", "one")
	o.call("chat.postMessage", "channel", ops.ID, "text", "two", "metadata", `{"event_type":"muster","event_payload":{"key":"k"}}`)
	answer, _ := o.call("conversations.history", "channel", ops.ID, "include_all_metadata", "true", "limit", "10")
	found := list(answer["messages"])
	if len(found) != 2 || !strings.Contains(text(found[0]), `"key":"k"`) || str(found[1].(object)["text"]) != "one" {
		t.Errorf("the history is %v", answer)
	}
	if answer, _ := o.call("conversations.history", "channel", o.w.Channel("away").kick().ID); answer["error"] != "not_in_channel" {
		t.Errorf("elsewhere: %v", answer)
	}
}

func TestUnfurls(t *testing.T) {
	o := newOurs(t)
	ada, ops := o.w.User("ada"), o.w.Channel("ops")
	m := ada.In(ops).Shares("m.test", "https://m.test/clusters/1")
	unfurls := func(link string, blocks ...any) object {
		answer, _ := o.call("chat.unfurl", "channel", ops.ID, "ts", m.TS, "unfurls", text(object{link: object{"blocks": blocks}}))
		return answer
	}
	if answer := unfurls("https://m.test/clusters/1", object{"type": "section", "text": plain("shop")}); answer["ok"] != true || m.Unfurled("https://m.test/clusters/1") != "shop" {
		t.Errorf("answered %v", answer)
	}
	unfurls("https://m.test/other", object{"type": "divider"})
	o.want("unfurl.url", 1)
	unfurls("https://m.test/clusters/1")
	o.want("unfurl.blocks", 1)
}

// dial opens a websocket as an app does.
func (o *ours) dial() *websocket.Conn {
	o.Helper()
	answer, _ := o.call("apps.connections.open", "token", "xapp-1")
	conn, _, err := o.s.Dialer().DialContext(o.Context(), str(answer["url"]), nil)
	if err != nil {
		o.Fatal(err)
	}
	var hello object
	if err := conn.ReadJSON(&hello); err != nil || hello["type"] != "hello" {
		o.Fatalf("%v %v", hello, err)
	}
	return conn
}

func TestSockets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOurs(t, func(c *Config) { c.Socket, c.Piped = true, true })
		ada, ops := o.w.User("ada"), o.w.Channel("ops")
		if r := ada.In(ops).Says("/muster list"); r.Outcome.ok() {
			t.Error("sent to no one")
		}
		o.want("unreachable", 1)
		conn := o.dial()
		var writing sync.Mutex
		say := func(v object) { writing.Lock(); defer writing.Unlock(); _ = conn.WriteJSON(v) }
		ack := func(answer object) (got object) {
			if err := conn.ReadJSON(&got); err != nil {
				t.Error(err)
				return got
			}
			if answer == nil {
				answer = object{}
			}
			answer["envelope_id"] = got["envelope_id"]
			say(answer)
			return got
		}
		go ack(object{"payload": object{"text": "none"}})
		ada.In(ops).Says("/muster list").Answer("none")
		go ack(object{"payload": object{"text": "none"}})
		o.w.Event(object{"type": "app_home_opened"})
		synctest.Wait()
		o.want("ack.payload", 1)
		go ack(object{"payload": object{"text": many(maxAckBytes)}})
		ada.In(ops).Says("/muster list")
		o.s.Expect("late")
		o.want("ack.size", 1)
		go func() { id := ack(nil)["envelope_id"]; say(object{"envelope_id": id}) }()
		ada.In(ops).Says("/muster list")
		synctest.Wait()
		o.want("ack.twice", 1)
		say(object{"envelope_id": "none"})
		synctest.Wait()
		o.want("ack", 1)
		// What was not acknowledged by a connection that is lost comes over another.
		other := o.dial()
		go func() {
			var got object
			_ = conn.ReadJSON(&got)
			_ = conn.Close()
		}()
		notified := make(chan object, 2)
		go func() {
			for {
				var got object
				if other.ReadJSON(&got) != nil {
					return
				}
				notified <- got
				_ = other.WriteJSON(object{"envelope_id": got["envelope_id"]})
			}
		}()
		for range 2 {
			o.w.Event(object{"type": "app_home_opened"})
			<-notified
		}
		synctest.Wait()
		if now, ever := o.s.Sockets(); now != 1 || ever != 2 {
			t.Errorf("%d of %d connections", now, ever)
		}
		o.s.Warn()
		o.s.Refresh()
		if a, b := <-notified, <-notified; a["reason"] != "warning" || b["reason"] != "refresh_requested" {
			t.Errorf("told %v %v", a, b)
		}
		synctest.Wait()
		time.Sleep(2 * time.Second)
		if now, _ := o.s.Sockets(); now != 0 {
			t.Errorf("%d connections after a refresh", now)
		}
		o.s.Expect("ack", "ack.twice")
		answer, _ := o.call("apps.connections.open", "token", "xapp-1")
		for i := range 2 {
			c, _, err := o.s.Dialer().DialContext(t.Context(), str(answer["url"]), nil)
			if (err == nil) != (i == 0) {
				t.Errorf("time %d: %v", i, err)
			}
			if c != nil {
				_, _, _ = c.ReadMessage()
				defer c.Close()
			}
		}
		o.want("socket.ticket", 1)
		for range maxConnected - 1 {
			defer o.dial().Close()
		}
		answer, _ = o.call("apps.connections.open", "token", "xapp-1")
		if _, _, err := o.s.Dialer().DialContext(t.Context(), str(answer["url"]), nil); err == nil {
			t.Error("an eleventh connection")
		}
		o.want("socket.many", 1)
	})
}
