package slacktest

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// pingEvery is how often a websocket is asked whether somebody is there.
const pingEvery = 5 * time.Second

// sockets are the websockets over which an app in Socket Mode is told things.
type sockets struct {
	mu      sync.Mutex
	server  *httptest.Server
	pipes   *pipes
	tickets map[string]time.Time
	conns   []*socket
	turn    int
	opened  int
	waiting map[string]*waiting // by envelope
	closed  bool
	lose    int // so many of the next acknowledgements are lost
	links   sync.WaitGroup
}

// socket is one connection.
type socket struct {
	conn  *websocket.Conn
	write sync.Mutex
	gone  chan struct{}
	once  sync.Once
	mute  bool // nothing more is told through it
}

func (c *socket) end() {
	c.once.Do(func() { close(c.gone); _ = c.conn.Close() })
}

func (c *socket) say(v any) error {
	c.write.Lock()
	defer c.write.Unlock()
	_ = c.conn.SetWriteDeadline(time.Now().Add(answerWithin))
	return c.conn.WriteJSON(v)
}

// waiting is an envelope that was not acknowledged yet.
type waiting struct {
	answered chan json.RawMessage
	accepts  bool
	done     bool
}

func (k *sockets) init() {
	k.tickets, k.waiting = map[string]time.Time{}, map[string]*waiting{}
}

// connectionsOpen gives the address of a new websocket, which works once and soon.
func (s *Slack) connectionsOpen(*call) object {
	if !s.c.Socket {
		return oops("not_allowed_token_type")
	}
	ticket := s.next("ticket")
	return object{"url": s.sockets.open(s, ticket) + "/link/?ticket=" + ticket + "&app_id=" + s.c.AppID}
}

// open makes sure that somebody listens, and gives where.
func (k *sockets) open(s *Slack, ticket string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tickets[ticket] = s.now()
	if k.server == nil && !k.closed {
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.link(w, r) })
		k.server = httptest.NewUnstartedServer(h)
		if s.c.Piped {
			k.pipes = &pipes{ends: make(chan net.Conn), done: make(chan struct{})}
			_ = k.server.Listener.Close()
			k.server.Listener = k.pipes
		}
		k.server.Start()
	}
	if k.pipes != nil {
		return "wss://wss-primary.slack.com"
	}
	return "ws" + k.server.URL[len("http"):]
}

// pipes are connections within the process, which a bubble of testing/synctest understands.
type pipes struct {
	ends chan net.Conn
	done chan struct{}
	once sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.ends:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// Dialer opens the websockets of a Slack whose Config says Piped.
func (s *Slack) Dialer() *websocket.Dialer {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		s.mu.Lock()
		cut := s.cut || s.closed
		s.mu.Unlock()
		s.sockets.mu.Lock()
		p := s.sockets.pipes
		s.sockets.mu.Unlock()
		if cut || p == nil {
			return nil, ErrCut
		}
		here, there := net.Pipe()
		select {
		case p.ends <- there:
			return here, nil
		case <-p.done:
			return nil, ErrCut
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return &websocket.Dialer{NetDialContext: dial, NetDialTLSContext: dial, HandshakeTimeout: answerWithin, WriteBufferSize: 32 << 10}
}

var upgrader = websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}

// link serves one websocket.
func (s *Slack) link(w http.ResponseWriter, r *http.Request) {
	k := &s.sockets
	s.mu.Lock()
	cut, ticket := s.cut || s.closed, r.URL.Query().Get("ticket")
	s.mu.Unlock()
	k.mu.Lock()
	made, known := k.tickets[ticket]
	delete(k.tickets, ticket)
	full := len(k.conns) >= mostConnected
	if cut = cut || k.closed; !cut {
		k.links.Add(1)
		defer k.links.Done()
	}
	k.mu.Unlock()
	switch {
	case cut:
		http.Error(w, "gone", http.StatusServiceUnavailable)
		return
	case !known || s.now().Sub(made) > ticketLife:
		s.note("socket.ticket", "websocket", "an address that was used already, or is too old")
		http.Error(w, "invalid ticket", http.StatusForbidden)
		return
	case full:
		s.note("socket.many", "websocket", "more than %d connections", mostConnected)
		http.Error(w, "too many", http.StatusForbidden)
		return
	}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	c := &socket{conn: conn, gone: make(chan struct{})}
	k.mu.Lock()
	k.conns = append(k.conns, c)
	k.opened++
	n := len(k.conns)
	if k.closed {
		c.end()
	}
	k.mu.Unlock()
	defer func() {
		c.end()
		k.mu.Lock()
		k.conns = slices.DeleteFunc(k.conns, func(o *socket) bool { return o == c })
		k.mu.Unlock()
	}()
	if c.say(object{"type": "hello", "num_connections": n, "connection_info": object{"app_id": s.c.AppID},
		"debug_info": object{"host": "applink-1", "started": s.now().UTC().Format("2006-01-02 15:04:05.000"), "build_number": 1, "approximate_connection_time": 18060}}) != nil {
		return
	}
	var pings sync.WaitGroup
	pings.Go(func() { c.ping() })
	defer pings.Wait()
	defer c.end()
	for {
		_, text, err := conn.ReadMessage()
		if err != nil {
			return
		}
		k.mu.Lock()
		lost := k.lose > 0
		if lost {
			k.lose--
		}
		k.mu.Unlock()
		if lost {
			return
		}
		s.heard(text)
	}
}

// LoseAcks has connections end with the next n acknowledgements on their way: Slack has not heard them, and tells again what they
// were about.
func (s *Slack) LoseAcks(n int) {
	s.sockets.mu.Lock()
	defer s.sockets.mu.Unlock()
	s.sockets.lose = n
}

func (c *socket) ping() {
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for {
		select {
		case <-c.gone:
			return
		case <-ticker.C:
			if c.conn.WriteControl(websocket.PingMessage, []byte("ping"), time.Now().Add(answerWithin)) != nil {
				return
			}
		}
	}
}

func (s *Slack) note(rule, where, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.violate(rule, where, format, args...)
}

// heard takes what the app says over a websocket: acknowledgements, some with an answer.
func (s *Slack) heard(text []byte) {
	const where = "acknowledgement"
	var ack struct {
		EnvelopeID string          `json:"envelope_id"`
		Payload    json.RawMessage `json:"payload"`
	}
	if err := json.Unmarshal(text, &ack); err != nil || ack.EnvelopeID == "" {
		s.note("ack", where, "it names no envelope: %.100s", text)
		return
	}
	if len(text) >= mostAckBytes {
		s.note("ack.size", where, "%d bytes, at most %d: Slack drops it without a word", len(text), mostAckBytes-1)
		return
	}
	k := &s.sockets
	k.mu.Lock()
	w := k.waiting[ack.EnvelopeID]
	twice := w != nil && w.done
	if w != nil && !twice {
		w.done = true
	}
	k.mu.Unlock()
	payload := string(ack.Payload) != "" && string(ack.Payload) != "null"
	switch {
	case w == nil:
		s.note("ack", where, "of an envelope that was never sent")
	case twice:
		s.note("ack.twice", where, "of an envelope that was acknowledged already")
	case payload && !w.accepts:
		s.note("ack.payload", where, "an answer to an envelope that takes none")
		w.answered <- nil
	default:
		w.answered <- ack.Payload
	}
}

// live gives the next connection through which things can be told; nil where there is none.
func (k *sockets) live() *socket {
	k.mu.Lock()
	defer k.mu.Unlock()
	for range k.conns {
		k.turn++
		if c := k.conns[k.turn%len(k.conns)]; !c.mute {
			return c
		}
	}
	return nil
}

// send tells something over one of the connections, and over another one where that is lost before it was acknowledged.
func (k *sockets) send(s *Slack, d *Delivery, attempt int, reason string) (o Outcome) {
	began, tries := time.Now(), attempt
	timer := time.NewTimer(answerWithin)
	defer timer.Stop()
	for {
		c := k.live()
		if c == nil && attempt > tries && time.Since(began) < answerWithin {
			time.Sleep(100 * time.Millisecond) // it was told once: there may be a connection again soon
			continue
		}
		if c == nil {
			o.Err, o.Took = ErrCut, time.Since(began)
			return o
		}
		s.mu.Lock()
		id := s.next("envelope")
		s.mu.Unlock()
		w := &waiting{answered: make(chan json.RawMessage, 1), accepts: d.Kind != "events_api"}
		k.mu.Lock()
		k.waiting[id] = w
		k.mu.Unlock()
		envelope := object{"envelope_id": id, "type": d.Kind, "payload": d.payload, "accepts_response_payload": w.accepts}
		if d.Kind == "events_api" {
			envelope["retry_attempt"], envelope["retry_reason"] = attempt, reason
		}
		if c.say(envelope) != nil {
			c.end()
			attempt, reason = attempt+1, "timeout"
			continue
		}
		select {
		case payload := <-w.answered:
			if string(payload) == "null" {
				payload = nil
			}
			return Outcome{Status: http.StatusOK, Body: payload, Took: time.Since(began)}
		case <-timer.C:
			return Outcome{Err: context.DeadlineExceeded, Took: time.Since(began)}
		case <-c.gone:
			attempt, reason = attempt+1, "timeout"
		}
	}
}

// Sockets tells how many connections the app has now, and how many it has had.
func (s *Slack) Sockets() (now, ever int) {
	s.sockets.mu.Lock()
	defer s.sockets.mu.Unlock()
	return len(s.sockets.conns), s.sockets.opened
}

// Connected waits until the app has n connections.
func (s *Slack) Connected(n int) {
	s.t.Helper()
	s.Wait("the app does not connect", func() bool { now, _ := s.Sockets(); return now >= n })
}

// Warn tells all connections that they will end soon, as Slack does some seconds before.
func (s *Slack) Warn() {
	s.sockets.each(func(c *socket) {
		_ = c.say(object{"type": "disconnect", "reason": "warning", "debug_info": object{"host": "applink-1"}})
	})
}

// Refresh tells all connections to be opened anew; nothing more is told through them, and they end a moment later.
func (s *Slack) Refresh() {
	s.sockets.each(func(c *socket) {
		s.sockets.mu.Lock()
		c.mute = true
		s.sockets.mu.Unlock()
		_ = c.say(object{"type": "disconnect", "reason": "refresh_requested", "debug_info": object{"host": "applink-1"}})
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.closed {
			return
		}
		s.work.Go(func() {
			timer := time.NewTimer(time.Second)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-s.done:
			case <-c.gone:
			}
			c.end()
		})
	})
}

func (k *sockets) each(f func(c *socket)) {
	k.mu.Lock()
	conns := slices.Clone(k.conns)
	k.mu.Unlock()
	for _, c := range conns {
		f(c)
	}
}

// drop ends all connections without a word.
func (k *sockets) drop() { k.each((*socket).end) }

// Drop ends all connections without a word.
func (s *Slack) Drop() { s.sockets.drop() }

func (k *sockets) close() {
	k.mu.Lock()
	server := k.server
	k.closed, k.server = true, nil
	k.mu.Unlock()
	k.drop()
	if server != nil {
		server.Close()
	}
	k.drop()
	k.links.Wait()
}
