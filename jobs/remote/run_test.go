package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

func TestRunExitCodes(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, _ *remotetest.Node, c *remote.Conn) {
		for _, tc := range []struct {
			line string
			exit int
		}{
			{"true", 0}, {"exit 1", 1}, {"exit 125", 125}, {"exit 255", 255}, {"no-such-command-here", 127},
			{"kill -KILL $$", 137}, {"kill -TERM $$", 143}, {"sh -c 'kill -HUP $$'", 129},
		} {
			for _, in := range []io.Reader{nil, strings.NewReader("x"), iotaReader("x")} {
				exit, err := c.Run(t.Context(), family.Command{Line: tc.line, Stdin: in}, nil)
				if err != nil || exit != tc.exit {
					t.Errorf("%q with stdin %T: exit %d, %v; want %d", tc.line, in, exit, err, tc.exit)
				}
			}
		}
	})
}

// iotaReader hides the length.
func iotaReader(s string) io.Reader { return io.MultiReader(strings.NewReader(s)) }

func TestRunStreams(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, _ *remotetest.Node, c *remote.Conn) {
		var h heard
		line := `for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done; printf '\n\r\nlast without a break'`
		if exit, err := c.Run(t.Context(), family.Command{Line: line}, h.add); err != nil || exit != 0 {
			t.Fatal(exit, err)
		}
		if got, want := h.of(family.StreamOut), []string{"out 1", "out 2", "out 3", "out 4", "out 5", "", "", "last without a break"}; !slices.Equal(got, want) {
			t.Errorf("stdout %q, want %q", got, want)
		}
		if got, want := h.of(family.StreamErr), []string{"err 1", "err 2", "err 3", "err 4", "err 5"}; !slices.Equal(got, want) {
			t.Errorf("stderr %q, want %q", got, want)
		}
		if got := h.of(family.StreamSystem); got != nil {
			t.Errorf("muster said %q", got)
		}
	})
}

func TestRunStreamsImmediately(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, n *remotetest.Node, c *remote.Conn) {
		gate := tempFile(n, "gate")
		lines := make(chan string, 2)
		done := make(chan error, 1)
		go func() {
			_, err := c.Run(t.Context(), family.Command{Line: "echo first; until [ -e " + humanize.ShellQuote(gate) + " ]; do sleep 0.02; done; echo second"},
				func(_ app.Stream, l string) { lines <- l })
			done <- err
		}()
		if l := <-lines; l != "first" {
			t.Fatal(l)
		}
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if l := <-lines; l != "second" {
			t.Fatal(l)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
}

func TestRunStdin(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, n *remotetest.Node, c *remote.Conn) {
		big := strings.Repeat("0123456789abcdef", 40<<10) // 640 KiB
		for name, in := range map[string]io.Reader{"sized": strings.NewReader(big), "stream": iotaReader(big)} {
			if got := mustRun(t, c, family.Command{Line: "wc -c | tr -d ' '", Stdin: in}); !slices.Equal(got, []string{fmt.Sprint(len(big))}) {
				t.Errorf("%s: got %q", name, got)
			}
		}
		if got := mustRun(t, c, family.Command{Line: "cat; echo end"}); !slices.Equal(got, []string{"end"}) {
			t.Errorf("without stdin: got %q", got)
		}
		if got := mustRun(t, c, family.Command{Line: "cat; echo end", Stdin: strings.NewReader("")}); !slices.Equal(got, []string{"end"}) {
			t.Errorf("empty stdin: got %q", got)
		}
		// A command may leave its input alone.
		mustRun(t, c, family.Command{Line: "true", Stdin: iotaReader(strings.Repeat(big, 8))})
		if left, _ := filepath.Glob(filepath.Join(n.Temp, "*")); len(left) != 0 {
			t.Errorf("left behind: %q", left)
		}
		_, err := c.Run(t.Context(), family.Command{Line: "cat", Stdin: io.MultiReader(strings.NewReader("a"), failing{})}, nil)
		if !errors.Is(err, errBroken) {
			t.Errorf("got %v", err)
		}
	})
}

var errBroken = errors.New("broken")

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errBroken }

func TestRunLongAndBinaryLines(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, _ *remotetest.Node, c *remote.Conn) {
		const n = 64 << 10
		got := mustRun(t, c, family.Command{Line: "tr '#' '\\n'", Stdin: strings.NewReader(
			strings.Repeat("a", n) + "#" + strings.Repeat("b", 2*n+5) + "#x" + strings.Repeat("ä", n) + "#" + "z\xff\x00\xc3#" + "end")})
		var lens []int
		for _, l := range got {
			lens = append(lens, len(l))
		}
		// The line of two-byte letters begins with one byte, so its pieces are one byte short of the limit.
		if want := []int{n, n, n, 5, n - 1, n, 2, len("z\uFFFD\uFFFD\uFFFD"), 3}; !slices.Equal(lens, want) {
			t.Fatalf("lengths %v, want %v", lens, want)
		}
		if got[7] != "z\uFFFD\uFFFD\uFFFD" {
			t.Errorf("%q", got[7])
		}
		if strings.Contains(strings.Join(got[:7], ""), "\uFFFD") {
			t.Error("a letter was cut in two")
		}
	})
}

func TestRunOutputLimit(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	c := dialWith(t, s.Target(), remote.Limits{Output: 1000})
	var h heard
	exit, err := c.Run(t.Context(), family.Command{Line: "i=0; while [ $i -lt 20000 ]; do echo 123456789; echo 987654321 >&2; i=$((i+1)); done; exit 7"}, h.add)
	if err != nil || exit != 7 {
		t.Fatal(exit, err)
	}
	if lines := len(h.of(family.StreamOut)) + len(h.of(family.StreamErr)); lines != 100 {
		t.Errorf("%d lines, want 100", lines)
	}
	if note := h.of(family.StreamSystem); len(note) != 1 || !strings.Contains(note[0], family.OutputCut+"it's longer than") {
		t.Errorf("note %q", note)
	}
}

// A command that says too much in a short time is not stopped; a note replaces the omitted lines.
func TestRunOutputRate(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	c := dialWith(t, s.Target(), remote.Limits{Rate: 1000, Burst: 1000})
	var h heard
	exit, err := c.Run(t.Context(), family.Command{
		Line: "cat; sleep 0.5; echo after a while; exit 3", Stdin: strings.NewReader(strings.Repeat("123456789\n", 3000)),
	}, h.add)
	if err != nil || exit != 3 {
		t.Fatal(exit, err)
	}
	out := h.of(family.StreamOut)
	if len(out) < 100 || len(out) > 2500 || out[len(out)-1] != "after a while" {
		t.Errorf("%d lines, the last is %q", len(out), out[len(out)-1])
	}
	left := 0
	for _, note := range h.of(family.StreamSystem) {
		var n int
		if _, err := fmt.Sscanf(strings.ReplaceAll(note, ",", ""), family.OutputCut+"%d lines omitted", &n); err != nil {
			t.Errorf("note %q", note)
		}
		left += n
	}
	if left+len(out) != 3001 {
		t.Errorf("%d lines came and %d are said to be left out of 3001", len(out), left)
	}
}

func TestRunConcurrently(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, _ *remotetest.Node, c *remote.Conn) {
		t.Run("group", func(t *testing.T) {
			for i := range 8 {
				t.Run("", func(t *testing.T) {
					t.Parallel()
					want := fmt.Sprint("number ", i)
					if got := mustRun(t, c, family.Command{Line: "cat", Stdin: strings.NewReader(want)}); !slices.Equal(got, []string{want}) {
						t.Errorf("%q", got)
					}
				})
			}
		})
	})
}

// Neither the command nor what it started runs after ctx has ended, however stubborn they are.
func TestRunCancelKills(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]func() io.Reader{
		"none": func() io.Reader { return nil }, "sized": func() io.Reader { return strings.NewReader("x") },
		"stream": func() io.Reader { return iotaReader("x") },
	} {
		for kind, traps := range map[string][2]string{"willing": {}, "stubborn": {`trap "" TERM HUP; `}, "willing with a stubborn child": {"", `trap "" TERM HUP; `}} {
			if kind == "stubborn" && (testing.Short() || name == "sized") {
				continue // each takes as long as the patience of a node, 5 s
			}
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				onEach(t, func(t *testing.T, n *remotetest.Node, c *remote.Conn) {
					file := tempFile(n, "pids")
					ctx, cancel := context.WithCancel(t.Context())
					done := make(chan error, 1)
					go func() {
						_, err := c.Run(ctx, family.Command{
							Line:  traps[0] + "echo $$ >>" + file + "; sh -c '" + traps[1] + "echo $$ >>" + file + "; sleep 1000; true' & sleep 1000; true",
							Stdin: in(),
						}, nil)
						done <- err
					}()
					eventually(t, "two processes", func() bool { return len(pidsIn(file)) == 2 })
					cancel()
					wantCode(t, <-done, app.ECancelled)
					eventually(t, "the processes end", func() bool { return !slices.ContainsFunc(pidsIn(file), running) })
					mustRun(t, c, family.Command{Line: "true"}) // the connection is still good
				})
			})
		}
	}
}

// The command may end before its first line, which has the process ID, has been read. Its group is killed anyway.
func TestRunCancelKillsBeforeTheFirstLineIsRead(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{Line: func(l string) string { return "echo noise >&2; " + l }})
	c := dialWith(t, s.Target(), remote.Limits{KillAfter: hangs})
	file, read := tempFile(&s.Node, "pids"), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.Run(ctx, family.Command{
			Line:  "echo $$ >>" + file + `; sh -c 'trap "" TERM HUP; echo $$ >>` + file + "; sleep 1000; true' >/dev/null 2>&1 & sleep 1000; true",
			Stdin: iotaReader("x"),
		}, func(_ app.Stream, l string) {
			if l == "noise" {
				<-read
			}
		})
		done <- err
	}()
	eventually(t, "two processes", func() bool { return len(pidsIn(file)) == 2 })
	cancel()
	eventually(t, "the command ends", func() bool { return !running(pidsIn(file)[0]) })
	time.Sleep(500 * time.Millisecond) // time enough to give up on the rest of the group; without it the test proves less, but doesn't fail
	close(read)
	wantCode(t, <-done, app.ECancelled)
	eventually(t, "the rest of the group ends", func() bool { return !running(pidsIn(file)[1]) })
}

func TestRunDeadline(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, _ *remotetest.Node, c *remote.Conn) {
		began := time.Now()
		_, err := c.Run(soon(t, 300*time.Millisecond), family.Command{Line: "sleep 1000"}, nil)
		wantCode(t, err, app.ETimeout, "timed out")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error("the cause is lost")
		}
		if d := time.Since(began); d > hangs {
			t.Errorf("took %s", d)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = c.Run(ctx, family.Command{Line: "true"}, nil)
		wantCode(t, err, app.ECancelled)
	})
}

// No line comes after Run has returned, even when a process that was left behind keeps writing.
func TestRunLeavesDaemons(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, n *remotetest.Node, _ *remote.Conn) {
		c := dialWith(t, n.Target(), remote.Limits{Drain: 300 * time.Millisecond})
		file, gate := tempFile(n, "pid"), tempFile(n, "gate")
		var h heard
		var returned atomic.Bool
		until := "until [ -e " + gate + " ] || [ ! -d " + n.Temp + " ]; do sleep 0.02; done"
		exit, err := c.Run(t.Context(), family.Command{Line: "setsid sh -c 'echo $$ >" + file + "; " + until + "; while echo late; do sleep 0.01; done' & echo started"},
			func(s app.Stream, l string) {
				if returned.Load() {
					t.Errorf("after the end: %s", l)
				}
				h.add(s, l)
			})
		returned.Store(true)
		if err != nil || exit != 0 {
			t.Fatal(exit, err)
		}
		if got := h.of(family.StreamOut); !slices.Equal(got, []string{"started"}) {
			t.Errorf("%q", got)
		}
		if got := h.of(family.StreamSystem); len(got) != 1 || !strings.Contains(got[0], "keeps the command's output open") {
			t.Errorf("%q", got)
		}
		eventually(t, "the daemon begins", func() bool { return len(pidsIn(file)) == 1 })
		pid := pidsIn(file)
		if !running(pid[0]) {
			t.Errorf("the daemon %v does not run", pid)
		}
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		eventually(t, "its output breaks", func() bool { return !running(pid[0]) })
	})
}

// A daemon that does as it should outlives its command and even the connection.
func TestRunDaemonSurvives(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, n *remotetest.Node, c *remote.Conn) {
		file, stop := tempFile(n, "pid"), tempFile(n, "stop")
		var h heard
		line := "setsid sh -c 'echo $$ >" + file + "; until [ -e " + stop + " ]; do sleep 0.05; done' >/dev/null 2>&1 </dev/null &"
		exit, err := c.Run(t.Context(), family.Command{Line: line}, h.add)
		if said := h.of(family.StreamSystem); err != nil || exit != 0 || len(said) != 0 { // such as that something holds its output open
			t.Errorf("exit %d, %v: %q", exit, err, said)
		}
		_ = c.Close()
		eventually(t, "it starts", func() bool { return len(pidsIn(file)) == 1 })
		pid := pidsIn(file)[0]
		c2 := dial(t, n.Target())
		mustRun(t, c2, family.Command{Line: "kill -0 " + fmt.Sprint(pid)})
		mustRun(t, c2, family.Command{Line: "touch " + stop})
		eventually(t, "it ends", func() bool { return !running(pid) })
	})
}

// A command whose connection is gone ends by its lifeline, so that the next attempt is alone.
func TestRunConnectionLost(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]func() io.Reader{
		"none": func() io.Reader { return nil }, "sized": func() io.Reader { return strings.NewReader("x") },
	} {
		t.Run(name, func(t *testing.T) {
			s := remotetest.Start(t, remotetest.Options{})
			c := dial(t, s.Target())
			file := tempFile(&s.Node, "pids")
			done := make(chan error, 1)
			go func() {
				_, err := c.Run(t.Context(), family.Command{Line: "echo $$ >" + file + "; sleep 1000; true", Stdin: in()}, nil)
				done <- err
			}()
			eventually(t, "it runs", func() bool { return len(pidsIn(file)) == 1 })
			s.Drop()
			wantCode(t, <-done, app.ETransient, "was lost")
			eventually(t, "it ends", func() bool { return !running(pidsIn(file)[0]) })
			<-c.Done()
			_, err := c.Run(t.Context(), family.Command{Line: "true"}, nil)
			wantCode(t, err, app.ETransient)
		})
	}
}

func TestRunOpenSSHConnectionLost(t *testing.T) {
	t.Parallel()
	n := remotetest.OpenSSH(t)
	c := dial(t, n.Target())
	file := tempFile(n, "pids")
	done := make(chan error, 1)
	go func() {
		_, err := c.Run(t.Context(), family.Command{Line: "echo $$ >" + file + "; sleep 1000; true"}, nil)
		done <- err
	}()
	eventually(t, "it runs", func() bool { return len(pidsIn(file)) == 1 })
	_ = c.Close()
	wantCode(t, <-done, app.ETransient)
	eventually(t, "it ends", func() bool { return !running(pidsIn(file)[0]) })
}

func TestKeepaliveEndsADeadConnection(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	// Longer than one question. A busy host may not answer that in time; then it has more.
	var c *remote.Conn
	var err error
	for _, every := range []time.Duration{time.Second, 5 * time.Second, 25 * time.Second} {
		c = dialWith(t, s.Target(), remote.Limits{Keepalive: every})
		if _, err = c.Run(t.Context(), family.Command{Line: fmt.Sprintf("sleep %.1f", 2.5*every.Seconds())}, nil); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Freeze(true)
	_, err = c.Run(t.Context(), family.Command{Line: "sleep 1000"}, nil)
	wantCode(t, err, app.ETransient, "was lost")
}

func TestRunTooLong(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	c := dial(t, s.Target())
	_, err := c.Run(t.Context(), family.Command{Line: "true " + strings.Repeat("x", 121<<10)}, nil)
	wantCode(t, err, app.ETooLarge)
	mustRun(t, c, family.Command{Line: "true " + strings.Repeat("x", 111<<10)})
}

func TestRunNoShell(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{Line: func(string) string { return "echo This account is not available. >&2; exit 1" }})
	_, err := dial(t, s.Target()).Run(t.Context(), family.Command{Line: "true"}, nil)
	wantCode(t, err, app.ECredentials, "can't run commands", "This account is not available")
}

// An exit code may arrive while the lines before it are lost with the connection. That is no verdict on the account.
func TestExitCodeOfALostConnection(t *testing.T) {
	t.Parallel()
	c := dial(t, remotetest.Start(t, remotetest.Options{}).Target())
	wantCode(t, c.ExitWithoutHello(0), app.ECredentials, "can't run commands")
	_ = c.Close()
	for _, code := range []int{0, 1, 125} {
		wantCode(t, c.ExitWithoutHello(code), app.ETransient, "was lost")
	}
}

func TestRunNoisyLogin(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{Line: func(l string) string { return "printf noise >&2; " + l }})
	var h heard
	exit, err := dial(t, s.Target()).Run(t.Context(), family.Command{Line: "exit 3"}, h.add)
	if err != nil || exit != 3 || !slices.Equal(h.all(), []string{"stderr: noise"}) {
		t.Fatal(exit, err, h.all())
	}
}

func TestRunStdinNeedsRoom(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{Env: []string{"TMPDIR=/nonexistent"}})
	_, err := dial(t, s.Target()).Run(t.Context(), family.Command{Line: "true", Stdin: strings.NewReader("x")}, nil)
	wantCode(t, err, app.ECapacity, "temporary directory")
}

// The wrapper works in whatever sh is.
func TestWrapperInOtherShells(t *testing.T) {
	t.Parallel()
	for _, sh := range [][]string{{"dash"}, {"bash"}, {"busybox", "sh"}, {"ksh"}, {"zsh", "--emulate", "sh"}} {
		if _, err := exec.LookPath(sh[0]); err != nil {
			continue
		}
		t.Run(sh[0], func(t *testing.T) {
			for mode, in := range map[string]string{"none": "", "5": "hello", "stream": "hello"} {
				cmd := exec.Command(sh[0], append(sh[1:], "-c", `eval "$1"`, "muster", remote.WrapperFor(mode), "TOKEN", "n", mode, "cat; exit 3")...)
				w, err := cmd.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.WriteString(w, in)
				if mode == "stream" {
					_ = w.Close()
				}
				var h strings.Builder
				cmd.Stdout, cmd.Stderr = &h, io.Discard
				err = cmd.Run()
				if cmd.ProcessState.ExitCode() != 3 || h.String() != in {
					t.Errorf("%s: %v, %q", mode, err, h.String())
				}
			}
		})
	}
}
