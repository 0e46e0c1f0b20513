package wire

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Timing of streams and terminals. Load balancers end connections that are silent for a minute.
const (
	PingEvery    = 25 * time.Second
	SilenceLimit = 75 * time.Second
	WriteLimit   = 30 * time.Second
	// MaxFrame bounds a message of a stream, in bytes.
	MaxFrame = 64 << 10
)

// Stream is a WebSocket as a connection: its binary messages are the bytes. One goroutine may read while another writes.
type Stream struct {
	ws   *websocket.Conn
	rest io.Reader // of the message that is being read
	mu   sync.Mutex
	once sync.Once

	at    sync.Mutex
	until time.Time // for reading; zero: none was set

	done chan struct{}
}

var _ net.Conn = (*Stream)(nil)

// NewStream returns the stream of an open WebSocket. It asks the other side now and then whether it is still there; Close ends that.
func NewStream(ws *websocket.Conn) *Stream {
	s := &Stream{ws: ws, done: make(chan struct{})}
	ws.SetReadLimit(MaxFrame)
	s.alive()
	ws.SetPongHandler(func(string) error { s.alive(); return nil })
	go s.ping()
	return s
}

// alive moves the limit of silence, but not beyond a deadline that was set.
func (s *Stream) alive() {
	s.at.Lock()
	defer s.at.Unlock()
	until := time.Now().Add(SilenceLimit)
	if !s.until.IsZero() && s.until.Before(until) {
		until = s.until
	}
	_ = s.ws.SetReadDeadline(until)
}

func (s *Stream) ping() {
	tick := time.NewTicker(PingEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-tick.C:
			if s.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(WriteLimit)) != nil {
				_ = s.Close()
				return
			}
		}
	}
}

// Read implements net.Conn.
func (s *Stream) Read(b []byte) (int, error) {
	for {
		if s.rest == nil {
			kind, r, err := s.ws.NextReader()
			if err != nil {
				return 0, ended(err)
			}
			s.alive()
			if kind != websocket.BinaryMessage {
				continue
			}
			s.rest = r
		}
		n, err := s.rest.Read(b)
		if errors.Is(err, io.EOF) {
			s.rest, err = nil, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// ended is io.EOF where the other side closed the stream.
func ended(err error) error {
	if websocket.IsCloseError(err, websocket.CloseNormalClosure, websocket.CloseGoingAway) {
		return io.EOF
	}
	return err
}

// Write implements net.Conn.
func (s *Stream) Write(b []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(b) > 0 {
		some := b[:min(len(b), MaxFrame)]
		_ = s.ws.SetWriteDeadline(time.Now().Add(WriteLimit))
		if err := s.ws.WriteMessage(websocket.BinaryMessage, some); err != nil {
			return n, err
		}
		n += len(some)
		b = b[len(some):]
	}
	return n, nil
}

// Close implements net.Conn.
func (s *Stream) Close() error {
	err := net.ErrClosed
	s.once.Do(func() {
		close(s.done)
		_ = s.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
		err = s.ws.Close()
	})
	return err
}

// LocalAddr implements net.Conn.
func (s *Stream) LocalAddr() net.Addr { return s.ws.LocalAddr() }

// RemoteAddr implements net.Conn.
func (s *Stream) RemoteAddr() net.Addr { return s.ws.RemoteAddr() }

// SetDeadline implements net.Conn. A deadline in the past ends the stream.
func (s *Stream) SetDeadline(t time.Time) error {
	if err := s.SetReadDeadline(t); err != nil {
		return err
	}
	return s.SetWriteDeadline(t)
}

// SetReadDeadline implements net.Conn. Zero keeps the limit of silence.
func (s *Stream) SetReadDeadline(t time.Time) error {
	s.at.Lock()
	s.until = t
	s.at.Unlock()
	s.alive()
	return nil
}

// SetWriteDeadline implements net.Conn.
func (s *Stream) SetWriteDeadline(t time.Time) error { return s.ws.NetConn().SetWriteDeadline(t) }

// Join copies between two connections, and closes both. Where one side has written its last, the other learns that where it can, and may still
// answer.
func Join(a, b net.Conn) {
	var all sync.WaitGroup
	all.Go(func() { pass(a, b) })
	all.Go(func() { pass(b, a) })
	all.Wait()
	_, _ = a.Close(), b.Close()
}

// pass copies one way.
func pass(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil && half.CloseWrite() == nil {
		return
	}
	_, _ = to.Close(), from.Close()
}
