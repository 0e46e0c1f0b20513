package blob

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"muster/app"
	"muster/app/archive"
	"muster/app/humanize"
	"muster/app/resource"
)

// GitOptions say how repositories are read.
type GitOptions struct {
	// Check reports whether an address may be asked, and Dial connects to what may be spoken to, as hooks do; nil: any.
	Check func(u *url.URL) error
	Dial  func(ctx context.Context, plain bool, address string) (net.Conn, error)
	// Files lets file:// addresses be read, which are directories of the server.
	Files bool
	// CA is a file with the authorities that certificates may come from, in PEM; "" is those of the host.
	CA string
}

const (
	gitTime = 10 * time.Minute
	gitPoll = 200 * time.Millisecond
)

// gitRef is the name of a tag or branch, or a commit. It begins with no dash, so that no option is made of it.
var gitRef = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./+@=-]{0,199}$`)

// Fetch implements resource.BlobStore. Nothing of the repository is run: no hooks, filters, submodules or attributes but those that leave files
// out of archives. Connections go through a proxy of our own, which looks names up and lets no one in who may not be spoken to.
func (s *Store) Fetch(ctx context.Context, source resource.Source, credential string, limit int64) (resource.TakenBlob, string, error) {
	u, err := s.git.address(source.Git)
	if err != nil {
		return nil, "", err
	}
	if !gitRef.MatchString(source.Ref) || strings.Contains(source.Ref, "..") || strings.Contains(source.Ref, "@{") {
		return nil, "", wrongGit("ref", "Invalid tag, branch or commit.", "For example v1.2.0.")
	}
	folder := path.Clean("/" + source.Folder)[1:]
	if strings.ContainsAny(folder, "\x00\n\\:") || len(folder) > 500 {
		return nil, "", wrongGit("folder", "Invalid folder.", "")
	}
	dir, err := os.MkdirTemp(s.spool, "git-*")
	if err != nil {
		return nil, "", spoolProblem(err)
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	g := &gitRun{ctx: ctx, dir: dir, limit: limit, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C", "GIT_DIR=" + filepath.Join(dir, "repo"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true", "GIT_LFS_SKIP_SMUDGE=1", "GIT_ALLOW_PROTOCOL=" + u.Scheme,
	}}
	settings := []string{"core.hooksPath", "/dev/null", "http.followRedirects", "false", "transfer.fsckObjects", "true", "gc.auto", "0", "safe.directory", "*", "core.sshCommand", "false"}
	if u.Scheme != "file" {
		proxy, err := startProxy(s.git.Dial)
		if err != nil {
			return nil, "", err
		}
		defer proxy.Close()
		settings = append(settings, "http.proxy", proxy.url)
		g.refused = proxy.refused
	}
	if s.git.CA != "" {
		settings = append(settings, "http.sslCAInfo", s.git.CA)
	}
	if credential != "" {
		credential = strings.TrimSpace(credential)
		if !strings.Contains(credential, ":") {
			credential = "token:" + credential
		}
		settings = append(settings, "http.extraHeader", "Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte(credential)))
	}
	// In the environment, where others on the host do not see it, not in arguments.
	g.env = append(g.env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)/2))
	for i := 0; i < len(settings); i += 2 {
		g.env = append(g.env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i/2, settings[i]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i/2, settings[i+1]))
	}
	if _, err := g.run("init", "--quiet", "--bare", "--template=", filepath.Join(dir, "repo")); err != nil {
		return nil, "", err
	}
	if _, err := g.run("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--", u.String(), "+"+source.Ref+":refs/heads/taken"); err != nil {
		return nil, "", err
	}
	commit, err := g.run("rev-parse", "--verify", "refs/heads/taken^{commit}")
	if err != nil {
		return nil, "", err
	}
	tree := strings.TrimSpace(commit)
	if folder != "" {
		tree += ":" + folder
	}
	t, err := s.takeTree(g, tree, limit)
	return t, strings.TrimSpace(commit), err
}

func wrongGit(field, message, hint string) error {
	return &app.Error{Code: app.EInvalid, Field: field, Message: message, Hint: hint}
}

// address checks where a repository is said to be.
func (o GitOptions) address(text string) (*url.URL, error) {
	const like = "Use a URL such as https://git.example.com/team/site.git."
	u, err := url.Parse(text)
	switch {
	case err != nil || len(text) > 1000 || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return nil, wrongGit("git", "Invalid repository URL.", like)
	case u.User != nil:
		return nil, wrongGit("git", "The repository URL must not contain a user name or password.", "Save user:token as a secret, and set the secret's name.")
	case u.Scheme == "file" && !o.Files:
		return nil, wrongGit("git", "Reading from the server's directories is disabled.", "The server's operator can allow it with --resource-git-files. "+like)
	case u.Scheme == "file" && u.Host == "" && path.IsAbs(u.Path):
		return u, nil
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return nil, wrongGit("git", "The repository URL must start with https://.", like)
	case o.Check == nil && u.Scheme != "https":
		return nil, wrongGit("git", "The repository URL must start with https://.", like)
	}
	if o.Check != nil {
		if err := o.Check(u); err != nil {
			e := *app.AsError(err)
			e.Field = "git"
			if e.Reason == "plain" {
				e.Message, e.Hint = "The repository URL must start with https://.", like
			}
			return nil, &e
		}
	}
	return u, nil
}

// gitRun runs git in a directory of its own.
type gitRun struct {
	ctx     context.Context
	dir     string
	env     []string
	limit   int64
	refused func() error // what the proxy refused; nil: there is none
}

func (g *gitRun) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "git", args...)
	c.Env, c.Dir = g.env, g.dir
	// What git starts ends with it.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 2 * time.Second
	return c
}

// run runs a git command, and ends it where what it fetches becomes too much.
func (g *gitRun) run(args ...string) (string, error) {
	ctx, cancel := context.WithCancelCause(g.ctx)
	defer cancel(nil)
	c := g.command(ctx, args...)
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &capped{b: &out}, &capped{b: &said}
	if err := c.Start(); err != nil {
		return "", &app.Error{Code: app.EInvalid, Message: "Git isn't installed on this server.", Hint: "Ask the server's operator to install git.", Err: err}
	}
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(gitPoll):
				if g.limit > 0 && sizeOf(g.dir) > g.limit {
					cancel(&app.Error{Code: app.ETooLarge, Field: "git", Message: "The repository is larger than " + humanize.Bytes(g.limit) + ".", Hint: "The server's operator sets the limit with --resource-limit."})
					return
				}
			}
		}
	}()
	err := c.Wait()
	close(done)
	if err == nil {
		return out.String(), nil
	}
	return "", g.failed(ctx, args[0], said.String(), err)
}

func (g *gitRun) failed(ctx context.Context, act, said string, err error) error {
	var known *app.Error
	if errors.As(context.Cause(ctx), &known) {
		return known
	}
	if g.ctx.Err() != nil {
		return &app.Error{Code: app.ETimeout, Message: fmt.Sprintf("Reading the repository took longer than %s.", humanize.Duration(gitTime)), Err: g.ctx.Err()}
	}
	if g.refused != nil {
		if err := g.refused(); err != nil {
			e := *app.AsError(err)
			e.Field = "git"
			return &e
		}
	}
	e := &app.Error{Code: app.EInvalid, Reason: "git", Field: "git", Message: "Can't read the repository: " + lastLine(said), Err: fmt.Errorf("git %s: %w", act, err)}
	switch {
	case strings.Contains(said, "couldn't find remote ref") || strings.Contains(said, "not our ref") || strings.Contains(said, "no such remote ref"):
		e.Field, e.Message, e.Hint = "ref", "The repository has no such tag, branch or commit.", "Only some servers allow fetching a commit; try a tag."
	case strings.Contains(said, "could not read Username") || strings.Contains(said, "Authentication failed") || strings.Contains(said, "returned error: 403"):
		e.Code, e.Message, e.Hint = app.EInvalid, "Access to the repository was denied.", "Save user:token as a secret, and set the secret's name."
	case strings.Contains(said, "Not a valid object name") || strings.Contains(said, "not a tree object"):
		e.Field, e.Message = "folder", "The repository has no such folder."
	}
	return e
}

// lastLine is what git said last, without addresses, which are known.
func lastLine(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	last := strings.TrimPrefix(strings.TrimSpace(lines[len(lines)-1]), "fatal: ")
	if len(last) > 200 {
		last = strings.ToValidUTF8(last[:200], "") + "…"
	}
	if last == "" {
		return "git reported no reason."
	}
	return last
}

// takeTree packs the files of a tree, always in the same way.
func (s *Store) takeTree(g *gitRun, tree string, limit int64) (resource.TakenBlob, error) {
	var said bytes.Buffer
	c := g.command(g.ctx, "archive", "--format=tar", tree)
	c.Stderr = &capped{b: &said}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, spoolProblem(err)
	}
	if err := c.Start(); err != nil {
		return nil, spoolProblem(err)
	}
	raw, takeErr := s.Take(g.ctx, out, archive.DefaultLimits.Bytes)
	if takeErr != nil {
		_ = c.Cancel()
	}
	err = c.Wait()
	if takeErr != nil {
		return nil, takeErr
	}
	defer raw.Close()
	if err != nil {
		return nil, g.failed(g.ctx, "archive", said.String(), err)
	}
	r, w := io.Pipe()
	go func() {
		z := gzip.NewWriter(w)
		t := tar.NewWriter(z)
		err := archive.Rewrite(g.ctx, archive.Source{R: raw.(*spooled).file, Size: raw.Size()}, "", t)
		w.CloseWithError(errors.Join(err, t.Close(), z.Close()))
	}()
	defer r.Close()
	return s.Take(g.ctx, r, limit)
}

// sizeOf adds up the files below a directory.
func sizeOf(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if i, err := d.Info(); err == nil {
				n += i.Size()
			}
		}
		return nil
	})
	return n
}

// capped keeps the beginning of what is written to it.
type capped struct{ b *bytes.Buffer }

func (c *capped) Write(p []byte) (int, error) {
	if room := 64<<10 - c.b.Len(); room > 0 {
		c.b.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
