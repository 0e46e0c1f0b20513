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
