package site

import (
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	// uploadTime is how long an upload may take, uploadPause how long it may stall.
	UploadTime  = 6 * time.Hour
	UploadPause = time.Minute
)

// steady is a body that may be slow, but must not stall.
type steady struct {
	r  io.Reader
	rc *http.ResponseController
}

// Read implements io.Reader.
func (s steady) Read(b []byte) (int, error) {
	_ = s.rc.SetReadDeadline(time.Now().Add(UploadPause))
	return s.r.Read(b)
}

// Steady reads the body of a request that may be slow, but must not stall.
func Steady(w http.ResponseWriter, body io.Reader) io.Reader {
	return steady{body, http.NewResponseController(w)}
}

// LongBody lets the body of a form be of any length, and its answer wait for it. Answered sets the usual deadline again.
func LongBody(w http.ResponseWriter, r *http.Request) (answered func()) {
	rc, body := http.NewResponseController(w), r.Body
	_ = rc.SetWriteDeadline(time.Time{})
	r.Body = struct {
		io.Reader
		io.Closer
	}{Steady(w, http.MaxBytesReader(w, body, 1<<50)), body}
	return func() { _ = rc.SetWriteDeadline(time.Now().Add(RequestTime)) }
}

var ErrGone = errors.New("the reader has disconnected")

// SendContent copies with a deadline for each piece, so that stalled readers are dropped. The response only ends properly if the content
// was verified.
func SendContent(w http.ResponseWriter, r io.Reader) error {
	rc := http.NewResponseController(w)
	buf := make([]byte, 128<<10)
	for {
		n, err := io.ReadFull(r, buf)
		ended := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !ended {
			return err
		}
		if n > 0 {
			_ = rc.SetWriteDeadline(time.Now().Add(UploadPause))
			if _, err := w.Write(buf[:n]); err != nil {
				return errors.Join(ErrGone, err)
			}
		}
		if ended {
			return nil
		}
	}
}
