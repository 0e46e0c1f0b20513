package site

import (
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	// uploadTime is how long an upload may take, uploadPause how long it may say nothing.
	UploadTime  = 6 * time.Hour
	UploadPause = time.Minute
)

var ErrGone = errors.New("the reader has disconnected")

// SendContent copies with a deadline for each piece, so that a reader that stands still is let go of. The end is said only when all of it
// was found to be right.
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
