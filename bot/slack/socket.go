package slack

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"muster/app"
	"muster/app/chat"

	"github.com/gorilla/websocket"
	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"
)

const (
	dialTime    = 15 * time.Second
	silence     = 40 * time.Second // Slack pings more often than that
	ackTime     = 3 * time.Second
	drainTime   = 20 * time.Second // how long an old connection is read beside the new one
	firstPause  = time.Second
	maxPauseWS  = 30 * time.Second
	wrongPause  = 5 * time.Minute // after Slack rejects the token
	steadyTime  = time.Minute     // a connection that lasted this long was stable
	socketLimit = 1 << 20
	maxUnacked  = 64 // envelopes handled at once
)

// socketReceiver receives envelopes over a websocket.
type socketReceiver struct {
	*base
	dispatcher  *dispatcher
	connections Connections
	appToken    string
	server      string // this server's name
	dialer      *websocket.Dialer
}

// listen receives envelopes until ctx ends. It reconnects with growing pauses after losing the connection, and before Slack ends it.
// Nothing is lost: envelopes are acknowledged once their effect is recorded, and Slack resends others to any server.
func (ln *socketReceiver) listen(ctx context.Context) {
	var old sync.WaitGroup
	defer old.Wait()
	pause, link := firstPause, chat.Connection{Server: ln.server, Kind: kind, State: "connecting", Since: ln.now()}
	tell := func(state, trouble string) {
		if state != link.State {
			link.State, link.Since = state, ln.now()
		}
		link.Error = trouble
		if err := ln.connections.NoteChatConnection(context.WithoutCancel(ctx), link); err != nil && ctx.Err() == nil {
			ln.log.Warn("slack: this server's connection state couldn't be recorded", "error", err)
		}
	}
	tell("connecting", "")
	for ctx.Err() == nil {
		c, err := ln.connect(ctx)
		if err != nil {
			if ctx.Err() != nil {
				break
			}
			wait := pause
			if wrong := app.CodeOf(err) == app.ECredentials; wrong {
				wait = wrongPause
			} else if e := app.AsError(err); e.RetryAfter > wait {
				wait = e.RetryAfter
			}
			ln.log.Warn("slack: the websocket can't be opened; retrying", "in", wait, "error", err)
			tell("down", app.AsError(err).Message)
			if !unlessDone(ctx, wait+rand.N(wait/4+1)) {
				break
			}
			pause = min(2*pause, maxPauseWS)
			continue
		}
		began, replace, hello := ln.now(), make(chan struct{}), c.hello
		ended := make(chan error, 1)
		old.Go(func() { ended <- c.serve(ctx, replace) })
		ping := time.NewTicker(time.Minute)
	steady:
		for {
			select {
			case <-hello:
				hello = nil
				tell("connected", "")
			case <-ping.C:
				tell(link.State, "") // shows that it's alive
			case <-replace:
				break steady // open the next one while reading this one to its end
			case err := <-ended:
				if ctx.Err() == nil {
					ln.log.Info("slack: the websocket was lost; reconnecting", "error", err)
					tell("connecting", "The connection was lost.")
					if ln.now().Sub(began) < steadyTime && !unlessDone(ctx, pause+rand.N(pause/4+1)) {
						break steady
					}
				}
				break steady
			}
		}
		ping.Stop()
		if ln.now().Sub(began) >= steadyTime {
			pause = firstPause
		} else {
			pause = min(2*pause, maxPauseWS)
		}
	}
	tell("down", "The server has stopped.")
}

// connection is a websocket.
type connection struct {
	ln    *socketReceiver
	ws    *websocket.Conn
	hello chan struct{}
	once  sync.Once
	write sync.Mutex
	busy  chan struct{}
	work  sync.WaitGroup
}

// connect gets an address from Slack and opens it. The address is a secret, since it needs no other credentials.
func (ln *socketReceiver) connect(ctx context.Context) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	api := slack.New("", slack.OptionAppLevelToken(ln.appToken), slack.OptionAPIURL(ln.apiURL), slack.OptionHTTPClient(ln.client))
	_, address, err := api.StartSocketModeContext(ctx)
	if err != nil {
		return nil, coded(err)
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "wss" && (u.Scheme != "ws" || !loopback(u.Hostname())) {
		return nil, app.Errorf(app.ETransient, "Slack sent no websocket address that is safe to open")
	}
	ws, resp, err := ln.dialer.DialContext(ctx, address, nil)
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close()
	}
	if err != nil {
		return nil, &app.Error{Code: app.ETransient, Message: "Slack's websocket can't be opened", Err: withoutAddress(err)}
	}
	return &connection{ln: ln, ws: ws, hello: make(chan struct{}), busy: make(chan struct{}, maxUnacked)}, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// withoutAddress removes the secret address from an error.
func withoutAddress(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// serve reads one connection to its end. Replace is closed when another one should be opened.
func (c *connection) serve(ctx context.Context, replace chan struct{}) error {
	defer c.work.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	closing := context.AfterFunc(ctx, func() { _ = c.ws.Close() })
	defer closing()
	defer func() { _ = c.ws.Close() }()
	c.ws.SetReadLimit(socketLimit)
	alive := func() { _ = c.ws.SetReadDeadline(time.Now().Add(silence)) }
	alive()
	c.ws.SetPingHandler(func(data string) error {
		alive()
		err := c.ws.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(ackTime))
		var slow net.Error
		if errors.As(err, &slow) && slow.Timeout() {
			return nil
		}
		return err
	})
	replaced := false
	for {
		var e socketmode.Request
		if err := c.ws.ReadJSON(&e); err != nil {
			return withoutAddress(err)
		}
		alive()
		switch e.Type {
		case socketmode.RequestTypeHello:
			c.once.Do(func() { close(c.hello) })
		case socketmode.RequestTypeDisconnect:
			if e.Reason == "link_disabled" {
				return app.Errorf(app.ECredentials, "Socket Mode is turned off for the app")
			}
			if !replaced {
				replaced = true
				close(replace)
				time.AfterFunc(drainTime, stop)
			}
		default:
			if e.EnvelopeID != "" {
				c.take(ctx, e)
			}
		}
	}
}

// take handles an envelope concurrently. If there are too many, it's left for Slack to resend.
func (c *connection) take(ctx context.Context, e socketmode.Request) {
	select {
	case c.busy <- struct{}{}:
	default:
		c.ln.log.Warn("slack: too many envelopes; Slack will resend this one")
		return
	}
	c.work.Go(func() {
		defer func() { <-c.busy }()
		defer func() {
			if trouble := recover(); trouble != nil {
				c.ln.log.Error("slack: an envelope panicked", "panic", trouble)
			}
		}()
		// Started work is answered even if the connection is ending.
		ctx := context.WithoutCancel(ctx)
		how := delivery{id: "envelope " + e.EnvelopeID, socket: true}
		var r reply
		switch e.Type {
		case socketmode.RequestTypeSlashCommands:
			var v slash
			if err := json.Unmarshal(e.Payload, &v); err != nil {
				r = refuse(http.StatusBadRequest, "The command isn't valid JSON.")
				break
			}
			r = c.ln.dispatcher.heardCommand(ctx, how, v)
		case socketmode.RequestTypeInteractive:
			r = c.ln.dispatcher.heardAction(ctx, how, e.Payload)
		case socketmode.RequestTypeEventsAPI:
			r = c.ln.dispatcher.heardEvent(ctx, how, e.Payload)
		}
		if r.again() {
			return
		}
		if err := c.acknowledge(e, r); err != nil {
			c.ln.log.Info("slack: an envelope couldn't be acknowledged; Slack will resend it", "error", withoutAddress(err))
		}
	})
}

// maxAck limits acknowledgements; Slack silently drops longer ones.
const maxAck = 16 << 10

func (c *connection) acknowledge(e socketmode.Request, r reply) error {
	type ack struct {
		Envelope string `json:"envelope_id"`
		Payload  any    `json:"payload,omitempty"`
	}
	a := ack{Envelope: e.EnvelopeID}
	if e.AcceptsResponsePayload {
		a.Payload = r.body
	}
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if len(text) > maxAck {
		if a.Payload = r.small; r.late != nil {
			defer r.late()
		}
		if text, err = json.Marshal(a); err != nil {
			return err
		}
	}
	c.write.Lock()
	defer c.write.Unlock()
	_ = c.ws.SetWriteDeadline(time.Now().Add(ackTime))
	return c.ws.WriteMessage(websocket.TextMessage, text)
}
