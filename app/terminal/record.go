package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"muster/app"
	"muster/app/family"
)

// Recordings are asciicast v2 (https://docs.asciinema.org/manual/asciicast/v2/): a header, and then an event per line, of what was shown and of
// sizes. What is typed isn't recorded, other than as it's shown: passwords aren't.

const (
	// chunkSize and chunkTime are how much is recorded, and for how long, before it's kept.
	chunkSize = 64 << 10
	chunkTime = 3 * time.Second
	// maxRecording bounds a recording, in bytes.
	maxRecording = 64 << 20
)

// errLimit ends a terminal whose recording is full: what it shows would not be recorded.
var errLimit = &app.Error{Code: app.EConflict, Reason: "recording", Message: "This terminal was closed because its recording reached 64 MB.",
	Hint: "Open a new terminal."}

// Chunk is a part of a recording.
type Chunk struct {
	Terminal string
	Events   []byte // lines
	Seconds  int64  // since the terminal was opened, at its end
}

// recorder keeps what a terminal shows.
type recorder struct {
	s      *Service
	x      *session
	mu     sync.Mutex
	lines  bytes.Buffer
	split  []byte // the beginning of a character whose rest hasn't come
	size   int64
	timer  *time.Timer
	broken bool
}

func (s *Service) recorder(x *session) *recorder {
	r := &recorder{s: s, x: x, size: x.Bytes}
	r.resize(x.Size)
	return r
}

// output records what the terminal has shown.
func (r *recorder) output(b []byte) {
	r.mu.Lock()
	b = append(r.split, b...)
	r.split = nil
	if n := incomplete(b); n > 0 {
		b, r.split = b[:len(b)-n], append([]byte(nil), b[len(b)-n:]...)
	}
	if len(b) > 0 {
		r.event("o", string(b))
	}
	r.mu.Unlock()
}

// incomplete is how many bytes at the end are the beginning of a character.
func incomplete(b []byte) int {
	for n := 1; n <= min(utf8.UTFMax-1, len(b)); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

func (r *recorder) resize(size family.TerminalSize) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.event("r", fmt.Sprintf("%dx%d", size.Columns, size.Rows))
}

// event adds one. The lock is held.
func (r *recorder) event(kind, text string) {
	if r.broken {
		return
	}
	line, err := json.Marshal([]any{json.Number(fmt.Sprintf("%.3f", r.s.Now().Sub(r.x.OpenedAt).Seconds())), kind, text})
	if err != nil {
		return
	}
	r.lines.Write(append(line, '\n'))
	r.size += int64(len(line)) + 1
	switch {
	case r.lines.Len() >= chunkSize:
		r.flush(context.Background())
	case r.timer == nil:
		r.timer = time.AfterFunc(chunkTime, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.flush(context.Background())
		})
	}
	if r.size > maxRecording && !r.broken {
		r.fail(errLimit)
	}
}

// fail ends the terminal. The lock is held.
func (r *recorder) fail(why *app.Error) {
	r.broken = true
	go r.s.end(r.x, why)
}

// flush keeps what is recorded. A terminal whose recording can't be kept ends. The lock is held.
func (r *recorder) flush(ctx context.Context) {
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	if r.lines.Len() == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, quitTime)
	defer cancel()
	err := r.s.Recordings.AddChunk(ctx, Chunk{Terminal: r.x.ID, Events: bytes.Clone(r.lines.Bytes()), Seconds: int64(r.s.Now().Sub(r.x.OpenedAt).Seconds())})
	r.lines.Reset()
	if err != nil && !r.broken {
		r.fail(&app.Error{Code: app.EConflict, Reason: "recording", Message: "This terminal was closed because its recording couldn't be saved.",
			Hint: "Try again. If it happens again, tell an admin: the server's log has the details.", Err: err})
	}
}

func (r *recorder) close(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flush(ctx)
	r.broken = true
}

// Recording writes a recording in asciicast format to w: one's own, or as an admin anyone's of the tenant. Each is in the audit log. ENotFound where
// there is no such recording.
func (s *Service) Recording(ctx context.Context, actor app.Actor, id string, w io.Writer) error {
	t, err := s.RecordedTerminal(ctx, actor, id)
	if err != nil {
		return err
	}
	if err := s.Recordings.AuditPlay(ctx, actor, t, s.Now()); err != nil {
		return err
	}
	head, err := json.Marshal(map[string]any{"version": 2, "width": t.Size.Columns, "height": t.Size.Rows, "timestamp": t.OpenedAt.Unix(),
		"title": fmt.Sprintf("%s on %s of %s", t.User, t.Node, t.Cluster)})
	if err != nil {
		return err
	}
	if _, err := w.Write(append(head, '\n')); err != nil {
		return err
	}
	return s.Recordings.Chunks(ctx, t.ID, func(events []byte) error {
		_, err := w.Write(events)
		return err
	})
}

// RecordedTerminal returns a terminal with a recording that the actor may play.
func (s *Service) RecordedTerminal(ctx context.Context, actor app.Actor, id string) (Terminal, error) {
	reach, err := actor.Reach("Recording")
	if err != nil {
		return Terminal{}, err
	}
	t, err := s.Store.Terminal(ctx, actor.Tenant, id)
	if err != nil || reach != app.All && t.User != actor.Name() || !t.Recorded {
		return Terminal{}, app.Errorf(app.ENotFound, "There is no such recording.")
	}
	return t, nil
}
