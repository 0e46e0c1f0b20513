package slacktest

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// call is one call of the API, on its way.
type call struct {
	method string
	args   map[string]any // strings of a form, anything of JSON
	secret string         // the token
	team   *Workspace
	r      *http.Request
	note   Call
	held   bool // it was refused by a limit
	wait   time.Duration
}

func (c *call) key() string {
	if c.team != nil {
		return c.team.ID
	}
	return "app"
}

func (c *call) str(name string) string {
	switch v := c.args[name].(type) {
	case string:
		return v
	case bool, float64:
		return fmt.Sprint(v)
	}
	return ""
}

// json returns an argument that is JSON, in a string or as it is.
func (c *call) json(s *core, name string) any {
	text, ok := c.args[name].(string)
	if !ok || text == "" {
		if ok {
			return nil
		}
		return c.args[name]
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		s.violate("json", c.method+" "+name, "not JSON: %v", err)
		return nil
	}
	return v
}

// internalError is an error of Slack.
func internalError(word string) object { return object{"ok": false, "error": word} }

// method is one of the API.
type method struct {
	perMinute int
	scope     string
	kind      string // of token: "bot", "app", or "" for none
	do        func(s *Slack, c *call) object
}

// methods are all that are known here. A call of another one is a violation.
var methods map[string]method

func init() {
	methods = map[string]method{
		"api.test":              {tierFour, "", "", func(*Slack, *call) object { return object{} }},
		"apps.connections.open": {tierTwo, "connections:write", "app", (*Slack).connectionsOpen}, // documented as tier 1, with bursts
		"apps.uninstall":        {tierTwo, "", "bot", (*Slack).uninstall},
		"auth.revoke":           {tierThree, "", "bot", (*Slack).revoke},
		"auth.test":             {special, "", "bot", (*Slack).authTest},
		"chat.delete":           {tierThree, "chat:write", "bot", (*Slack).chatDelete},
		"chat.getPermalink":     {special, "", "bot", (*Slack).permalink},
		"chat.postEphemeral":    {tierFour, "chat:write", "bot", (*Slack).postEphemeral},
		"chat.postMessage":      {maxPerMinute, "chat:write", "bot", (*Slack).postMessage},
		"chat.unfurl":           {tierThree, "links:write", "bot", (*Slack).unfurl},
		"chat.update":           {tierThree, "chat:write", "bot", (*Slack).chatUpdate},
		"conversations.history": {tierThree, "im:history", "bot", (*Slack).history},
		"conversations.info":    {tierThree, "channels:read", "bot", (*Slack).channelInfo},
		"conversations.join":    {tierThree, "channels:join", "bot", (*Slack).join},
		"conversations.open":    {tierThree, "im:write", "bot", (*Slack).openDirect},
		"oauth.v2.access":       {tierFour, "", "", (*Slack).access},
		"team.info":             {tierThree, "team:read", "bot", (*Slack).teamInfo},
		"users.conversations":   {tierThree, "channels:read", "bot", (*Slack).botChannels},
		"users.info":            {tierFour, "users:read", "bot", (*Slack).userInfo},
		"users.lookupByEmail":   {tierThree, "users:read.email", "bot", (*Slack).userByEmail},
		"views.open":            {tierFour, "", "bot", (*Slack).viewOpen},
		"views.publish":         {tierFour, "", "bot", (*Slack).viewPublish},
		"views.push":            {tierFour, "", "bot", (*Slack).viewPush},
		"views.update":          {tierFour, "", "bot", (*Slack).viewUpdate},
	}
}

// read takes apart what a call says, as a form or as JSON.
func read(r *http.Request, body []byte) (args map[string]any, err error) {
	args = map[string]any{}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil && len(body) > 0 {
		return nil, fmt.Errorf("content type %q: %w", r.Header.Get("Content-Type"), err)
	}
	if kind == "application/json" && len(body) == 0 {
		return args, nil
	}
	if kind == "application/json" {
		return args, json.Unmarshal(body, &args)
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	for k, v := range r.URL.Query() {
		if k == "token" {
			return nil, fmt.Errorf("a token in the address")
		}
		args[k] = v[0]
	}
	for k, v := range form {
		args[k] = v[0]
	}
	return args, nil
}

// api serves one call.
func (s *Slack) api(w http.ResponseWriter, r *http.Request, name string, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &call{method: name, r: r}
	var err error
	if c.args, err = read(r, body); err != nil {
		s.violate("request", name, "%v", err)
		writeJSON(w, http.StatusOK, internalError("invalid_post_type"))
		return
	}
	c.note = Call{At: s.now(), Method: name, Channel: c.str("channel"), User: c.str("user"), Text: c.str("text"), Status: http.StatusOK}
	answer := s.answer(c)
	switch {
	case c.note.Status == lost:
		w.WriteHeader(lost)
	case c.held:
		c.note.Status = http.StatusTooManyRequests
		w.Header().Set("Retry-After", strconv.Itoa(max(1, int((c.wait+time.Second-1)/time.Second))))
		writeJSON(w, http.StatusTooManyRequests, internalError("ratelimited"))
	default:
		if _, notified := answer["ok"]; !notified {
			answer["ok"] = true
		}
		c.note.Error = str(answer["error"])
		writeJSON(w, c.note.Status, answer)
	}
	if c.team != nil {
		c.note.Team = c.team.ID
	}
	s.calls = append(s.calls, c.note)
}

// answer does what a call asks for; the lock is held.
func (s *Slack) answer(c *call) object {
	m, known := methods[c.method]
	if !known {
		s.violate("unknown_method", c.method, "not a method that is known here")
		return internalError("unknown_method")
	}
	if c.r.Method != http.MethodPost && c.method != "auth.test" && c.method != "users.info" {
		s.violate("request", c.method, "called with %s", c.r.Method)
	}
	if word := s.authorize(c, m); word != "" {
		return internalError(word)
	}
	if c.wait = s.limited(c, m.perMinute); c.wait > 0 {
		c.held = true
		return nil
	}
	var f Fault
	if list := s.faults[c.method]; len(list) > 0 {
		f, s.faults[c.method] = list[0], list[1:]
	}
	switch {
	case f.RetryAfter > 0:
		c.held, c.wait = true, f.RetryAfter
		s.blocked[c.method+" "+c.key()] = s.now().Add(f.RetryAfter)
		return nil
	case f.Status != 0:
		c.note.Status = f.Status
		return internalError("internal_error")
	case f.Error != "":
		return internalError(f.Error)
	}
	before := len(s.violations)
	answer := m.do(s, c)
	if word := str(answer["error"]); word == "invalid_arguments" || word == "invalid_blocks" {
		// Slack says in words where it found what.
		var found []any
		for _, v := range s.violations[before:] {
			found = append(found, "[ERROR] "+v.String())
		}
		answer["response_metadata"] = object{"messages": found}
	}
	if f.Lose {
		c.note.Status = lost
	}
	return answer
}

// authorize finds out for which workspace a call is; it returns Slack's word for what is wrong.
func (s *Slack) authorize(c *call, m method) string {
	if m.kind == "" {
		return ""
	}
	c.secret = c.str("token")
	if h := c.r.Header.Get("Authorization"); len(h) > 7 && h[:7] == "Bearer " {
		c.secret = h[7:]
	}
	if c.secret == "" {
		s.violate("token", c.method, "called without a token")
		return "not_authed"
	}
	if m.kind == "app" {
		if c.secret != s.c.AppToken || s.c.AppToken == "" {
			return "invalid_auth"
		}
		return ""
	}
	for _, w := range s.teams {
		t := w.tokens[c.secret]
		switch {
		case t == nil:
			continue
		case t.revoked || !w.installed:
			return "token_revoked"
		case !t.expires.IsZero() && s.now().After(t.expires):
			return "token_expired"
		}
		c.team = w
		if m.scope != "" && s.c.Scopes != nil && !slices.Contains(s.c.Scopes, m.scope) {
			s.violate("scope", c.method, "the app has no scope %s", m.scope)
			return "missing_scope"
		}
		return ""
	}
	return "invalid_auth"
}

func (s *core) scope(name string) bool {
	return s.c.Scopes == nil || slices.Contains(s.c.Scopes, name)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
