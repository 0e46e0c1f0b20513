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

// pingEvery is how often a websocket is asked whether someone is there.
const pingEvery = 5 * time.Second

// sockets are the websockets of an app in Socket Mode.
type sockets struct {
	*core
	connMu  sync.Mutex
	server  *httptest.Server
	pipes   *pipes
	tickets map[string]time.Time
	conns   []*socket
	turn    int
	opened  int
	waiting map[string]*waiting // by envelope
	shut    bool
	lose    int // so many of the next acknowledgements are lost
	links   sync.WaitGroup
}

// socket is one connection.
type socket struct {
	conn  *websocket.Conn
	write sync.Mutex
	gone  chan struct{}
	once  sync.Once
	mute  bool // no more deliveries
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

// connectionsOpen returns the address of a new websocket, which works once and soon.
func (k *sockets) connectionsOpen(*call) object {
	if !k.c.Socket {
		return internalError("not_allowed_token_type")
	}
	ticket := k.next("ticket")
	return object{"url": k.open(ticket) + "/link/?ticket=" + ticket + "&app_id=" + k.c.AppID}
}

// open makes sure that someone listens, and returns where.
func (k *sockets) open(ticket string) string {
	k.connMu.Lock()
	defer k.connMu.Unlock()
	k.tickets[ticket] = k.now()
	if k.server == nil && !k.shut {
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { k.link(w, r) })
		k.server = httptest.NewUnstartedServer(h)
		if k.c.Piped {
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
func (k *sockets) Dialer() *websocket.Dialer {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		k.core.mu.Lock()
		cut := k.cut || k.core.closed
		k.core.mu.Unlock()
		k.connMu.Lock()
		p := k.pipes
		k.connMu.Unlock()
		if cut || p == nil {
			return nil, errCut
		}
		here, there := net.Pipe()
		select {
		case p.ends <- there:
			return here, nil
		case <-p.done:
			return nil, errCut
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return &websocket.Dialer{NetDialContext: dial, NetDialTLSContext: dial, HandshakeTimeout: answerWithin, WriteBufferSize: 32 << 10}
}

var upgrader = websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}

// link serves one websocket.
func (k *sockets) link(w http.ResponseWriter, r *http.Request) {
	k.core.mu.Lock()
	cut, ticket := k.cut || k.core.closed, r.URL.Query().Get("ticket")
	k.core.mu.Unlock()
	k.connMu.Lock()
	made, known := k.tickets[ticket]
	delete(k.tickets, ticket)
	full := len(k.conns) >= maxConnected
	if cut = cut || k.shut; !cut {
		k.links.Add(1)
		defer k.links.Done()
	}
	k.connMu.Unlock()
	switch {
	case cut:
		http.Error(w, "gone", http.StatusServiceUnavailable)
		return
	case !known || k.now().Sub(made) > ticketLife:
		k.note("socket.ticket", "websocket", "an address that was used already, or is too old")
		http.Error(w, "invalid ticket", http.StatusForbidden)
		return
	case full:
		k.note("socket.many", "websocket", "more than %d connections", maxConnected)
		http.Error(w, "too many", http.StatusForbidden)
		return
	}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	c := &socket{conn: conn, gone: make(chan struct{})}
	k.connMu.Lock()
	k.conns = append(k.conns, c)
	k.opened++
	n := len(k.conns)
	if k.shut {
		c.end()
	}
	k.connMu.Unlock()
	defer func() {
		c.end()
		k.connMu.Lock()
		k.conns = slices.DeleteFunc(k.conns, func(o *socket) bool { return o == c })
		k.connMu.Unlock()
	}()
	if c.say(object{"type": "hello", "num_connections": n, "connection_info": object{"app_id": k.c.AppID},
		"debug_info": object{"host": "applink-1", "started": k.now().UTC().Format("2006-01-02 15:04:05.000"), "build_number": 1, "approximate_connection_time": 18060}}) != nil {
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
		k.connMu.Lock()
		lost := k.lose > 0
		if lost {
			k.lose--
		}
		k.connMu.Unlock()
		if lost {
			return
		}
		k.heard(text)
	}
}

// LoseAcks has connections end with the next n acknowledgements on their way: Slack has not heard them, and tells again what they
// were about.
func (k *sockets) LoseAcks(n int) {
	k.connMu.Lock()
	defer k.connMu.Unlock()
	k.lose = n
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

func (s *core) note(rule, where, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.violate(rule, where, format, args...)
}

// heard takes what the app says over a websocket: acknowledgements, some with an answer.
func (k *sockets) heard(text []byte) {
	const where = "acknowledgement"
	var ack struct {
		EnvelopeID string          `json:"envelope_id"`
		Payload    json.RawMessage `json:"payload"`
	}
	if err := json.Unmarshal(text, &ack); err != nil || ack.EnvelopeID == "" {
		k.note("ack", where, "it names no envelope: %.100s", text)
		return
	}
	if len(text) >= maxAckBytes {
		k.note("ack.size", where, "%d bytes, at most %d: Slack drops it without a word", len(text), maxAckBytes-1)
		return
	}
	k.connMu.Lock()
	w := k.waiting[ack.EnvelopeID]
	twice := w != nil && w.done
	if w != nil && !twice {
		w.done = true
	}
	k.connMu.Unlock()
	payload := string(ack.Payload) != "" && string(ack.Payload) != "null"
	switch {
	case w == nil:
		k.note("ack", where, "of an envelope that was never sent")
	case twice:
		k.note("ack.twice", where, "of an envelope that was acknowledged already")
	case payload && !w.accepts:
		k.note("ack.payload", where, "an answer to an envelope that takes none")
		w.answered <- nil
	default:
		w.answered <- ack.Payload
	}
}

// live returns the next connection for deliveries; nil if there is none.
func (k *sockets) live() *socket {
	k.connMu.Lock()
	defer k.connMu.Unlock()
	for range k.conns {
		k.turn++
		if c := k.conns[k.turn%len(k.conns)]; !c.mute {
			return c
		}
	}
	return nil
}

// send tells something over one of the connections, and over another one where that is lost before it was acknowledged.
func (k *sockets) send(d *Delivery, attempt int, reason string) (o Outcome) {
	began, tries := time.Now(), attempt
	timer := time.NewTimer(answerWithin)
	defer timer.Stop()
	for {
		c := k.live()
		if c == nil && attempt > tries && time.Since(began) < answerWithin {
			time.Sleep(100 * time.Millisecond) // it was delivered once; there may be a connection again soon
			continue
		}
		if c == nil {
			o.Err, o.Duration = errCut, time.Since(began)
			return o
		}
		k.core.mu.Lock()
		id := k.next("envelope")
		k.core.mu.Unlock()
		w := &waiting{answered: make(chan json.RawMessage, 1), accepts: d.Kind != "events_api"}
		k.connMu.Lock()
		k.waiting[id] = w
		k.connMu.Unlock()
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
			return Outcome{Status: http.StatusOK, Body: payload, Duration: time.Since(began)}
		case <-timer.C:
			return Outcome{Err: context.DeadlineExceeded, Duration: time.Since(began)}
		case <-c.gone:
			attempt, reason = attempt+1, "timeout"
		}
	}
}

// Sockets tells how many connections the app has now, and how many it has had.
func (k *sockets) Sockets() (now, ever int) {
	k.connMu.Lock()
	defer k.connMu.Unlock()
	return len(k.conns), k.opened
}

// Connected waits until the app has n connections.
func (k *sockets) Connected(n int) {
	k.t.Helper()
	k.Wait("the app does not connect", func() bool { now, _ := k.Sockets(); return now >= n })
}

// Warn tells all connections that they will end soon, as Slack does some seconds before.
func (k *sockets) Warn() {
	k.each(func(c *socket) {
		_ = c.say(object{"type": "disconnect", "reason": "warning", "debug_info": object{"host": "applink-1"}})
	})
}

// Refresh asks for all connections to be reopened; they get no more deliveries and end a moment later.
func (k *sockets) Refresh() {
	k.each(func(c *socket) {
		k.connMu.Lock()
		c.mute = true
		k.connMu.Unlock()
		_ = c.say(object{"type": "disconnect", "reason": "refresh_requested", "debug_info": object{"host": "applink-1"}})
		k.core.mu.Lock()
		defer k.core.mu.Unlock()
		if k.core.closed {
			return
		}
		k.work.Go(func() {
			timer := time.NewTimer(time.Second)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-k.done:
			case <-c.gone:
			}
			c.end()
		})
	})
}

func (k *sockets) each(f func(c *socket)) {
	k.connMu.Lock()
	conns := slices.Clone(k.conns)
	k.connMu.Unlock()
	for _, c := range conns {
		f(c)
	}
}

// drop ends all connections without a word.
func (k *sockets) drop() { k.each((*socket).end) }

// Drop ends all connections without a word.
func (k *sockets) Drop() { k.drop() }

func (k *sockets) close() {
	k.connMu.Lock()
	server := k.server
	k.shut, k.server = true, nil
	k.connMu.Unlock()
	k.drop()
	if server != nil {
		server.Close()
	}
	k.drop()
	k.links.Wait()
}
