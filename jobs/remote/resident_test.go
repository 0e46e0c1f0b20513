package remote_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

// One session carries out all commands of a claim's node, and those of later claims.
func TestResidentStays(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	c := dial(t, s.Target())
	for i := range 10 {
		mustRun(t, remote.Under(c, claim(int64(i+1), i)), family.Command{Line: "true", Once: i > 3})
	}
	if n := s.Execs(); n != 1 {
		t.Errorf("%d sessions for 10 commands", n)
	}
	// What others may read does not follow what may have left something behind.
	mustRun(t, remote.Under(c, claim(11, 11)), family.Command{Line: "true"})
	if n := s.Execs(); n != 2 {
		t.Errorf("%d sessions in all, want 2", n)
	}
}

// Where there is no bash, that is found out once for a connection.
func TestResidentUnavailable(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{Env: []string{tools(t, map[string]string{"bash": "exit 127"})}})
	c := dial(t, s.Target())
	for i := range 5 {
		mustRun(t, remote.Under(c, claim(int64(i+1), i)), family.Command{Line: "true", Once: true})
	}
	if n := s.Execs(); n != 6 {
		t.Errorf("%d sessions for 5 commands, want 6", n)
	}
}

// What a command says, is given and ends with is the same, however it is run.
func TestResidentForwardsOutput(t *testing.T) {
	t.Parallel()
	onEachWay(t, func(t *testing.T, n *remotetest.Node, c *remote.Conn) {
		epoch := int64(0)
		under := func() family.Shell {
			epoch++
			return remote.Under(c, claim(epoch, int(epoch)))
		}
		for _, once := range []bool{false, true} {
			for _, said := range []string{"", "\n", "\n\n", "a", "a\n", "\na\n\nb\n\n\n", strings.Repeat("x", 65530), strings.Repeat("x", 64<<10) + "\n", "ä\\n$x `\n  b"} {
				var h heard
				exit, err := under().Run(t.Context(), family.Command{Line: "cat; echo err >&2; exit 7", Stdin: strings.NewReader(said), Once: once}, h.add)
				want := strings.Split(strings.TrimSuffix(said, "\n"), "\n")
				if said == "" {
					want = nil
				}
				if err != nil || exit != 7 || !slices.Equal(h.of(family.StreamOut), want) || !slices.Equal(h.of(family.StreamErr), []string{"err"}) {
					t.Fatalf("once %t, %.20q: exit %d, %v, %.100q", once, said, exit, err, h.all())
				}
			}
		}
		for line, exit := range map[string]int{"kill -KILL 0": 137, "exit 255": 255, "no-such-command": 127, "exit 143": 143} {
			got, err := under().Run(t.Context(), family.Command{Line: line}, nil)
			if err != nil || got != exit {
				t.Errorf("%s: exit %d, %v; want %d", line, got, err, exit)
			}
		}
		if got := mustRun(t, under(), family.Command{Line: `printf '%s|' "${muster_input-$(cat)}"; cat`, Stdin: strings.NewReader("a 'b'\n$c\n"), Once: true, Text: true}); !strings.HasPrefix(strings.Join(got, "\n"), "a 'b'\n$c") {
			t.Errorf("the text came as %q", got)
		}
	})
}

// What a command leaves behind is not heard among the lines of others.
func TestResidentAbandoned(t *testing.T) {
	t.Parallel()
	onEachWay(t, func(t *testing.T, n *remotetest.Node, _ *remote.Conn) {
		c := dialWith(t, n.Target(), remote.Limits{Drain: 200 * time.Millisecond})
		for i, leave := range []string{"", "setsid "} {
			gate := tempFile(n, fmt.Sprint("gate", i))
			mustRun(t, remote.Under(c, claim(int64(10*i+1), 10*i+1)), family.Command{
				Line: leave + "sh -c 'echo $$ >" + gate + ".pid; until [ -e " + gate + " ] || [ ! -d " + n.Temp + " ]; do sleep 0.02; done; echo late; echo late >&2' &", Once: true})
			eventually(t, "it begins", func() bool { return len(pidsIn(gate+".pid")) == 1 })
			late := pidsIn(gate + ".pid")[0]
			mustRun(t, remote.Under(c, claim(int64(10*i+2), 10*i+2)), family.Command{Line: "touch " + gate, Once: true})
			eventually(t, "it has spoken", func() bool { return !running(late) })
			// Those who make something of what they hear hear nothing else; a log may have it, until it is noticed.
			for j := range 4 {
				var h heard
				once := j%2 == 0
				if _, err := remote.Under(c, claim(int64(10*i+3+j), 10*i+3+j)).Run(t.Context(), family.Command{Line: "echo mine", Once: once}, h.add); err != nil {
					t.Fatal(err)
				}
				got := h.of(family.StreamOut)
				if once && leave != "" {
					got = slices.DeleteFunc(got, func(l string) bool { return l == "late" })
				}
				if !slices.Equal(got, []string{"mine"}) {
					t.Errorf("%q: %q", leave, got)
				}
			}
		}
	})
}

// Killing the resident ends neither what runs once nor the use of the connection.
func TestResidentKilled(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, n *remotetest.Node, c *remote.Conn) {
		file := tempFile(n, "resident")
		pid := func(i int) int { return pidsIn(file)[i] }
		mustRun(t, remote.Under(c, claim(1, 1)), family.Command{Line: "echo $$ >>" + file, Once: true})
		_ = syscall.Kill(pid(0), syscall.SIGKILL)
		eventually(t, "it is dead", func() bool { return !running(pid(0)) })
		mustRun(t, remote.Under(c, claim(2, 2)), family.Command{Line: "echo $$ >>" + file, Once: true})

		cmd, count, open := counting(n)
		var first, second heard
		mustRun(t, remote.Under(c, claim(3, 3)), family.Command{Line: "echo $$ >>" + file, Once: true})
		done := begin(t.Context(), remote.Under(c, claim(4, 4)), cmd(), &first)
		eventually(t, "it begins", func() bool { return count() == 1 })
		_ = syscall.Kill(pid(2), syscall.SIGKILL)
		if end(t, done) == nil {
			t.Error("it is said to have succeeded")
		}
		done = begin(t.Context(), remote.Under(c, claim(5, 4)), cmd(), &second)
		eventually(t, "it is taken over", func() bool { return len(second.of(family.StreamSystem)) == 1 })
		open()
		if err := end(t, done); err != nil || count() != 1 {
			t.Fatalf("%v, begun %d times: %q", err, count(), second.all())
		}
	})
}

// A plain command that is carried out by a resident ends with its connection, and when it is cancelled; then others are not
// in its way.
func TestResidentCancelled(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, n *remotetest.Node, c *remote.Conn) {
		file := tempFile(n, "pids")
		wait := family.Command{Line: "echo $$ >>" + file + "; sh -c 'echo $$ >>" + file + "; sleep 1000; true' & sleep 1000; true"}
		for i, stop := range []func(cancel func()){func(cancel func()) { cancel() }, func(func()) { _ = c.Close() }} {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := begin(ctx, remote.Under(c, claim(int64(2*i+1), 2*i+1)), wait, new(heard))
			eventually(t, "two processes", func() bool { return len(pidsIn(file)) == 2*i+2 })
			stop(cancel)
			if err := end(t, done); err == nil {
				t.Error("it is said to have succeeded")
			}
			eventually(t, "they end", func() bool { return !slices.ContainsFunc(pidsIn(file), running) })
			if i == 0 {
				mustRun(t, remote.Under(c, claim(2, 2)), family.Command{Line: "true"})
			}
		}
	})
}

// Bytes are counted as such, whatever the language of the node.
func TestResidentCountsBytes(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"C", "C.UTF-8"} {
		s := remotetest.Start(t, remotetest.Options{Env: []string{"LANG=" + lang, "LC_ALL=" + lang}})
		c := dial(t, s.Target())
		for i, n := range []int{1, 100, 10000} {
			text := strings.Repeat("ä€", n)
			got := mustRun(t, remote.Under(c, claim(int64(i+1), i)), family.Command{Line: "wc -c; echo $LC_ALL", Stdin: strings.NewReader(text), Once: true})
			if len(got) != 2 || strings.TrimSpace(got[0]) != strconv.Itoa(len(text)) || got[1] != lang {
				t.Errorf("%s: %q", lang, got)
			}
		}
		if s.Execs() != 1 {
			t.Errorf("%s: %d sessions", lang, s.Execs())
		}
	}
}

// Every byte of an input arrives but NUL, for which a session is taken, and a command has no files open but its own.
func TestResidentForwardsBytes(t *testing.T) {
	t.Parallel()
	all := make([]byte, 0, 255*200)
	for range 200 {
		for b := 1; b < 256; b++ {
			all = append(all, byte(b))
		}
	}
	for _, lang := range []string{"C", "C.UTF-8"} {
		s := remotetest.Start(t, remotetest.Options{Env: []string{"LANG=" + lang, "LC_ALL=" + lang}})
		c := dial(t, s.Target())
		want := mustRun(t, c, family.Command{Line: "cksum", Stdin: strings.NewReader(string(all))})
		open := mustRun(t, c, family.Command{Line: "sh -c 'ls /proc/$$/fd'"})
		for i := range 6 {
			once := i > 2
			if got := mustRun(t, remote.Under(c, claim(int64(i+1), i)), family.Command{Line: "cksum", Stdin: strings.NewReader(string(all)), Once: once}); !slices.Equal(got, want) {
				t.Errorf("%s, once %t: %q, want %q", lang, once, got, want)
			}
		}
		for i := range 3 {
			if got := mustRun(t, remote.Under(c, claim(int64(i+11), i+11)), family.Command{Line: "sh -c 'ls /proc/$$/fd'", Once: true}); !slices.Equal(got, open) {
				t.Errorf("open are %q, in a session %q", got, open)
			}
		}
		if s.Execs() != 3 {
			t.Errorf("%s: %d sessions, want 3", lang, s.Execs())
		}
	}
}

// Killing the listening part of the resident affects neither the running command nor later ones.
func TestResidentReaderKilled(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, n *remotetest.Node, c *remote.Conn) {
		file, gate := tempFile(n, "children"), tempFile(n, "gate")
		var h heard
		done := begin(t.Context(), remote.Under(c, claim(1, 1)), family.Command{Once: true,
			Line: "cat /proc/$$/task/$$/children >" + file + ".new; mv " + file + ".new " + file + "; until [ -e " + gate + " ]; do sleep 0.02; done; echo done"}, &h)
		eventually(t, "it begins", func() bool { _, err := os.Stat(file); return err == nil })
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		reader, err := strconv.Atoi(strings.Fields(string(b))[0]) // the eldest
		if err != nil {
			t.Fatal(err)
		}
		_ = syscall.Kill(reader, syscall.SIGKILL)
		eventually(t, "it is dead", func() bool { return !running(reader) })
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := end(t, done); err != nil || !slices.Equal(h.all(), []string{"stdout: done"}) {
			t.Errorf("%v, %q", err, h.all())
		}
		for i := range 3 {
			if got := mustRun(t, remote.Under(c, claim(int64(i+2), i+2)), family.Command{Line: "echo mine", Once: true}); !slices.Equal(got, []string{"mine"}) {
				t.Errorf("%q", got)
			}
		}
	})
}

// A line that a fork may run is run by one: it says, is given, has open and ends with the same, leaves nothing to those after it, and ends
// when it is cancelled.
func TestResidentForks(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, n *remotetest.Node, c *remote.Conn) {
		epoch := int64(0)
		under := func() family.Shell {
			epoch++
			return remote.Under(c, claim(epoch, int(epoch)))
		}
		if got := mustRun(t, under(), family.Command{Line: "echo ${BASH_VERSION:+bash}; left=behind; cd /; set -f", Fork: true}); !slices.Equal(got, []string{"bash"}) {
			t.Errorf("%q, and no fork of bash", got)
		}
		for _, given := range []string{"", "a\n b\\n"} {
			var h heard
			exit, err := under().Run(t.Context(), family.Command{Line: "cat; echo \"err$left\" >&2; case $- in *f*) ;; *) exit 7 ;; esac", Stdin: strings.NewReader(given), Fork: true}, h.add)
			want := strings.Split(strings.TrimSuffix(given, "\n"), "\n")
			if given == "" {
				want = nil
			}
			if err != nil || exit != 7 || !slices.Equal(h.of(family.StreamOut), want) || !slices.Equal(h.of(family.StreamErr), []string{"err"}) {
				t.Errorf("%q: exit %d, %v, %q", given, exit, err, h.all())
			}
		}
		for line, want := range map[string]int{"exit 255": 255, "no-such-command": 127, "set -e; false; exit 3": 1, "kill -KILL 0": 137, "trap 'exit 9' EXIT; exit 4": 9} {
			if got, err := under().Run(t.Context(), family.Command{Line: line, Fork: true}, nil); err != nil || got != want {
				t.Errorf("%s: exit %d, %v; want %d", line, got, err, want)
			}
		}
		open := mustRun(t, c, family.Command{Line: "sh -c 'ls /proc/$$/fd'"})
		if got := mustRun(t, under(), family.Command{Line: "sh -c 'ls /proc/$$/fd'", Fork: true}); !slices.Equal(got, open) {
			t.Errorf("open are %q, in a session %q", got, open)
		}
		file := tempFile(n, "pids")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := begin(ctx, under(), family.Command{Line: "sh -c 'echo $$ >>" + file + "; sleep 1000; true' & sleep 1000; true", Fork: true}, new(heard))
		eventually(t, "it begins", func() bool { return len(pidsIn(file)) == 1 })
		cancel()
		if end(t, done) == nil {
			t.Error("it is said to have succeeded")
		}
		eventually(t, "it ends", func() bool { return !slices.ContainsFunc(pidsIn(file), running) })
	})
}

// On a full disk the ends of commands cannot be recorded. Once there is room again, no one waits for a command that does not run: the
// record of one that was never begun names the resident, which stays.
func TestResidentOnFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	full, lib := filepath.Join(dir, "full"), filepath.Join(dir, "lib")
	// Every bash reads this first. An echo to a file that is there fails as on a full disk, and leaves the file empty.
	script := `echo() {
if [ -s ` + full + ` ] && [ -f /proc/self/fd/1 ]; then
case $(cat ` + full + `),$1 in
*,"p $$ "*) ;;
ends,[0-9w]*|processes,p*) return 1 ;;
esac
fi
builtin echo "$@"
}
`
	if err := os.WriteFile(lib, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	fill := func(what string) {
		if err := os.WriteFile(full, []byte(what), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := remotetest.Start(t, remotetest.Options{Env: []string{"BASH_ENV=" + lib}})
	c := dial(t, s.Target())
	run := func(epoch int64, step int) error {
		exit, err := remote.Under(c, claim(epoch, step)).Run(soon(t, time.Minute), family.Command{Line: "true", Once: true}, nil)
		if err == nil && exit != 0 {
			err = fmt.Errorf("exit %d", exit)
		}
		return err
	}
	mustRun(t, remote.Under(c, claim(1, 1)), family.Command{Line: "true", Once: true})
	fill("ends") // exit codes, and that a command was not begun
	for i := range 3 {
		if err := run(int64(i+2), i+2); err != nil {
			t.Errorf("step %d on a full disk: %v", i+2, err)
		}
	}
	fill("")
	if err := run(5, 5); err != nil {
		t.Error(err)
	}
	fill("processes") // a command that is not recorded must not run, since later ones would not wait for it
	wantCode(t, run(6, 6), app.ECapacity, "can't record what runs")
	fill("")
	for i := range 2 {
		if err := run(int64(i+7), i+6); err != nil {
			t.Error(err)
		}
	}
}

// slowWriter is a connection whose writes return a while after everything has been sent, as on a busy host.
type slowWriter struct {
	net.Conn
	slow *atomic.Bool
}

func (c slowWriter) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if c.slow.Load() {
		time.Sleep(100 * time.Millisecond)
	}
	return n, err
}

// A command that is to be ended is ended, also where it began before we noticed that all of its input had been sent; and what it had
// in files is empty then, also where a second session has to end it.
func TestExitBeforeInputIsSent(t *testing.T) {
	t.Parallel()
	onEachWay(t, func(t *testing.T, n *remotetest.Node, _ *remote.Conn) {
		epoch := int64(0)
		for stubborn, limits := range map[string]remote.Limits{"": {}, `trap "" TERM HUP; `: {KillAfter: 2 * time.Second}} {
			epoch += 2
			var slow atomic.Bool
			target := n.Target()
			target.Guard = func(ctx context.Context, network, address string) (net.Conn, error) {
				c, err := new(net.Dialer).DialContext(ctx, network, address)
				return slowWriter{c, &slow}, err
			}
			c := dialWith(t, target, limits)
			mustRun(t, remote.Under(c, claim(epoch, int(epoch))), family.Command{Line: "true", Once: true})
			slow.Store(true)
			ctx, cancel := context.WithCancel(t.Context())
			pid := 0
			cmd := family.Command{Line: `x=$(cat); printf %s "$x" >"$muster_scratch.input"; ` + stubborn + `sh -c 'echo $PPID'; sleep 600; sleep 600`,
				Stdin: strings.NewReader("a secret"), Once: true}
			_, err := remote.Under(c, claim(epoch+1, int(epoch+1))).Run(ctx, cmd, func(s app.Stream, line string) {
				if s == family.StreamOut {
					pid, _ = strconv.Atoi(line)
					cancel()
				}
			})
			wantCode(t, err, app.ECancelled)
			if pid == 0 {
				t.Fatalf("%q: it never began", stubborn)
			}
			for end := time.Now().Add(hangs); syscall.Kill(pid, 0) == nil; time.Sleep(20 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("%q: it still runs", stubborn)
				}
			}
			if left, _ := exec.Command("grep", "-rl", "a secret", n.State, n.Home, n.Temp).Output(); len(left) > 0 {
				t.Errorf("%q: its input is in %s", stubborn, left)
			}
		}
	})
}
