package wire

import (
	"bufio"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

const (
	bufferSize    = 16 << 10
	handshakeTime = 20 * time.Second
)

// upgrader opens streams of programs, which have a token and no cookies. A browser says where its page is from, and is refused.
var upgrader = websocket.Upgrader{ReadBufferSize: bufferSize, WriteBufferSize: bufferSize, WriteBufferPool: &sync.Pool{},
	CheckOrigin: func(r *http.Request) bool { return r.Header.Get("Origin") == "" }}

// AcceptStream answers a request for a stream with it. Where it isn't one, it has answered with an error.
func AcceptStream(w http.ResponseWriter, r *http.Request) (*Stream, error) {
	ws, err := upgrader.Upgrade(Hijacker{w}, r, nil)
	if err != nil {
		return nil, err
	}
	return NewStream(ws), nil
}

// IsStream reports whether a request is one for a stream.
func IsStream(r *http.Request) bool { return websocket.IsWebSocketUpgrade(r) }

// Hijacker finds the connection of a writer through whatever wraps it.
type Hijacker struct{ http.ResponseWriter }

// Hijack implements http.Hijacker.
func (h Hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(h.ResponseWriter).Hijack()
}

// DialStream opens a stream at an http or https address, over a connection of its own. T may be nil. The response is that of a server that refuses;
// nil where there is none.
func DialStream(ctx context.Context, address string, header http.Header, t *tls.Config) (*Stream, *http.Response, error) {
	d := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: handshakeTime, ReadBufferSize: bufferSize, WriteBufferSize: bufferSize}
	if t != nil {
		d.TLSClientConfig = t.Clone()
		d.TLSClientConfig.NextProtos = []string{"http/1.1"}
	}
	ws, resp, err := d.DialContext(ctx, "ws"+strings.TrimPrefix(address, "http"), header)
	if err != nil {
		return nil, resp, err
	}
	return NewStream(ws), nil, nil
}
