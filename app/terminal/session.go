package terminal

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/sshaccess"
)

// session is an open terminal on this server.
type session struct {
	Terminal
	run    string // of this connection; what it has shown counts from 0
	actor  app.Actor
	conn   family.NodeConnection
	term   family.Terminal
	keeps  bool // the node keeps it, so that another connection can continue it
	shown  *buffer
	record *recorder // nil: it isn't recorded

	seen time.Time // when it was last noted that it is open

	mu      sync.Mutex
	reason  *app.Error // why it ended
	left    time.Time  // when the last client left; zero while there is one
	done    chan struct{}
	endOnce sync.Once
}

// Timing.
const (
	// lingerTime is how long a terminal waits for someone who lost the connection.
	lingerTime = 10 * time.Minute
	// checkEvery is how soon a terminal notices that its user may no longer use it, or that it was ended on another server.
	checkEvery = 5 * time.Second
	// mostBehind is how far a program may be ahead of who reads it, in bytes.
	mostBehind = scrollBack / 2
	quitTime   = 5 * time.Second
	seenEvery  = 5 * time.Minute
)

// Errors for which a terminal ends.
var (
	errExited = &app.Error{Code: app.EConflict, Reason: "exited", Message: "The shell has exited."}
	errClosed = &app.Error{Code: app.EConflict, Reason: "closed", Message: "You closed this terminal."}
	errIdle   = &app.Error{Code: app.EConflict, Reason: "left", Message: "This terminal was closed because it wasn't open in a browser for 10 min."}
	errMoved  = &app.Error{Code: app.EConflict, Reason: "moved", Message: "This terminal was continued in another window, through another server."}
	errLost   = &app.Error{Code: app.ETransient, Reason: "connection_lost", Message: "The connection to the node was lost."}
	errOver   = &app.Error{Code: app.EConflict, Reason: "over", Message: "This terminal has ended.",
		Hint: "Only on nodes with tmux, terminals outlive lost connections and restarts of the server."}
	errStops = &app.Error{Code: app.ETransient, Reason: "server_stops", Message: "The server is restarting."}
)

// tmuxSetup makes tmux invisible: no status line, no keys of its own, scrolling as without it.
const tmuxSetup = `tmux -u -L "$place" -f /dev/null start-server \; set -g status off \; set -g prefix None \; set -g escape-time 0 ` +
	`\; set -g history-limit 5000 \; set -g default-terminal screen-256color \; set -g terminal-overrides "*:smcup@:rmcup@" \; set-environment -g LANG "$LANG" `

// forgetLeft ends sessions that no one has been in for an hour, and that have shown nothing: those of servers that were killed and not continued.
const forgetLeft = `now=$(date +%s); tmux -L "$place" list-sessions -F "#{session_attached} #{session_activity} ` +
	`#{?session_last_attached,#{session_last_attached},0} #{?window_activity,#{window_activity},0} #{session_name}" 2>/dev/null | ` +
	`while read -r a t l w n; do [ "$a" = 0 ] && [ $((now - t)) -gt 3600 ] && [ $((now - l)) -gt 3600 ] && [ $((now - w)) -gt 3600 ] && ` +
	`tmux -L "$place" kill-session -t "=$n"; done; `

// onNode names the tmux server that a script uses: one for each node. Those of a host share one otherwise, where the terminals of a node would have
// the environment of whichever node's came first.
func onNode(t Terminal, script string) string {
	sum := sha256.Sum256([]byte(t.Tenant + "/" + t.Cluster + "/" + t.Node))
	return "place=muster-" + hex.EncodeToString(sum[:6]) + "; " + script
}

// utf8Locale lets shells on nodes without a locale read what browsers type.
const utf8Locale = `case "${LC_ALL:-${LC_CTYPE:-${LANG:-C}}}" in C|POSIX) LANG=C.UTF-8; export LANG; unset LC_ALL LC_CTYPE;; esac; `

// line returns what runs in a terminal. A fresh screen of a session that continues first gets what scrolled out of it.
func line(t Terminal, keeps, continues bool) string {
	script := `cd; exec "${SHELL:-/bin/sh}" -l`
	if keeps {
		name := "muster-" + t.ID
		script = `cd; exec ` + tmuxSetup + `\; new-session -A -D -s ` + name
		if continues {
			script = `tmux -L "$place" capture-pane -peJS -2000 -E -1 -t ` + name + ` 2>/dev/null; ` + script
		}
	}
	return "exec sh -c " + humanize.ShellQuote(onNode(t, utf8Locale+script))
}

// probe reports whether the node has tmux, and ends sessions there that were left.
func probe(ctx context.Context, sh family.Shell, t Terminal) (bool, error) {
	exit, err := sh.Run(ctx, family.Command{Line: onNode(t, `command -v tmux >/dev/null || exit 1; `+forgetLeft+`exit 0`)}, func(app.Stream, string) {})
	return err == nil && exit == 0, err
}

// found returns nil where the node has the session of a terminal. Reason not_kept says that it hasn't; else it may well have.
func found(ctx context.Context, sh family.Shell, t Terminal) error {
	script := `command -v tmux >/dev/null || exit 3; tmux -L "$place" has-session -t =muster-` + t.ID + ` 2>/dev/null`
	exit, err := sh.Run(ctx, family.Command{Line: onNode(t, script)}, func(app.Stream, string) {})
	switch {
	case err != nil || exit == 0:
		return err
	case exit == 3:
		return &app.Error{Code: app.EConflict, Reason: "not_kept", Message: "This terminal ended with its connection.",
			Hint: "To keep terminals when the server restarts, install tmux on the node."}
	}
	return &app.Error{Code: app.EConflict, Reason: "not_kept", Message: "This terminal has ended.",
		Hint: "Its shell is no longer on the node: it exited, or the node was restarted."}
}

// kill ends the session of a terminal on its node.
func kill(ctx context.Context, sh family.Shell, t Terminal) error {
	_, err := sh.Run(ctx, family.Command{Line: onNode(t, `tmux -L "$place" kill-session -t =muster-`+t.ID)}, func(app.Stream, string) {})
	return err
}

// still reports whether the node keeps the session of a terminal whose program has ended: another connection has taken it over.
func still(x *session) bool {
	ctx, cancel := context.WithTimeout(context.Background(), quitTime)
	defer cancel()
	exit, err := x.conn.Run(ctx, family.Command{Line: onNode(x.Terminal, `tmux -L "$place" has-session -t =muster-`+x.ID)}, func(app.Stream, string) {})
	return err == nil && exit == 0
}

// start connects to the node and starts the terminal.
func (s *Service) start(ctx context.Context, actor app.Actor, p sshaccess.Node, t Terminal, continues bool) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	conn, err := s.Nodes.Connect(ctx, actor, p)
	if err != nil {
		return nil, err
	}
	keeps := continues
	if continues {
		err = found(ctx, conn, t)
	} else {
		keeps, _ = probe(ctx, conn, t)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	term, err := conn.Terminal(ctx, family.TerminalOptions{Size: t.Size, Line: line(t, keeps, continues)})
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return &session{Terminal: t, run: rand.Text(), actor: actor, conn: conn, term: term, keeps: keeps, shown: newBuffer(), left: s.Now(), seen: t.OpenedAt,
		done: make(chan struct{})}, nil
}

// pump passes on what the terminal shows, until it ends.
func (s *Service) pump(x *session) {
	b := make([]byte, 32<<10)
	var err error
	for {
		var n int
		if n, err = x.term.Read(b); n > 0 {
			if x.record != nil {
				x.record.output(b[:n])
			}
			x.shown.write(b[:n])
			x.waitForReaders()
		}
		if err != nil {
			break
		}
	}
	why := whyOver(x, err)
	if why == errExited { // by itself, or because it was ended through another server
		ctx, cancel := context.WithTimeout(context.Background(), quitTime)
		defer cancel()
		if t, err := s.Store.Terminal(ctx, x.Tenant, x.ID); err == nil && !t.Open() {
			why = ended(t)
		}
	}
	s.end(x, why)
}

// whyOver says why a terminal shows nothing more.
func whyOver(x *session, err error) *app.Error {
	select {
	case <-x.conn.Done():
		return errLost
	case <-x.done: // it was ended here
		return errExited
	case <-time.After(50 * time.Millisecond): // a connection that breaks ends what runs on it first
	}
	if !errors.Is(err, io.EOF) {
		return errLost
	}
	if x.keeps && still(x) {
		return errMoved
	}
	select {
	case <-x.conn.Done():
		return errLost
	default:
		return errExited
	}
}

// waitForReaders holds back a program that writes faster than all who watch it read.
func (x *session) waitForReaders() {
	for {
		room := x.shown.behind(mostBehind)
		if room == nil {
			return
		}
		select {
		case <-room:
		case <-x.done:
			return
		}
	}
}

// end ends a terminal on this server for a reason. One whose connection was lost, whose server stops, or that another server has, stays open where
// the node keeps it.
func (s *Service) end(x *session, why *app.Error) {
	x.endOnce.Do(func() {
		x.mu.Lock()
		x.reason = why
		actor := x.actor
		x.mu.Unlock()
		close(x.done)
		s.mu.Lock()
		if s.open[x.ID] == x {
			delete(s.open, x.ID)
		}
		s.mu.Unlock()
		stays := x.keeps && (why == errLost || why == errStops || why == errMoved)
		x.shown.close()
		within := func(act func(ctx context.Context)) {
			ctx, cancel := context.WithTimeout(context.Background(), quitTime)
			defer cancel()
			act(ctx)
		}
		if x.record != nil {
			within(x.record.close)
		}
		if !stays {
			// By itself; else the one who ended it has said so already.
			within(func(ctx context.Context) { _ = s.Store.EndTerminal(ctx, actor, x.ID, "", s.Now()) })
		}
		if x.keeps && !stays && why != errExited { // as far as the node answers
			within(func(ctx context.Context) { _ = kill(ctx, x.conn, x.Terminal) })
		}
		_ = x.term.Close()
		_ = x.conn.Close()
	})
}

// watch ends a terminal that its user may no longer use, that was ended elsewhere, or that no one has open.
func (s *Service) watch(x *session) {
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for {
		select {
		case <-x.done:
			return
		case <-tick.C:
		}
		if why := s.check(x); why != nil {
			s.end(x, why)
			return
		}
	}
}

func (s *Service) check(x *session) *app.Error {
	ctx, cancel := context.WithTimeout(context.Background(), checkEvery)
	defer cancel()
	x.mu.Lock()
	left, actor := x.left, x.actor
	x.mu.Unlock()
	if !left.IsZero() && x.shown.readers() == 0 && s.Now().Sub(left) > lingerTime {
		return errIdle
	}
	if s.Now().Sub(x.seen) > seenEvery {
		if s.Recordings.SeeTerminal(ctx, x.ID, s.Now()) == nil {
			x.seen = s.Now()
		}
	}
	if t, err := s.Store.Terminal(ctx, x.Tenant, x.ID); err == nil && !t.Open() {
		return ended(t)
	}
	why := s.Nodes.StillMay(ctx, actor, "OpenTerminal", x.Cluster, x.Node)
	if why != nil && why.Reason == sshaccess.NoMachine {
		return errLost // the machine may come back, or be taken for lost by mistake
	}
	return why
}

// ended says who ended a terminal.
func ended(t Terminal) *app.Error {
	if t.EndedBy == "" {
		return errOver
	}
	return &app.Error{Code: app.EForbidden, Reason: "ended", Message: strings.TrimSpace(t.EndedBy) + " ended this terminal."}
}
