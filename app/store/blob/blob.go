package blob

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"muster/app"
	"muster/app/resource"
)

// Config says where contents are.
type Config struct {
	// URL is the place, such as s3://BUCKET?region=eu-central-1; "" is Dir.
	URL string
	// Dir is where contents are kept without a URL. Spool is where they come in; no one else uses it.
	Dir, Spool string
	// Git says how repositories are read; the zero value is what production wants.
	Git GitOptions
}

// Store keeps contents. Close it.
type Store struct {
	backend backend
	spool   string
	git     GitOptions
	name    string
}

var _ resource.BlobStore = (*Store)(nil)

// Open opens the place. What a run before has left in the spool is removed.
func Open(ctx context.Context, c Config) (*Store, error) {
	s := &Store{spool: c.Spool, git: c.Git}
	if err := os.RemoveAll(c.Spool); err != nil {
		return nil, fmt.Errorf("blob: spool: %w", err)
	}
	if err := os.MkdirAll(c.Spool, 0o700); err != nil {
		return nil, fmt.Errorf("blob: spool: %w", err)
	}
	where := c.URL
	if where == "" {
		if err := os.MkdirAll(c.Dir, 0o700); err != nil {
			return nil, fmt.Errorf("blob: %w", err)
		}
		dir, err := filepath.Abs(c.Dir)
		if err != nil {
			return nil, fmt.Errorf("blob: %w", err)
		}
		where = (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String()
	}
	var err error
	if s.backend, s.name, err = openBackend(ctx, where); err != nil {
		return nil, s.problem("open", err)
	}
	return s, nil
}

// Name says where contents are, without what may be secret.
func (s *Store) Name() string { return s.name }

// Close lets go of connections.
func (s *Store) Close() error { return s.backend.close() }

func (s *Store) Open(ctx context.Context, name string, from int64) (io.ReadCloser, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	r, err := s.backend.open(ctx, name, from)
	if err != nil {
		return nil, s.problem("read", err)
	}
	return reading{r, s}, nil
}

// reading returns errors their codes.
type reading struct {
	io.ReadCloser
	s *Store
}

func (r reading) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // a reader ends with io.EOF itself; a wrapped one is a failure
		err = r.s.problem("read", err)
	}
	return n, err
}

// Put keeps a content under its name, with all of the bytes that are said or not at all. What is there in the same size is left alone. On its way
// to another host the content passes through the spool, so that it can be sent again where sending it breaks off.
func (s *Store) Put(ctx context.Context, name string, size int64, r io.Reader) error {
	if n, err := s.sizeOf(ctx, name); err != nil || n == size {
		return err
	}
	if d, ok := s.backend.(*directory); ok {
		if err := d.put(ctx, name, &exactReader{r, size}); err != nil {
			return s.problem("write", err)
		}
		return nil
	}
	t, err := s.Take(ctx, &exactReader{r, size}, 0)
	if err != nil {
		return err
	}
	defer t.Close()
	return s.write(ctx, name, t.(*spooled).content())
}

// exactReader ends with an error if there are not just as many bytes as were said.
type exactReader struct {
	r    io.Reader
	left int64
}

// Read reads on.
func (w *exactReader) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if w.left -= int64(n); w.left < 0 || err == io.EOF && w.left > 0 { //nolint:errorlint // a reader ends with io.EOF itself; a wrapped one is a failure
		err = fmt.Errorf("%d bytes are missing", w.left)
	}
	return n, err
}

// Has reports whether there is a content.
func (s *Store) Has(ctx context.Context, name string) (bool, error) {
	n, err := s.sizeOf(ctx, name)
	return n >= 0, err
}

// probeName is how the name of what Probe writes begins. No content has such a name. It has no folder, which would stay, and be another user's where
// root has looked.
const probeName = "doctor-"

// Probe writes a few bytes, reads them and deletes them: nil where a server could work with the place.
func (s *Store) Probe(ctx context.Context) error {
	name := probeName + rand.Text()
	text := []byte("written by muster doctor " + name)
	if err := s.Put(ctx, name, int64(len(text)), bytes.NewReader(text)); err != nil {
		return err
	}
	r, err := s.Open(ctx, name, 0)
	if err == nil {
		var got []byte
		if got, err = io.ReadAll(io.LimitReader(r, 1<<10)); err == nil && !bytes.Equal(got, text) {
			err = s.problem("read", errors.New("the content read differs from what was written"))
		}
		_ = r.Close()
	}
	if e := s.Delete(ctx, name); err == nil {
		err = e
	}
	return err
}

func (s *Store) Delete(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := s.backend.remove(ctx, name); err != nil && !errors.Is(err, errAbsent) {
		return s.problem("delete", err)
	}
	return nil
}

// List implements resource.BlobStore. Files of the place that are no contents are not its business.
func (s *Store) List(ctx context.Context, prefix string, each func(name string, at time.Time) error) error {
	var stopped error // by the caller, whose error is not one of the place
	err := s.backend.list(ctx, prefix, func(name string, at time.Time) error {
		if isName(name) {
			stopped = each(name, at)
		}
		return stopped
	})
	if err != nil && stopped == nil {
		return s.problem("list", err)
	}
	return stopped
}

// sizeOf returns how many bytes there are under a name; -1 where there is nothing.
func (s *Store) sizeOf(ctx context.Context, name string) (int64, error) {
	if err := checkName(name); err != nil {
		return -1, err
	}
	n, err := s.backend.size(ctx, name)
	if err != nil {
		return -1, s.problem("look for", err)
	}
	return n, nil
}

// holds reports whether what is under a name is the content of that hash.
func (s *Store) holds(ctx context.Context, name string, size int64, hash string) (bool, error) {
	if n, err := s.sizeOf(ctx, name); err != nil || n != size {
		return false, err
	}
	r, err := s.Open(ctx, name, 0)
	if err != nil {
		return false, err
	}
	defer r.Close()
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return false, err
	}
	return hex.EncodeToString(h.Sum(nil)) == hash, nil
}

func (s *Store) write(ctx context.Context, name string, content *io.SectionReader) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := s.backend.write(ctx, name, content); err != nil {
		return s.problem("write", err)
	}
	return nil
}

func (s *Store) problem(act string, err error) error {
	var known *app.Error
	if errors.As(err, &known) {
		return err
	}
	e := &app.Error{Code: app.ETransient, Message: "The blob store returned an unexpected response.", Err: fmt.Errorf("blob: %s at %s: %w", act, s.name, err),
		Hint: "Try again. If the error persists, the server's operator can find details in its log."}
	switch {
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		e.Code, e.Message = app.ETimeout, "The blob store didn't respond in time."
	case errors.Is(err, errAbsent) && act == "read":
		e.Code, e.Message, e.Hint = app.ENotFound, "The content doesn't exist.", ""
	case errors.Is(err, errAbsent):
		e.Message, e.Hint = "The blob store doesn't exist.", "Ask the operator to check --blob or MUSTER_BLOB_URL."
	case errors.Is(err, errRefused):
		e.Code, e.Message = app.ECredentials, "The blob store rejected the server's credentials."
		e.Hint = "Grant the server permission to read, write, list and delete, with credentials in a form that the service's own tools read."
	case isFull(err):
		e.Code, e.Message, e.Hint = app.ECapacity, "The blob store is full.", "Ask the server's operator to free some space."
	}
	return e
}
