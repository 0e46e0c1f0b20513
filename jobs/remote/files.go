package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"

	"muster/app"
	"muster/app/family"
)

// Files copies files over SFTP. Close it.
type Files struct {
	client *sftp.Client
	ch     ssh.Channel
	// Copied, where set, is called for each file that was copied.
	Copied func(name string, bytes int64)
	// Skipped, where set, is called for each link and device, which aren't copied.
	Skipped func(name string)
}

// Files starts SFTP. EInvalid where the machine doesn't offer it.
func (c *Conn) Files(ctx context.Context) (*Files, error) {
	client, ch, err := c.startSFTP(ctx, func(r io.Reader) io.Reader { return r })
	if err != nil {
		return nil, err
	}
	return &Files{client: client, ch: ch}, nil
}

// startSFTP starts SFTP, until ctx ends at the latest. What the machine sends is read through read.
func (c *Conn) startSFTP(ctx context.Context, read func(io.Reader) io.Reader) (*sftp.Client, ssh.Channel, error) {
	type result struct {
		client *sftp.Client
		ch     ssh.Channel
		err    error
	}
	started := make(chan result, 1)
	go func() {
		client, ch, err := c.openSFTP(ctx, read)
		started <- result{client, ch, err}
	}()
	var err error
	select {
	case r := <-started:
		return r.client, r.ch, r.err
	case <-c.gone:
		err = c.lost(nil)
	case <-ctx.Done():
		err = ended(ctx, "starting SFTP")
	}
	go func() { // one that is started too late is closed
		select {
		case r := <-started:
			if r.err == nil {
				_ = r.ch.Close()
			}
		case <-c.gone:
		}
	}()
	return nil, nil, err
}

func (c *Conn) openSFTP(ctx context.Context, read func(io.Reader) io.Reader) (*sftp.Client, ssh.Channel, error) {
	ch, reqs, err := c.open()
	if err != nil {
		return nil, nil, c.openError(ctx, err)
	}
	defer context.AfterFunc(ctx, func() { _ = ch.Close() })()
	go ssh.DiscardRequests(reqs)
	ok, err := ch.SendRequest("subsystem", true, ssh.Marshal(struct{ Name string }{"sftp"}))
	if err == nil && !ok {
		err = &app.Error{Code: app.EInvalid, Reason: family.FileNoSFTP, Message: "The node's SSH server doesn't offer SFTP.",
			Hint: "Set Subsystem sftp internal-sftp in its sshd_config."}
	}
	var client *sftp.Client
	if err == nil {
		client, err = sftp.NewClientPipe(read(ch), ch)
	}
	if err != nil {
		_ = ch.Close()
		return nil, nil, err
	}
	return client, ch, nil
}

// Close ends it.
func (f *Files) Close() error {
	err := f.client.Close()
	_ = f.ch.Close()
	return err
}

// until ends what runs when ctx ends.
func (f *Files) until(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() { _ = f.ch.Close() })
}

// inside is the target's name, or where the target is a directory, the name in it.
func inside(target, name string, dir bool) string {
	if dir || strings.HasSuffix(target, "/") {
		return path.Join(target, name)
	}
	return target
}

// Upload copies a file of this host, or a directory with all that is in it, to the machine. Target may be a directory; "" is the user's home.
func (f *Files) Upload(ctx context.Context, source, target string, recursive bool) error {
	defer f.until(ctx)()
	source, err := filepath.EvalSymlinks(source)
	if err != nil {
		return err
	}
	if source, err = filepath.Abs(source); err != nil {
		return err
	}
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	if target == "" {
		target = "."
	}
	at, err := f.client.Stat(target)
	to := inside(target, filepath.Base(source), err == nil && at.IsDir())
	if !info.IsDir() {
		return f.put(source, to, info)
	}
	if !recursive {
		return isDirectory(source)
	}
	return filepath.WalkDir(source, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(source, name)
		if err != nil {
			return err
		}
		here := path.Join(to, filepath.ToSlash(rel))
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return f.client.MkdirAll(here)
		case !info.Mode().IsRegular():
			f.skip(name)
			return nil
		}
		return f.put(name, here, info)
	})
}

func (f *Files) skip(name string) {
	if f.Skipped != nil {
		f.Skipped(name)
	}
}

func isDirectory(name string) error {
	return &app.Error{Code: app.EInvalid, Message: name + " is a directory", Hint: "Copy it with all that is in it: -r"}
}

func (f *Files) put(source, to string, info fs.FileInfo) error {
	in, err := os.Open(source)
	if err != nil {
		return err
	}
	defer in.Close()
	return f.PutFile(in, to, info.Mode().Perm())
}

// PutFile writes a file on the machine.
func (f *Files) PutFile(in io.Reader, to string, mode fs.FileMode) error {
	out, err := f.client.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return fileError(to, err)
	}
	var n int64
	if err = out.Chmod(mode); err == nil { // before there is anything to read
		n, err = out.ReadFrom(in)
	}
	if e := out.Close(); err == nil {
		err = e
	}
	if err == nil && f.Copied != nil {
		f.Copied(to, n)
	}
	return fileError(to, err)
}

// Download copies a file of the machine, or a directory with all that is in it, to this host. Nothing is written outside the target, whatever the
// machine says that its files are called.
func (f *Files) Download(ctx context.Context, source, target string, recursive bool) error {
	defer f.until(ctx)()
	info, err := f.client.Stat(source)
	if err != nil {
		return fileError(source, err)
	}
	dir, name := filepath.Split(filepath.Clean(target))
	if at, err := os.Stat(target); err == nil && at.IsDir() || strings.HasSuffix(target, string(filepath.Separator)) {
		dir, name = target, path.Base(path.Clean("/"+source))
	}
	if !filepath.IsLocal(name) || name == "." {
		return app.Errorf(app.EInvalid, "%q isn't a name for a file here.", name)
	}
	root, err := os.OpenRoot(cmp.Or(dir, "."))
	if err != nil {
		return err
	}
	defer root.Close()
	if !info.IsDir() {
		return f.get(root, source, name, info)
	}
	if !recursive {
		return isDirectory(source)
	}
	return f.getAll(root, source, name)
}

func (f *Files) getAll(root *os.Root, source, to string) error {
	if err := root.Mkdir(to, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	entries, err := f.client.ReadDir(source)
	if err != nil {
		return fileError(source, err)
	}
	for _, e := range entries {
		name := e.Name()
		if !filepath.IsLocal(name) || strings.ContainsAny(name, `/\`) {
			return app.Errorf(app.EInvalid, "The node has a file called %q, which isn't a name for a file here.", name)
		}
		from, here := path.Join(source, name), filepath.Join(to, name)
		switch {
		case e.IsDir():
			err = f.getAll(root, from, here)
		case e.Mode().IsRegular():
			err = f.get(root, from, here, e)
		default:
			f.skip(from)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *Files) get(root *os.Root, source, to string, info fs.FileInfo) error {
	in, err := f.client.Open(source)
	if err != nil {
		return fileError(source, err)
	}
	defer in.Close()
	if at, err := root.Lstat(to); err == nil && at.Mode()&fs.ModeSymlink != 0 {
		return app.Errorf(app.EInvalid, "%s is a link; nothing is written through it.", filepath.Join(root.Name(), to))
	}
	out, err := root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return err
	}
	n, err := in.WriteTo(out)
	if e := out.Close(); err == nil {
		err = e
	}
	if err == nil && f.Copied != nil {
		f.Copied(filepath.Join(root.Name(), to), n)
	}
	return fileError(source, err)
}

// fileError words an error of the machine's.
func fileError(name string, err error) error {
	var status *sftp.StatusError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("The node has no file %s.", name)}
	case errors.Is(err, fs.ErrPermission):
		return &app.Error{Code: app.EForbidden, Message: fmt.Sprintf("The node's user can't access %s.", name)}
	case errors.As(err, &status):
		return &app.Error{Code: app.EInvalid, Message: fmt.Sprintf("The node can't access %s: %s", name, status.Error())}
	}
	return err
}
