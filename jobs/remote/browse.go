package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
)

const (
	// listMax is how much a machine may say about a folder, in bytes: some 20,000 files.
	listMax = 4 << 20
	// filesAtOnce is how many requests of a transfer run at once, of 32 KiB each.
	filesAtOnce = 64
	// linksAtOnce is how many links are followed at the same time, and linksMax how many of a folder.
	linksAtOnce = 16
	linksMax    = 200
	// diskLeft is what a disk that is called full has left at most, in bytes.
	diskLeft = 1 << 20
)

var (
	_ family.FileOpener = (*Conn)(nil)
	_ family.Files      = (*browsing)(nil)
)

// browsing is a session of SFTP.
type browsing struct {
	client  *sftp.Client
	ch      ssh.Channel
	heard   *hearing
	listMax int64
	user    string
	stop    func() bool
}

// hearing is what a machine sends. Once it's more than most allows, enough is called.
type hearing struct {
	r io.Reader
	n atomic.Int64
	b atomic.Pointer[budget]
}

type budget struct {
	most   int64
	enough func()
}

// Read implements io.Reader.
func (h *hearing) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	all := h.n.Add(int64(n))
	if b := h.b.Load(); b != nil && all > b.most {
		b.enough()
	}
	return n, err
}

// OpenFiles implements family.FileOpener.
func (c *Conn) OpenFiles(ctx context.Context) (family.Files, error) { return c.openFiles(ctx, listMax) }

func (c *Conn) openFiles(ctx context.Context, listMax int64) (family.Files, error) {
	b := &browsing{heard: &hearing{}, listMax: listMax, user: c.target.User}
	var err error
	b.client, b.ch, err = c.startSFTP(ctx, func(r io.Reader) io.Reader { b.heard.r = r; return b.heard })
	if err != nil {
		return nil, err
	}
	b.stop = context.AfterFunc(ctx, func() { _ = b.ch.Close() })
	return b, nil
}

// Close implements family.Files.
func (b *browsing) Close() error {
	b.stop()
	_ = b.ch.Close() // first: the library's waits for all that still runs
	_ = b.client.Close()
	return nil
}

// Home implements family.Files.
func (b *browsing) Home(ctx context.Context) (string, error) {
	p, err := b.client.RealPath(".")
	if err == nil && !path.IsAbs(p) {
		p = "/"
	}
	return p, b.fail(ctx, "read", ".", err)
}

// Stat implements family.Files.
func (b *browsing) Stat(ctx context.Context, p string) (family.File, error) {
	info, err := b.client.Lstat(p)
	if err != nil {
		return family.File{}, b.fail(ctx, "read", p, err)
	}
	return fileOf(info), nil
}

func fileOf(info fs.FileInfo) family.File {
	return family.File{Name: info.Name(), Mode: info.Mode(), Size: max(info.Size(), 0), Modified: info.ModTime()}
}

// List implements family.Files.
func (b *browsing) List(ctx context.Context, p string) (files []family.File, whole bool, err error) {
	info, err := b.client.Stat(p)
	if err != nil {
		return nil, false, b.fail(ctx, "read", p, err)
	}
	if !info.IsDir() {
		return nil, false, &app.Error{Code: app.EInvalid, Reason: family.FileKind, Message: humanize.FileName(p) + " isn't a folder.",
			Hint: "Open the folder that it's in."}
	}
	part, enough := context.WithCancel(ctx)
	defer enough()
	b.heard.b.Store(&budget{b.heard.n.Load() + b.listMax, enough})
	defer b.heard.b.Store(nil)
	all, err := b.client.ReadDirContext(part, p)
	whole = part.Err() == nil
	if err != nil && (whole || ctx.Err() != nil) {
		return nil, false, b.fail(ctx, "read", p, err)
	}
	for _, info := range all {
		if n := info.Name(); n != "" && n != "." && n != ".." && !strings.ContainsAny(n, "/\x00") {
			files = append(files, fileOf(info))
		}
	}
	return files, whole, nil
}

// Resolve implements family.Files.
func (b *browsing) Resolve(_ context.Context, folder string, links []*family.File) {
	var work sync.WaitGroup
	slots := make(chan struct{}, linksAtOnce)
	for _, f := range links[:min(len(links), linksMax)] {
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			at := path.Join(folder, f.Name)
			if target, err := b.client.ReadLink(at); err == nil {
				f.Target = target
			}
			if info, err := b.client.Stat(at); err == nil {
				f.Leads = info.IsDir()
			}
		})
	}
	work.Wait()
}

// Read implements family.Files.
func (b *browsing) Read(ctx context.Context, p string, begin func(family.File) (io.Writer, error)) error {
	info, err := b.client.Stat(p)
	if err != nil {
		return b.fail(ctx, "read", p, err)
	}
	if !info.Mode().IsRegular() { // opening others, such as a pipe, may never return
		return &app.Error{Code: app.EInvalid, Reason: family.FileKind, Message: humanize.FileName(p) + " isn't a file, so it can't be downloaded.",
			Hint: "To download a folder, use muster cluster cp -r."}
	}
	in, err := b.client.Open(p)
	if err != nil {
		return b.fail(ctx, "read", p, err)
	}
	defer in.Close()
	f := fileOf(info)
	f.Name = path.Base(p)
	w, err := begin(f)
	if err != nil {
		return err
	}
	if f.Size == 0 { // or one whose size isn't known, as in /proc
		_, err = in.WriteTo(w)
		return b.fail(ctx, "read", p, err)
	}
	out := &exactly{w: w, left: f.Size}
	if _, err = in.WriteTo(out); errors.Is(err, errEnough) {
		err = nil
	}
	if err == nil && out.left > 0 {
		return &app.Error{Code: app.EConflict, Reason: family.FileFailed, Message: humanize.FileName(p) + " became shorter while it was read.",
			Hint: "Download it again."}
	}
	return b.fail(ctx, "read", p, err)
}

// exactly passes on so many bytes. A file that grows is longer.
type exactly struct {
	w    io.Writer
	left int64
}

var errEnough = errors.New("enough was read")

// Write implements io.Writer.
func (e *exactly) Write(p []byte) (int, error) {
	n, err := e.w.Write(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	if err == nil && n < len(p) {
		err = errEnough
	}
	return n, err
}

// Create implements family.Files.
func (b *browsing) Create(ctx context.Context, p string, mode fs.FileMode, in io.Reader) (int64, error) {
	out, err := b.client.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return 0, b.failToWrite(ctx, p, err)
	}
	from := &source{r: in}
	var n int64
	if mode != 0 {
		err = out.Chmod(mode.Perm()) // before there is anything to read
	}
	if err == nil {
		n, err = out.ReadFromWithConcurrency(from, filesAtOnce)
	}
	if e := out.Close(); err == nil {
		err = e
	}
	if from.err != nil {
		return n, from.err
	}
	return n, b.failToWrite(ctx, p, err)
}

// source is a reader that keeps its error. It hides what else the reader can do.
type source struct {
	r   io.Reader
	err error
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// Move implements family.Files.
func (b *browsing) Move(ctx context.Context, from, to string, replace bool) error {
	if replace {
		return b.failToWrite(ctx, to, b.client.PosixRename(from, to))
	}
	if _, err := b.client.Lstat(to); err == nil {
		return fileExists(to)
	}
	err := b.client.Rename(from, to)
	if err == nil {
		return nil
	}
	if _, e := b.client.Lstat(to); e == nil {
		return fileExists(to)
	}
	return b.failToWrite(ctx, to, err)
}

func fileExists(p string) error {
	return &app.Error{Code: app.EConflict, Reason: family.FileExists, Message: humanize.FileName(p) + " already exists.",
		Hint: "To overwrite it, choose Replace existing files."}
}

// Remove implements family.Files.
func (b *browsing) Remove(ctx context.Context, p string) error {
	return b.fail(ctx, "delete", p, b.client.Remove(p))
}

// failToWrite words an error of writing a file. SSH servers don't say that a disk is full.
func (b *browsing) failToWrite(ctx context.Context, p string, err error) error {
	var status *sftp.StatusError
	if err == nil || !errors.As(err, &status) {
		return b.fail(ctx, "write to", path.Dir(p), err)
	}
	full := strings.Contains(strings.ToLower(status.Error()), "no space left")
	if disk, e := b.client.StatVFS(path.Dir(p)); !full && e == nil {
		full = disk.Bavail*disk.Frsize < diskLeft || disk.Files > 0 && disk.Favail == 0
	}
	if full {
		return &app.Error{Code: app.ECapacity, Reason: family.FileDiskFull, Message: "The node's disk that has " + humanize.FileName(path.Dir(p)) + " is full.",
			Hint: "Delete files there, or choose a folder on another disk."}
	}
	return b.fail(ctx, "write to", path.Dir(p), err)
}

// fail words an error about a path.
func (b *browsing) fail(ctx context.Context, act, p string, err error) error {
	var status *sftp.StatusError
	name := humanize.FileName(p)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, fs.ErrNotExist):
		return &app.Error{Code: app.ENotFound, Reason: family.FileMissing, Message: "The node has no " + name + ".",
			Hint: "Check the path. It may have been moved or deleted."}
	case errors.Is(err, fs.ErrPermission):
		return &app.Error{Code: app.EForbidden, Reason: family.FileDenied,
			Message: fmt.Sprintf("Permission denied: user %s of the node can't %s %s.", b.user, act, name),
			Hint:    "Choose another folder, or change its permissions in a terminal."}
	case errors.Is(err, sftp.ErrSSHFxConnectionLost), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &app.Error{Code: app.ETransient, Reason: "connection_lost", Message: "The connection to the node was lost.", Hint: "Try again.", Err: err}
	case errors.As(err, &status):
		hint := "Choose another path, or find out why in a terminal."
		if act == "write to" {
			hint = "Check that its disk is writable and that the name isn't too long."
		}
		return &app.Error{Code: app.EInvalid, Reason: family.FileFailed, Message: fmt.Sprintf("The node refused to %s %s.", act, name), Hint: hint, Err: err}
	}
	return err
}
