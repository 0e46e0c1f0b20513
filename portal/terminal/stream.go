package terminal

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/sshaccess"
	"muster/app/terminal"
	"muster/portal/site"
	"muster/portal/wire"

	"github.com/go-chi/chi/v5"
	"github.com/gorilla/websocket"
)

// The stream is a WebSocket. Binary messages are what the terminal shows, and what is typed. Text messages are JSON: to the browser an opened,
// moved where the browser is too slow, and then an ended, from it a command.
type (
	opened struct {
		Type     string `json:"type"` // "open"
		ID       string `json:"id"`
		Run      string `json:"run"`
		At       int64  `json:"at"`
		Old      int64  `json:"old"` // what comes before was shown before: it's no question to this browser
		Kept     bool   `json:"kept"`
		Recorded bool   `json:"recorded"`
	}
	ended struct {
		Type    string `json:"type"` // "end"
		Reason  string `json:"reason"`
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
		Again   bool   `json:"again"` // connecting again may continue the terminal
	}
	// moved says that some of what was shown isn't kept any more: what comes next is at an offset.
	moved struct {
		Type string `json:"type"` // "at"
		At   int64  `json:"at"`
	}
	command struct {
		Type string `json:"type"` // "size", "seen", "quit"
		family.TerminalSize
		At int64 `json:"at"`
	}
)

const (
	messageLimit = 64 << 10
	// mostUnseen is how many bytes are sent before the browser says that it has shown them: it would fall behind, and Ctrl-C would come late.
	mostUnseen = 512 << 10
	pieceSize  = 16 << 10
)

// stream connects a browser to a terminal.
func (p *Service) stream(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if !wire.IsStream(r) {
		return &app.Error{Code: app.EInvalid, Message: "This address is for the terminal's page.", Hint: "Open the terminal from the cluster's Access page."}
	}
	q := r.URL.Query()
	up := websocket.Upgrader{ReadBufferSize: 4 << 10, WriteBufferSize: 4 << 10, WriteBufferPool: &buffers, EnableCompression: false,
		CheckOrigin: func(*http.Request) bool { return true }} // the portal has checked it
	ws, err := up.Upgrade(wire.Hijacker{ResponseWriter: w}, r, nil)
	if err != nil {
		return nil // the upgrader has answered
	}
	defer ws.Close()
	ws.SetReadLimit(messageLimit)
	number := func(name string) int { n, _ := strconv.Atoi(q.Get(name)); return n }
	from, _ := strconv.ParseInt(q.Get("at"), 10, 64)
	client, err := p.Terminals.OpenTerminal(r.Context(), a, terminal.Open{Cluster: chi.URLParam(r, "id"), Node: chi.URLParam(r, "node"), ID: q.Get("terminal"),
		Run: q.Get("run"), From: from, Size: family.TerminalSize{Columns: number("cols"), Rows: number("rows")}, Announced: q.Get("announced") == "1"})
	v := &view{ws: ws, client: client, continues: q.Get("terminal") != "", seen: make(chan struct{}, 1)}
	if err != nil {
		v.end(err)
		return nil
	}
	defer client.Close()
	v.run(r.Context())
	return nil
}

var buffers sync.Pool

// view is a browser that looks at a terminal.
type view struct {
	ws     *websocket.Conn
	client *terminal.Client
	mu     sync.Mutex // held while writing

	continues bool // a terminal that was opened before

	at     sync.Mutex
	behind int64
	seen   chan struct{} // rings when the browser has shown more
}

func (v *view) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := v.client
	v.behind = c.At()
	if v.say(opened{"open", c.Terminal().ID, c.Run(), c.At(), c.Old(), c.Kept(), c.Terminal().Recorded}) != nil {
		return
	}
	go func() {
		defer cancel()
		v.read()
	}()
	go v.ping(ctx)
	for {
		if !v.shown(ctx) {
			break
		}
		before := c.At()
		b, err := c.Next(ctx, pieceSize)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			v.end(err)
			return
		}
		if at := c.At() - int64(len(b)); at > before {
			v.at.Lock()
			v.behind += at - before
			v.at.Unlock()
			if v.say(moved{"at", at}) != nil {
				return
			}
		}
		if v.send(websocket.BinaryMessage, b) != nil {
			return
		}
	}
	// The sign-in has ended, or the browser is gone, or the server stops.
	if err := c.Reason(); err != nil {
		v.end(err)
	}
}

// shown waits until the browser has shown enough of what it was sent.
func (v *view) shown(ctx context.Context) bool {
	for {
		v.at.Lock()
		far := v.client.At()-v.behind > mostUnseen
		v.at.Unlock()
		if !far {
			return true
		}
		select {
		case <-v.seen:
		case <-ctx.Done():
			return false
		}
	}
}

// read takes what is typed, until the browser leaves.
func (v *view) read() {
	alive := func() { _ = v.ws.SetReadDeadline(time.Now().Add(wire.SilenceLimit)) }
	alive()
	v.ws.SetPongHandler(func(string) error { alive(); return nil })
	for {
		kind, b, err := v.ws.ReadMessage()
		if err != nil {
			return
		}
		alive()
		if kind == websocket.BinaryMessage {
			if v.client.Write(b) != nil {
				return
			}
			continue
		}
		var c command
		if json.Unmarshal(b, &c) != nil {
			return
		}
		switch c.Type {
		case "size":
			_ = v.client.Resize(c.TerminalSize)
		case "seen":
			v.at.Lock()
			v.behind = max(v.behind, c.At)
			v.at.Unlock()
			select {
			case v.seen <- struct{}{}:
			default:
			}
		case "quit":
			v.client.Quit()
		}
	}
}

func (v *view) ping(ctx context.Context) {
	tick := time.NewTicker(wire.PingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if v.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(wire.WriteLimit)) != nil {
				return
			}
		}
	}
}

func (v *view) send(kind int, b []byte) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	_ = v.ws.SetWriteDeadline(time.Now().Add(wire.WriteLimit))
	return v.ws.WriteMessage(kind, b)
}

func (v *view) say(message any) error {
	b, err := json.Marshal(message)
	if err != nil {
		return err
	}
	return v.send(websocket.TextMessage, b)
}

// end says why the terminal has ended.
func (v *view) end(err error) {
	e, _ := site.Known(err)
	again := e.Code == app.ETransient || e.Code == app.ETimeout || v.continues && (e.Code == app.ERateLimit || e.Reason == sshaccess.NoMachine)
	_ = v.say(ended{"end", e.Reason, e.Message, e.Hint, again})
	_ = v.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
}
