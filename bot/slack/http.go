package slack

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
)

// The largest bodies. What is said of modals holds the whole modal, and is escaped twice.
const (
	bodyLimit   = 64 << 10
	actionLimit = 1 << 20
)

// httpReceiver takes Slack's requests over HTTP, once they are proved to be Slack's.
type httpReceiver struct {
	*base
	secret     []byte // by which Slack signs; empty: nothing is taken
	dispatcher *dispatcher
	mux        *http.ServeMux
}

func newHTTPReceiver(ba *base, secret []byte, dp *dispatcher) *httpReceiver {
	e := &httpReceiver{base: ba, secret: secret, dispatcher: dp, mux: http.NewServeMux()}
	e.mux.HandleFunc("POST /slack/commands", e.command)
	e.mux.HandleFunc("POST /slack/actions", e.action)
	e.mux.HandleFunc("POST /slack/options", e.action)
	e.mux.HandleFunc("POST /slack/events", e.event)
	return e
}

// ServeHTTP serves one request of Slack.
func (e *httpReceiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	e.mux.ServeHTTP(w, r)
}

// heard reads a body that was proved to be Slack's.
func (e *httpReceiver) heard(w http.ResponseWriter, r *http.Request, most int64) (body []byte, ok bool) {
	if len(e.secret) == 0 {
		http.Error(w, "No signing secret is configured.", http.StatusNotFound)
		return nil, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		var big *http.MaxBytesError
		if errors.As(err, &big) {
			http.Error(w, "The body is too large.", http.StatusRequestEntityTooLarge)
			return nil, false
		}
		http.Error(w, "The body couldn't be read.", http.StatusBadRequest)
		return nil, false
	}
	if !signed(e.secret, r.Header, body, e.now()) {
		http.Error(w, "The signature is invalid or has expired.", http.StatusUnauthorized)
		return nil, false
	}
	return body, true
}

// form is heard for bodies that are forms.
func (e *httpReceiver) form(w http.ResponseWriter, r *http.Request, most int64) (form url.Values, ok bool) {
	body, ok := e.heard(w, r, most)
	if !ok {
		return nil, false
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		http.Error(w, "The body isn't a form.", http.StatusBadRequest)
		return nil, false
	}
	return form, true
}

func (e *httpReceiver) command(w http.ResponseWriter, r *http.Request) {
	form, ok := e.form(w, r, bodyLimit)
	if !ok || form.Get("ssl_check") != "" {
		return
	}
	e.answer(w, e.dispatcher.heardCommand(r.Context(), delivery{id: "signature " + r.Header.Get(headerSignature)}, slash{
		Team: form.Get("team_id"), Domain: form.Get("team_domain"), Enterprise: form.Get("enterprise_id"), User: form.Get("user_id"), Name: form.Get("user_name"),
		Command: form.Get("command"), Text: form.Get("text"), Channel: form.Get("channel_id"), Response: form.Get("response_url"), Trigger: form.Get("trigger_id")}))
}

func (e *httpReceiver) action(w http.ResponseWriter, r *http.Request) {
	form, ok := e.form(w, r, actionLimit)
	if !ok {
		return
	}
	e.answer(w, e.dispatcher.heardAction(r.Context(), delivery{id: "signature " + r.Header.Get(headerSignature)}, []byte(form.Get("payload"))))
}

func (e *httpReceiver) event(w http.ResponseWriter, r *http.Request) {
	body, ok := e.heard(w, r, actionLimit)
	if !ok {
		return
	}
	e.answer(w, e.dispatcher.heardEvent(r.Context(), delivery{id: "signature " + r.Header.Get(headerSignature)}, body))
}

// answer writes a reply.
func (e *httpReceiver) answer(w http.ResponseWriter, r reply) {
	switch {
	case r.refusal != "":
		http.Error(w, r.refusal, r.status)
	case r.body != nil:
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_ = json.NewEncoder(w).Encode(r.body)
	}
}
