package slacktest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// dispatcher tells the app things.
type dispatcher struct {
	*core
	sockets    *sockets
	deliveries []*Delivery
}

// Delivery is a payload for the app.
type Delivery struct {
	s *dispatcher

	ID      string
	Kind    string // as an envelope names it: slash_commands, interactive, events_api
	Path    string
	Body    []byte // over HTTP
	Type    string // of the body
	payload object // over a websocket

	At    time.Time
	Tries []Outcome
}

// Outcome is what happened to one try.
type Outcome struct {
	Status   int // of HTTP; 200 for what was acknowledged over a websocket; 0 for no answer
	Body     []byte
	Err      error
	Duration time.Duration
}

func (o Outcome) ok() bool { return o.Err == nil && o.Status == http.StatusOK }

// Answered reports whether the app has answered in time, and well.
func (o Outcome) Answered() bool { return o.ok() }

// Sign returns the headers by which Slack proves that it sends a body.
func (s *core) Sign(h http.Header, at time.Time, body []byte) {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(s.c.SigningSecret))
	fmt.Fprintf(mac, "v0:%s:%s", stamp, body)
	h.Set("X-Slack-Request-Timestamp", stamp)
	h.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
}

// prepare makes a delivery of a form (for commands) or of JSON; the lock is held.
func (s *dispatcher) prepare(kind, path string, payload object) *Delivery {
	d := &Delivery{s: s, ID: s.next("delivery"), Kind: kind, Path: path, At: s.now(), Type: "application/x-www-form-urlencoded"}
	text, err := json.Marshal(payload)
	if err == nil { // a copy: what is shown changes while this is on its way
		err = json.Unmarshal(text, &d.payload)
	}
	if err != nil {
		panic(err) // made of JSON
	}
	switch kind {
	case "slash_commands":
		form := url.Values{}
		for k, v := range payload {
			form.Set(k, str(v))
		}
		d.Body = []byte(form.Encode())
	case "events_api":
		d.Type, d.Body = "application/json", text
	default:
		d.Body = []byte(url.Values{"payload": {string(text)}}.Encode())
	}
	s.deliveries = append(s.deliveries, d)
	return d
}

// Deliveries are all so far.
func (s *dispatcher) Deliveries() []*Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.deliveries)
}

// Delivered returns the newest delivery of a kind.
func (s *dispatcher) Delivered(kind string) *Delivery {
	for _, d := range slices.Backward(s.Deliveries()) {
		if d.Kind == kind {
			return d
		}
	}
	s.t.Helper()
	s.t.Fatalf("nothing of kind %s was delivered yet", kind)
	return nil
}

// address is where a delivery goes.
func (s *dispatcher) address(path string) string {
	if strings.Contains(path, "://") {
		return path
	}
	return s.c.Base + path
}

// Request makes the request of a delivery, signed at a time; it can be changed before it is sent with Send.
func (d *Delivery) Request(at time.Time) *http.Request {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	r, err := http.NewRequest(http.MethodPost, d.s.address(d.Path), bytes.NewReader(d.Body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Content-Type", d.Type)
	r.Header.Set("User-Agent", "Slackbot 1.0 (+https://api.slack.com/robots)")
	d.s.Sign(r.Header, at, d.Body)
	return r
}

// Send sends a request to the app and returns the answer's status and body. Nothing is noted, shown or tried again.
func (s *dispatcher) Send(r *http.Request) (int, string) {
	s.t.Helper()
	o := s.send(r)
	if o.Err != nil {
		s.t.Fatalf("the app does not answer: %v", o.Err)
	}
	return o.Status, string(o.Body)
}

func (s *dispatcher) send(r *http.Request) (o Outcome) {
	ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
	defer cancel()
	began := time.Now()
	resp, err := s.c.Client.Do(r.WithContext(ctx))
	if err == nil {
		o.Status = resp.StatusCode
		o.Body, err = io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		_ = resp.Body.Close()
	}
	o.Err, o.Duration = err, time.Since(began)
	return o
}

// again delivers once more, as Slack does after a failure, and notes what happened to it.
func (d *Delivery) again(attempt int, reason string) Outcome {
	s := d.s
	s.mu.Lock()
	cut := s.cut || s.closed
	s.mu.Unlock()
	var o Outcome
	switch {
	case cut:
		o.Err = errCut
	case s.c.Socket:
		o = s.sockets.send(d, attempt, reason)
	default:
		r := d.Request(s.now())
		if attempt > 0 {
			r.Header.Set("X-Slack-Retry-Num", strconv.Itoa(attempt))
			r.Header.Set("X-Slack-Retry-Reason", reason)
		}
		o = s.send(r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d.Tries = append(d.Tries, o)
	switch {
	case errors.Is(o.Err, context.DeadlineExceeded), o.Duration > answerWithin:
		s.violate("late", d.what(), "no answer within %s", answerWithin)
	case o.Err != nil && !s.cut && !s.closed:
		s.violate("unreachable", d.what(), "%v", o.Err)
	case o.Err == nil && o.Status != http.StatusOK:
		s.violate("status", d.what(), "answered %d %.200s", o.Status, o.Body)
	}
	return o
}

// what names the delivery for people.
func (d *Delivery) what() string {
	p := d.payload
	if e, ok := p["event"].(object); ok {
		return "event " + str(e["type"])
	}
	if t := str(p["type"]); t != "" {
		return t
	}
	return str(p["command"]) + " " + str(p["text"])
}

// retryReason is Slack's word for why an event comes again.
func (o Outcome) retryReason() string {
	switch {
	case errors.Is(o.Err, context.DeadlineExceeded):
		return "http_timeout"
	case o.Err != nil:
		return "connection_failed"
	}
	return "http_error"
}

// Event delivers an event of the workspace. A failed delivery is retried at once, after a minute, and after 5.
func (w *Workspace) Event(event object) *Delivery {
	s := w.s
	s.mu.Lock()
	id := s.next("Ev")
	if event["event_ts"] == nil {
		event["event_ts"] = s.stamp()
	}
	d := s.prepare("events_api", s.c.EventsPath, object{"token": "unused", "team_id": w.ID, "api_app_id": s.c.AppID, "event": event, "type": "event_callback", "event_id": id,
		"event_time": s.now().Unix(), "is_ext_shared_channel": false,
		"authorizations": []any{object{"enterprise_id": nil, "team_id": w.ID, "user_id": w.Bot, "is_bot": true, "is_enterprise_install": false}}})
	wanted := s.c.Events == nil || slices.Contains(s.c.Events, str(event["type"]))
	closed := s.closed
	if wanted && !closed {
		s.work.Add(1)
	}
	s.mu.Unlock()
	if !wanted || closed {
		return d
	}
	o := d.again(0, "")
	if o.ok() {
		s.work.Done()
		return d
	}
	go func() {
		defer s.work.Done()
		for i, wait := range retryAfter {
			timer := time.NewTimer(wait)
			select {
			case <-s.done:
				timer.Stop()
				return
			case <-timer.C:
			}
			if o = d.again(i+1, o.retryReason()); o.ok() {
				return
			}
		}
	}()
	return d
}

// Verify asks the app to prove that its address for events is its own, as Slack does when one enters it.
func (s *dispatcher) Verify() bool {
	s.mu.Lock()
	d := s.prepare("events_api", s.c.EventsPath, object{"type": "url_verification", "token": "unused", "challenge": "a challenge of Slack"})
	s.mu.Unlock()
	_, body := s.Send(d.Request(s.now()))
	var o struct{ Challenge string }
	return body == "a challenge of Slack" || json.Unmarshal([]byte(body), &o) == nil && o.Challenge == "a challenge of Slack"
}
