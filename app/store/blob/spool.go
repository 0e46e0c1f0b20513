package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"muster/app"
	"muster/app/archive"
	"muster/app/humanize"
	"muster/app/resource"
	"muster/app/template"
)

// spooled is a content in the spool.
type spooled struct {
	s    *Store
	file *os.File
	hash string
	size int64
}

var _ resource.TakenBlob = (*spooled)(nil)

func (s *Store) Take(ctx context.Context, r io.Reader, limit int64) (resource.TakenBlob, error) {
	f, err := os.CreateTemp(s.spool, "in-*")
	if err != nil {
		return nil, spoolProblem(err)
	}
	t := &spooled{s: s, file: f}
	// Without a name it goes with this process, however that ends.
	if err := os.Remove(f.Name()); err != nil {
		_ = t.Close()
		return nil, spoolProblem(err)
	}
	h := sha256.New()
	in := io.Reader(reader{ctx, r})
	if limit > 0 {
		in = io.LimitReader(in, limit+1)
	}
	if t.size, err = copyTo(f, h, in); err == nil && limit > 0 && t.size > limit {
		err = &app.Error{Code: app.ETooLarge, Field: "content", Message: "The content is larger than " + humanize.Bytes(limit) + ".",
			Hint: "The server's operator sets the limit with --resource-limit."}
	}
	if err != nil {
		_ = t.Close()
		return nil, err
	}
	t.hash = hex.EncodeToString(h.Sum(nil))
	return t, nil
}

// copyTo tells what went wrong with the disk from what went wrong with the sender.
func copyTo(f *os.File, h io.Writer, r io.Reader) (n int64, err error) {
	buf := make([]byte, 128<<10)
	for {
		k, readErr := r.Read(buf)
		if k > 0 {
			n += int64(k)
			_, _ = h.Write(buf[:k])
			if _, err := f.Write(buf[:k]); err != nil {
				return n, spoolProblem(err)
			}
		}
		switch {
		case readErr == io.EOF:
			return n, nil
		case readErr != nil:
			return n, cutOff(readErr)
		}
	}
}

func cutOff(err error) error {
	var known *app.Error
	if errors.As(err, &known) {
		return err
	}
	return &app.Error{Code: app.ETransient, Reason: "cut_off", Message: "The upload was interrupted, and nothing was saved.", Hint: "Upload again.", Err: err}
}

// reader ends with its context.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

func spoolProblem(err error) error {
	if isFull(err) {
		return &app.Error{Code: app.ECapacity, Message: "The server has no disk space for uploads.", Hint: "Ask the server's operator to free space in the data directory.", Err: err}
	}
	return fmt.Errorf("blob: spool: %w", err)
}

func (t *spooled) Hash() string { return t.hash }

func (t *spooled) Size() int64 { return t.size }

func (t *spooled) Files(ctx context.Context, format template.ResourceFormat, name string) ([]resource.File, error) {
	if format == resource.FormatFile {
		return []resource.File{{Path: name, Size: t.size, Mode: 0o644, Hash: t.hash}}, nil
	}
	return archive.List(ctx, archive.Source{R: t.file, Size: t.size, Name: name})
}

// Keep implements resource.TakenBlob. What is there already is read to its end: where something has changed it, it is written again.
func (t *spooled) Keep(ctx context.Context, name string) error {
	right, err := t.s.holds(ctx, name, t.size, t.hash)
	if err != nil || right {
		return err
	}
	return t.s.write(ctx, name, t.content())
}

func (t *spooled) content() *io.SectionReader { return io.NewSectionReader(t.file, 0, t.size) }

func (t *spooled) Close() error { return t.file.Close() }
