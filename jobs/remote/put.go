package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
)

const (
	putMax   = 512 << 20 // bytes of one file
	putAtOne = 1 << 20   // bytes up to which a file is read into memory and takes one session
)

// Put carries out family.Shell. Directories on the way are made. A relative name counts from the user's home. The new
// content lies in a file beside name, readable by the user alone, until all of it has arrived; then it takes name's
// place in one move. A name that is a directory and a name that may not be written are EInvalid, a full disk is
// ECapacity, more than 512 MiB are ETooLarge.
func (c *Conn) Put(ctx context.Context, name string, mode fs.FileMode, r io.Reader) error {
	return c.put(ctx, name, mode, r, nil)
}

func (c *Conn) put(ctx context.Context, name string, mode fs.FileMode, r io.Reader, claim *Claim) error {
	return c.putWith(ctx, name, mode, r, claim, putAtOne, putMax)
}

func (c *Conn) putWith(ctx context.Context, name string, mode fs.FileMode, r io.Reader, claim *Claim, atOnce, limit int64) error {
	if name == "" || strings.HasSuffix(name, "/") || strings.ContainsRune(name, 0) {
		return app.Errorf(app.EInvalid, "%q isn't a valid file name.", name)
	}
	p := newPutting(c, name, mode, claim)

	head := new(bytes.Buffer)
	if _, err := io.CopyN(head, r, atOnce); errors.Is(err, io.EOF) {
		complete := fmt.Sprintf(`[ "$(wc -c <"$t")" -eq %d ]`, head.Len())
		return p.run(ctx, p.receive()+" && "+complete+" && "+p.move(), head)
	} else if err != nil {
		return fmt.Errorf("reading the file's content: %w", err)
	}

	// The end of a stream looks the same to the machine whether all has been sent or we have failed, so the move is
	// a command of its own.
	all := &limited{r: io.MultiReader(head, r), left: limit}
	err := p.run(ctx, p.receive(), all)
	if all.left < 0 {
		err = app.Errorf(app.ETooLarge, "%s is larger than %s.", name, humanize.Bytes(limit))
	}
	if err == nil {
		err = p.run(ctx, p.move(), nil)
	}
	if err != nil {
		fresh, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.set.killAfter)
		defer cancel()
		_ = p.run(fresh, `rm -f "$t"`, nil)
	}
	return err
}

// putting is one file on its way: to name, by way of temp.
type putting struct {
	conn  *Conn
	claim *Claim
	name  string
	mode  fs.FileMode
	vars  string // sets d, f and t to the directory, the name and the temporary name
}

func newPutting(c *Conn, name string, mode fs.FileMode, claim *Claim) putting {
	dir, base := path.Split(name)
	if !path.IsAbs(dir) {
		dir = "./" + dir // so that no name looks like an option
	}
	return putting{
		conn: c, claim: claim, name: name, mode: mode.Perm(),
		vars: "LC_ALL=C; export LC_ALL; d=" + humanize.ShellQuote(dir) + " f=" + humanize.ShellQuote(dir+base) + " t=" + humanize.ShellQuote(dir+"."+newToken()) + "; ",
	}
}

func (p putting) receive() string {
	return `mkdir -p "$d" && umask 077 && cat >"$t"`
}

func (p putting) move() string {
	return fmt.Sprintf(`{ [ ! -d "$f" ] || { echo "it is a directory" >&2; false; }; } && chmod %04o "$t" && mv -f "$t" "$f"`, p.mode)
}

// run runs a script over the file. When it fails the temporary file is removed.
func (p putting) run(ctx context.Context, script string, in io.Reader) error {
	var last tail
	line := p.vars + script + ` || { rm -f "$t"; exit 1; }`
	exit, err := p.conn.run(ctx, family.Command{Line: line, Stdin: in}, func(s app.Stream, line string) {
		if s == family.StreamErr {
			last.set(line)
		}
	}, p.claim)
	if err != nil || exit == 0 {
		return err
	}
	e := &app.Error{
		Code: app.EInvalid, Reason: "not_written",
		Message: because("Can't write "+p.name+" on "+p.conn.target.endpoint(), last.String()),
	}
	if strings.Contains(last.String(), "No space left") {
		e.Code = app.ECapacity
	}
	return e
}

// limited ends with an error when more than left bytes come. It hides what else the reader can do, so that the machine
// gets a stream.
type limited struct {
	r    io.Reader
	left int64
}

func (l *limited) Read(b []byte) (int, error) {
	n, err := l.r.Read(b)
	if l.left -= int64(n); l.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

var errTooLarge = errors.New("too large")
