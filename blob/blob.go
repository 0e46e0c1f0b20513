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
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/azureblob"
	"gocloud.dev/blob/s3blob"
	"gocloud.dev/gcerrors"
	"google.golang.org/api/googleapi"

	// The drivers, each of which registers its scheme.
	_ "gocloud.dev/blob/fileblob"
	_ "gocloud.dev/blob/gcsblob"
	_ "gocloud.dev/blob/memblob"

	"muster/app"
)

// Schemes are those of the places that there are, sorted.
var Schemes = []string{"azblob", "file", "gs", "mem", "s3"}

// Config says where contents are.
type Config struct {
	// URL is the place, such as s3://BUCKET?region=eu-central-1; "" is Dir.
	URL string
	// Dir is where contents are kept without a URL. Spool is where they come in; nobody else uses it.
	Dir, Spool string
	// Git says how repositories are read; the zero value is what production wants.
	Git GitOptions
}

// Store keeps contents. Close it.
type Store struct {
	bucket *blob.Bucket
	spool  string
	git    GitOptions
	name   string
	// uploads says that contents are handed over as a whole: the driver of Azure may panic where one that it is given in pieces cannot be written.
	uploads bool
}

var _ app.BlobStore = (*Store)(nil)

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
		// Temporary files beside the content, so that moving them is one step; no files of attributes.
		where = (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir), RawQuery: "no_tmp_dir=true&metadata=skip&dir_file_mode=448"}).String()
	}
	u, err := url.Parse(where)
	if err != nil || !slices.Contains(Schemes, u.Scheme) {
		return nil, &app.Error{Code: app.EInvalid, Field: "MUSTER_BLOB_URL", Message: "That is not the URL of a place for resources.",
			Hint: "It begins with " + strings.Join(Schemes, "://, ") + "://. Leave it out to keep them in the data directory."}
	}
	s.name, s.uploads = u.Scheme+"://"+u.Host+u.Path, u.Scheme == azureblob.Scheme
	if u.Scheme == s3blob.Scheme {
		s.bucket, err = openS3(ctx, u)
	} else {
		s.bucket, err = blob.OpenBucket(ctx, where)
	}
	if err != nil {
		return nil, s.problem("open", err)
	}
	return s, nil
}

// Name says where contents are, without what may be secret.
func (s *Store) Name() string { return s.name }

// Close lets go of connections.
func (s *Store) Close() error { return s.bucket.Close() }

// Open implements app.BlobStore.
func (s *Store) Open(ctx context.Context, name string, from int64) (io.ReadCloser, error) {
	r, err := s.bucket.NewRangeReader(ctx, name, from, -1, nil)
	if err != nil {
		return nil, s.problem("read", err)
	}
	return reading{r, s}, nil
}

// reading gives errors their codes.
type reading struct {
	io.ReadCloser
	s *Store
}

// Read implements io.Reader.
func (r reading) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = r.s.problem("read", err)
	}
	return n, err
}

// Put keeps a content under its name, with all of the bytes that are said or not at all. What is there in the same size is left alone.
func (s *Store) Put(ctx context.Context, name string, size int64, r io.Reader) error {
	return s.put(ctx, name, size, r)
}

// Has tells whether there is a content.
func (s *Store) Has(ctx context.Context, name string) (bool, error) {
	n, err := s.sizeOf(ctx, name)
	return n >= 0, err
}

// probeName is how the name of what Probe writes begins. No content has such a name. It has no folder, which would stay, and be another user's where root has looked.
const probeName = "doctor-"

// Probe writes a few bytes, reads them and deletes them: nil where a server could work with the place.
func (s *Store) Probe(ctx context.Context) error {
	name := probeName + rand.Text()
	text := []byte("written by muster doctor " + name)
	if err := s.put(ctx, name, int64(len(text)), bytes.NewReader(text)); err != nil {
		return err
	}
	r, err := s.Open(ctx, name, 0)
	if err == nil {
		var got []byte
		if got, err = io.ReadAll(io.LimitReader(r, 1<<10)); err == nil && !bytes.Equal(got, text) {
			err = s.problem("read", errors.New("what was written is not what is read"))
		}
		_ = r.Close()
	}
	if e := s.Delete(ctx, name); err == nil {
		err = e
	}
	return err
}

// Delete implements app.BlobStore.
func (s *Store) Delete(ctx context.Context, name string) error {
	if err := s.bucket.Delete(ctx, name); err != nil && kindOf(err) != gcerrors.NotFound {
		return s.problem("delete", err)
	}
	return nil
}

// List implements app.BlobStore.
func (s *Store) List(ctx context.Context, prefix string, each func(name string, at time.Time) error) error {
	all := s.bucket.List(&blob.ListOptions{Prefix: prefix})
	for {
		o, err := all.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return s.problem("list", err)
		}
		if err := each(o.Key, o.ModTime); err != nil {
			return err
		}
	}
}

// sizeOf gives how many bytes there are under a name; -1 where there is nothing.
func (s *Store) sizeOf(ctx context.Context, name string) (int64, error) {
	a, err := s.bucket.Attributes(ctx, name)
	switch {
	case err == nil:
		return a.Size, nil
	case kindOf(err) == gcerrors.NotFound:
		return -1, nil
	}
	return -1, s.problem("look for", err)
}

// holds tells whether what is under a name is the content of that hash.
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

// put writes a content under its name, unless there is one of its size.
func (s *Store) put(ctx context.Context, name string, size int64, r io.Reader) error {
	if n, err := s.sizeOf(ctx, name); err != nil || n == size {
		return err
	}
	return s.write(ctx, name, size, r)
}

// write writes a content under its name. The drivers make it visible when all of it is there; a write that is cut off is called off.
func (s *Store) write(ctx context.Context, name string, size int64, r io.Reader) error {
	writing, cancel := context.WithCancel(ctx)
	defer cancel()
	options := &blob.WriterOptions{ContentType: "application/octet-stream"}
	if s.uploads {
		if err := s.bucket.Upload(writing, name, &whole{r, size}, options); err != nil {
			return s.problem("write", err)
		}
		return nil
	}
	w, err := s.bucket.NewWriter(writing, name, options)
	if err != nil {
		return s.problem("write", err)
	}
	if _, err = io.Copy(w, &whole{r, size}); err != nil {
		cancel() // before Close, so that what came so far is dropped
		_ = w.Close()
		return s.problem("write", err)
	}
	if err := w.Close(); err != nil {
		return s.problem("write", err)
	}
	return nil
}

// whole ends with an error where there are not just as many bytes as were said.
type whole struct {
	r    io.Reader
	left int64
}

// Read implements io.Reader.
func (w *whole) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if w.left -= int64(n); w.left < 0 || err == io.EOF && w.left > 0 {
		err = fmt.Errorf("%d bytes are missing", w.left)
	}
	return n, err
}

// kindOf is what the drivers say of an error, but that Google's takes what is forbidden for what is not there.
func kindOf(err error) gcerrors.ErrorCode {
	var google *googleapi.Error
	if errors.As(err, &google) && google.Code == http.StatusForbidden {
		return gcerrors.PermissionDenied
	}
	return gcerrors.Code(err)
}

func (s *Store) problem(act string, err error) error {
	var known *app.Error
	if errors.As(err, &known) {
		return err
	}
	e := &app.Error{Code: app.ETransient, Message: "The place for resources does not answer as it should.", Err: fmt.Errorf("blob: %s at %s: %w", act, s.name, err),
		Hint: "Try again. If it stays so, whoever runs the server finds more in its log."}
	switch code := kindOf(err); {
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		e.Code, e.Message = app.ETimeout, "The place for resources did not answer in time."
	case code == gcerrors.NotFound || errors.Is(err, os.ErrNotExist):
		e.Code, e.Message, e.Hint = app.ENotFound, "The content is not there.", ""
	case code == gcerrors.PermissionDenied || errors.Is(err, os.ErrPermission):
		e.Code, e.Message = app.ECredentials, "The place for resources does not let this server in."
		e.Hint = "It needs the right to read, write, list and delete, and credentials in the form that the service's own tools read."
	case isFull(err):
		e.Code, e.Message, e.Hint = app.ECapacity, "There is no room left for resources.", "Whoever runs the server has to make some."
	}
	return e
}
