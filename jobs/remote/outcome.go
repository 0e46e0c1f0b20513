package remote

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"muster/app"
	"muster/app/family"
)

// hello picks the wrapper's own lines out of the standard error. Something may stand before them on the same line.
func (r *running) hello(line []byte) (rest []byte, mine bool) {
	before, after, found := bytes.Cut(line, []byte(r.token+" "))
	if found {
		word, more, _ := strings.Cut(string(after), " ")
		switch word {
		case "stdin":
			r.noInput.Store(true)
			return before, true
		case "stale", "nostate", "busy", "lone", "more", "occupied":
			text := string(after)
			r.said.Store(&text)
			return before, true
		case "adopt":
			r.sink.say(family.StreamSystem, "An earlier attempt is still running on the node. Waiting for it to finish; nothing new is started.")
			return before, true
		case "again":
			r.sink.say(family.StreamSystem, "An earlier attempt already succeeded; nothing to do.")
			return before, true
		}
		if pid, err := strconv.Atoi(word); r.pid.Load() == 0 && err == nil && pid > 0 {
			r.pid.Store(int64(pid))
			close(r.started)
			if !r.sudo && plainShell(more) { // sudo has a shell of its own to tell of
				r.conn.plainShell.Store(true)
			}
			return before, true
		}
	}
	r.last.set(clean(line))
	return line, false
}

func (r *running) wait(ctx context.Context) (int, error) {
	for r.code < 0 && r.reqs != nil {
		select {
		case req, ok := <-r.reqs:
			r.request(req, ok)
		case <-ctx.Done():
			if r.once && r.claim.Leave != nil && r.claim.Leave(ctx) {
				return 0, ended(ctx, "the command, which keeps running without this worker,")
			}
			r.kill(ctx)
			return 0, ended(ctx, "the command")
		case err := <-r.broken:
			r.kill(ctx)
			return 0, fmt.Errorf("reading the standard input: %w", err)
		case <-r.ends:
			r.ends = nil // without an exit code the resident is about to tell one by its own end
			if r.code = int(r.result.Load()); r.code >= 0 {
				r.keep = true
			}
		}
	}
	if r.unserved(ctx) {
		return 0, errNoResident
	}
	if r.code < 0 {
		if ctx.Err() != nil {
			return 0, ended(ctx, "the command")
		}
		return 0, r.cut()
	}
	r.drain(ctx)
	if said := r.said.Load(); said != nil {
		word, more, _ := strings.Cut(*said, " ")
		switch word {
		case "lone":
			return 0, errAloneOnly
		case "more":
			return 0, errMore
		}
		return 0, r.claim.refused(r.conn.target, word, more)
	}
	if r.noInput.Load() {
		return 0, &app.Error{
			Code: app.ECapacity, Reason: "stdin",
			Message: because("The machine at "+r.conn.target.endpoint()+" couldn't receive the command's input", r.last.String()),
			Hint:    "Its temporary directory must be writable and have free space.",
		}
	}
	if r.pid.Load() == 0 {
		if r.resident != nil {
			return 0, r.conn.openError(ctx, errRefused)
		}
		if r.last.String() == "" && (r.code == ownRefusal || r.conn.endsSoon()) {
			return 0, r.conn.lost(nil)
		}
		return 0, r.neverStarted()
	}
	return r.code, nil
}

// unserved tells that the resident has ended, or was never there, without having begun the command: that would have been said
// first.
func (r *running) unserved(ctx context.Context) bool {
	if r.resident == nil || r.keep {
		return false
	}
	r.drain(ctx)
	select {
	case <-r.conn.gone:
		return false
	default:
	}
	if r.pid.Load() != 0 || r.said.Load() != nil || ctx.Err() != nil {
		return false
	}
	if !r.resident.hasGreeted() {
		r.conn.residence.cannot()
	}
	return true
}

// request takes what the machine says of the session; the exit code is all that we want to know.
func (r *running) request(req *ssh.Request, ok bool) {
	if !ok {
		r.reqs = nil
		return
	}
	switch req.Type {
	case "exit-status":
		var m struct{ Status uint32 }
		if ssh.Unmarshal(req.Payload, &m) == nil && r.code < 0 {
			r.code = int(m.Status & 0xff)
		}
	case "exit-signal":
		var m struct {
			Signal     string
			CoreDumped bool
			Error      string
			Lang       string
		}
		if ssh.Unmarshal(req.Payload, &m) == nil && r.code < 0 {
			r.code = 128 + signalNumber(m.Signal)
		}
	}
	if req.WantReply {
		_ = req.Reply(false, nil)
	}
}

// goneGrace is how long the end of a connection may come after the end of its sessions.
const goneGrace = time.Second

// cut says why a session ended without an exit code.
func (r *running) cut() error {
	if r.pid.Load() != 0 {
		return r.conn.lost(nil)
	}
	if r.conn.endsSoon() {
		return r.conn.lost(nil)
	}
	return r.conn.openError(context.Background(), errRefused)
}

// endsSoon reports whether the connection has ended or ends within goneGrace: a lost connection ends its sessions first, and
// some of what they said may be missing.
func (c *Conn) endsSoon() bool {
	t := time.NewTimer(goneGrace)
	defer t.Stop()
	select {
	case <-c.gone:
		return true
	case <-t.C:
		return false
	}
}

// drain waits for what the command said before it ended.
func (r *running) drain(ctx context.Context) {
	select {
	case <-r.drained:
		return
	default:
	}
	r.sink.last.Store(time.Now().UnixNano())
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-r.drained:
			return
		case <-ctx.Done():
			return
		case <-tick.C:
			if r.sink.quiet(r.conn.set.drain) {
				r.sink.say(family.StreamSystem, "a background process keeps the command's output open; its further output is discarded")
				return
			}
		}
	}
}

// leave ends the session, and takes what is still said about it. A resident stays for others where it can.
func (r *running) leave() {
	r.giveBack()
	if r.keep {
		return
	}
	_ = r.ch.Close()
	if r.reqs != nil {
		go ssh.DiscardRequests(r.reqs) // ends when the machine has closed the session too, or the connection has
	}
}

// writeGrace is how long the rest of an input is waited for when a command is to be ended.
const writeGrace = 3 * time.Second

// kill makes sure that nothing of the command keeps running, as far as the machine can still be reached: a word for what runs
// once, a signal where the server passes those on, the end of the lifeline, and last a second session.
func (r *running) kill(ctx context.Context) {
	if r.lifeline { // a command can have begun before our own writer has noticed that all of its input has been sent
		select {
		case <-r.written:
		case <-time.After(writeGrace):
		}
	}
	switch fed := r.fed.Load(); {
	case r.lifeline && !fed:
		_ = r.ch.Close() // half an input is none: nothing begins
	case r.once || r.resident != nil:
		_, _ = r.ch.Write([]byte("kill\n"))
		_ = r.ch.CloseWrite()
	default:
		_, _ = r.ch.SendRequest("signal", false, ssh.Marshal(struct{ Signal string }{"TERM"}))
		if r.lifeline {
			_ = r.ch.CloseWrite()
		}
	}
	grace := 200 * time.Millisecond
	if r.lifeline {
		grace = r.conn.set.killAfter
	}
	// Without a lifeline nothing on the node sees to what the command has started: a child that ignores the signal, or had just been forked
	// and lost it, survives the command. The command's end may arrive before its first line has been read.
	if r.over(grace) && r.lifeline {
		return
	}
	late := time.NewTimer(r.conn.set.killAfter)
	defer late.Stop()
	select {
	case <-r.started:
	case <-r.drained:
		if r.pid.Load() == 0 {
			return // it never started
		}
	case <-r.conn.gone:
		return
	case <-late.C:
		return // it never started, and its standard input ends now
	}
	fresh, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.conn.set.killAfter)
	defer cancel()
	_, _ = r.conn.Run(fresh, family.Command{Line: r.killer(), Sudo: r.sudo}, nil)
	r.over(time.Second)
}

// over waits a little for the command to end.
func (r *running) over(limit time.Duration) bool {
	late := time.NewTimer(limit)
	defer late.Stop()
	for r.code < 0 && r.reqs != nil {
		select {
		case req, ok := <-r.reqs:
			r.request(req, ok)
		case <-r.ends:
			r.ends = nil
			r.code = int(r.result.Load())
		case <-late.C:
			return false
		}
	}
	return true
}

// ownRefusal is the exit code with which our own scripts end before the command. They say a word with it; where none came, it was lost
// with the connection.
const ownRefusal = 125

// neverStarted explains an exit code that came from something before the command: sudo, or the login shell.
func (r *running) neverStarted() error {
	user, where, last := r.conn.target.user(), r.conn.target.endpoint(), r.last.String()
	if !r.sudo {
		return &app.Error{
			Code: app.ECredentials, Reason: "no_shell",
			Message: because(fmt.Sprintf("User %s can't run commands on %s (exit code %d)", user, where, r.code), last),
			Hint:    "The account needs a login shell, and the machine needs sh.",
		}
	}
	if r.code == 127 || strings.Contains(last, "not found") {
		return &app.Error{
			Code: app.ECredentials, Reason: "no_sudo",
			Message: because(fmt.Sprintf("User %s can't become root on %s because sudo isn't installed", user, where), last),
			Hint:    "Install sudo in the image, or set the image's SSH user to root.",
		}
	}
	return &app.Error{
		Code: app.ECredentials, Reason: "no_sudo",
		Message: because(fmt.Sprintf("User %s can't become root on %s without a password", user, where), last),
		Hint:    fmt.Sprintf("Allow sudo without a password or terminal: add %s ALL=(ALL) NOPASSWD: ALL to /etc/sudoers.d.", user),
	}
}

// signalNumber returns the number that POSIX and Linux give to a signal name of RFC 4254; 0 for any other.
func signalNumber(name string) int { return signalNumbers[name] }

var signalNumbers = map[string]int{
	"HUP": 1, "INT": 2, "QUIT": 3, "ILL": 4, "ABRT": 6, "FPE": 8, "KILL": 9, "USR1": 10, "SEGV": 11, "USR2": 12, "PIPE": 13,
	"ALRM": 14, "TERM": 15,
}
