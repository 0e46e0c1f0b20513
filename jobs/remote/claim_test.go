package remote_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

func claim(epoch int64, step int) remote.Claim {
	return remote.Claim{Place: "c1.n1", Epoch: epoch, Operation: 7, Index: step}
}

// counting adds a line to a file at its beginning, waits until another file is there, and says so twice: a server that
// does not notice that its client has gone before it has something to say loses one of them.
func counting(n *remotetest.Node) (cmd func() family.Command, count func() int, open func()) {
	file, gate := tempFile(n, "count"), tempFile(n, "gate")
	script := "sh -c 'echo $PPID' >>" + file + "\necho begun\nuntil [ -e " + gate + " ] || [ ! -d " + n.Temp + " ]; do sleep 0.02; done\necho late\nsleep 0.2\necho done\n"
	return func() family.Command {
			return family.Command{Line: `eval "$(cat)"`, Stdin: strings.NewReader(script), Once: true}
		}, func() int { return len(pidsIn(file)) },
		func() { _ = os.WriteFile(gate, nil, 0o600) }
}

// begin runs a command in the background.
func begin(ctx context.Context, sh family.Shell, cmd family.Command, h *heard) <-chan error {
	done := make(chan error, 1)
	go func() {
		exit, err := sh.Run(ctx, cmd, h.add)
		if err == nil && exit != 0 {
			err = fmt.Errorf("exit code %d", exit)
		}
		done <- err
	}()
	return done
}

func end(t testing.TB, done <-chan error) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(hangs):
		t.Fatal("it does not end")
		return nil
	}
}

func TestStaleClaimIsRefused(t *testing.T) {
	t.Parallel()
	onEachWay(t, func(t *testing.T, n *remotetest.Node, c *remote.Conn) {
		file := tempFile(n, "effect")
		effect := family.Command{Line: "echo x >>" + file}
		once := effect
		once.Once = true
		mustRun(t, remote.Under(c, claim(9007199254740993, 1)), effect)
		zombie := remote.Under(dial(t, n.Target()), claim(9007199254740992, 1))
		for name, cmd := range map[string]family.Command{"plain": effect, "once": once} {
			_, err := zombie.Run(t.Context(), cmd, nil)
			wantCode(t, err, app.EStale, "9007199254740993")
			if got, _ := os.ReadFile(file); string(got) != "x\n" {
				t.Errorf("%s: the effect is there: %q", name, got)
			}
		}
		wantCode(t, zombie.Put(t.Context(), tempFile(n, "put"), 0o600, strings.NewReader("x")), app.EStale)
		if _, err := os.Stat(tempFile(n, "put")); !os.IsNotExist(err) {
			t.Error("the file was put")
		}
		mustRun(t, remote.Under(c, remote.Claim{Place: "c1.n2", Epoch: 1}), effect) // another node on the same file system
		mustRun(t, remote.Under(c, claim(9007199254740993, 1)), effect)             // the same claim may continue
		mustRun(t, remote.Under(c, claim(9007199254740994, 1)), effect)
	})
}

func TestClaimBadPlace(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	for _, place := range []string{"", "a b", "../x", "a/b", "$(x)", "'"} {
		_, err := remote.Under(dial(t, s.Target()), remote.Claim{Place: place, Epoch: 1}).Run(t.Context(), family.Command{Line: "true"}, nil)
		wantCode(t, err, app.EInvalid)
	}
}

func TestOnceRunsOnce(t *testing.T) {
	t.Parallel()
	onEachWay(t, func(t *testing.T, n *remotetest.Node, c *remote.Conn) {
		file := tempFile(n, "effect")
		cmd := func(exit int, in string) family.Command {
			return family.Command{Line: fmt.Sprintf("cat >>%s; echo did; exit %d", file, exit), Stdin: strings.NewReader(in), Once: true}
		}
		for epoch, tc := range []struct {
			step     int
			cmd      family.Command
			exit     int
			effect   string
			repeated bool
		}{
			{1, cmd(0, "a\n"), 0, "a\n", false},
			{1, cmd(0, "a\n"), 0, "a\n", true},
			{1, cmd(0, "b\n"), 0, "a\nb\n", false}, // other input
			{2, cmd(0, "a\n"), 0, "a\nb\na\n", false},
			{2, cmd(3, "c"), 3, "a\nb\na\nc", false}, // failed, so it is done again
			{2, cmd(3, "c"), 3, "a\nb\na\ncc", false},
			{1, cmd(0, "a\n"), 0, "a\nb\na\ncc", true},
		} {
			var h heard
			exit, err := remote.Under(c, claim(int64(epoch+1), tc.step)).Run(t.Context(), tc.cmd, h.add)
			if err != nil || exit != tc.exit {
				t.Fatalf("%d: exit %d, %v, %q", epoch, exit, err, h.all())
			}
			if got, _ := os.ReadFile(file); string(got) != tc.effect {
				t.Errorf("%d: effect %q, want %q", epoch, got, tc.effect)
			}
			if said := len(h.of(family.StreamSystem)) == 1; said != tc.repeated {
				t.Errorf("%d: %q", epoch, h.all())
			}
		}
		if got, _ := filepath.Glob(filepath.Join(n.State, ".claims", "*", "*")); len(got) == 0 {
			t.Error("the node keeps nothing")
		}
	})
}

// What is run, and what it is given, is not in any file of the node.
func TestOnceStoresNoInput(t *testing.T) {
	t.Parallel()
	onEachWay(t, func(t *testing.T, n *remotetest.Node, c *remote.Conn) {
		mustRun(t, remote.Under(c, claim(1, 1)), family.Command{Line: "cat >/dev/null", Stdin: strings.NewReader("s3cr3t\n"), Once: true})
		out, _ := exec.Command("grep", "-rl", "s3cr3t", n.State, n.Home, n.Temp).Output()
		if len(out) > 0 {
			t.Errorf("it is in %s", out)
		}
	})
}

// The connection is cut while the script runs; the next attempt takes it over.
func TestOnceSurvivesTheConnection(t *testing.T) {
	t.Parallel()
	onEachWay(t, func(t *testing.T, n *remotetest.Node, c *remote.Conn) {
		cmd, count, open := counting(n)
		var first, second heard
		done := begin(t.Context(), remote.Under(c, claim(1, 1)), cmd(), &first)
		eventually(t, "it begins", func() bool { return slices.Contains(first.all(), "stdout: begun") })
		_ = c.Close()
		wantCode(t, end(t, done), app.ETransient)

		done = begin(t.Context(), remote.Under(dial(t, n.Target()), claim(2, 1)), cmd(), &second)
		eventually(t, "it is taken over", func() bool { return len(second.of(family.StreamSystem)) == 1 })
		eventually(t, "the node notices the cut", func() bool {
			files, _ := filepath.Glob(filepath.Join(n.State, ".claims", "*", "[ov].*"))
			return len(files) == 2
		})
		open()
		if err := end(t, done); err != nil {
			t.Fatal(err, second.all())
		}
		if count() != 1 {
			t.Errorf("it ran %d times", count())
		}
		if len(second.of(family.StreamOut)) == 0 {
			t.Errorf("what it said after the cut is lost: %q", second.all())
		}
	})
}

// A worker that is frozen keeps its connection. The next attempt takes over what runs on it.
func TestOnceTakenFromAZombie(t *testing.T) {
	t.Parallel()
	onEachWay(t, func(t *testing.T, n *remotetest.Node, c *remote.Conn) {
		cmd, count, open := counting(n)
		var first, second heard
		old := begin(t.Context(), remote.Under(c, claim(1, 1)), cmd(), &first)
		eventually(t, "it begins", func() bool { return count() == 1 })
		done := begin(t.Context(), remote.Under(dial(t, n.Target()), claim(2, 1)), cmd(), &second)
		eventually(t, "it is taken over", func() bool { return len(second.of(family.StreamSystem)) == 1 })
		open()
		if err := end(t, done); err != nil {
			t.Fatal(err, second.all())
		}
		if err := end(t, old); err != nil {
			t.Fatal(err)
		}
		if _, err := remote.Under(c, claim(1, 1)).Run(t.Context(), cmd(), nil); app.CodeOf(err) != app.EStale {
			t.Errorf("the zombie keeps running: %v", err)
		}
		if count() != 1 {
			t.Errorf("it ran %d times", count())
		}
	})
}

func TestOnceCancelled(t *testing.T) {
	t.Parallel()
	onEachWay(t, func(t *testing.T, n *remotetest.Node, c *remote.Conn) {
		cmd, count, open := counting(n)
		var h heard
		ctx, cancel := context.WithCancel(t.Context())
		done := begin(ctx, remote.Under(c, claim(1, 1)), cmd(), &h)
		eventually(t, "it begins", func() bool { return count() == 1 })
		cancel()
		wantCode(t, end(t, done), app.ECancelled)
		eventually(t, "it ends", func() bool { return !slices.ContainsFunc(pidsIn(tempFile(n, "count")), running) })

		// Cancelled while it is waited for: that ends it as well.
		// Also what does not mind, and whose parent has gone.
		stubborn := tempFile(n, "stubborn")
		ctx, cancel = context.WithCancel(t.Context())
		done = begin(ctx, remote.Under(c, claim(1, 2)), family.Command{Once: true,
			Line: "sh -c 'sh -c \"trap \\\"\\\" TERM HUP; echo \\$\\$ >>" + stubborn + "; while [ -d " + n.Temp + " ]; do sleep 0.1; done\"; true'; true"}, &h)
		eventually(t, "the stubborn one begins", func() bool { return len(pidsIn(stubborn)) == 1 })
		cancel()
		wantCode(t, end(t, done), app.ECancelled)
		eventually(t, "the stubborn one ends", func() bool { return !running(pidsIn(stubborn)[0]) })

		done = begin(t.Context(), remote.Under(c, claim(2, 1)), cmd(), &h)
		eventually(t, "it begins again", func() bool { return count() == 2 })
		_ = c.Close()
		_ = end(t, done)
		ctx, cancel = context.WithCancel(t.Context())
		var second heard
		c = dial(t, n.Target())
		done = begin(ctx, remote.Under(c, claim(3, 1)), cmd(), &second)
		eventually(t, "it is taken over", func() bool { return len(second.of(family.StreamSystem)) == 1 })
		cancel()
		wantCode(t, end(t, done), app.ECancelled)
		eventually(t, "it ends", func() bool { return !slices.ContainsFunc(pidsIn(tempFile(n, "count")), running) })

		open()
		mustRun(t, remote.Under(c, claim(4, 1)), cmd())
		if count() != 3 {
			t.Errorf("begun %d times, want 3", count())
		}
	})
}

// A worker that lets go leaves its command to the next attempt.
func TestOnceLeft(t *testing.T) {
	t.Parallel()
	onEachWay(t, func(t *testing.T, n *remotetest.Node, c *remote.Conn) {
		cmd, count, open := counting(n)
		letGo := errors.New("let go")
		ctx, cancel := context.WithCancelCause(t.Context())
		left := claim(1, 1)
		left.Leave = func(ctx context.Context) bool { return context.Cause(ctx) == letGo }
		var h heard
		done := begin(ctx, remote.Under(c, left), cmd(), &h)
		eventually(t, "it begins", func() bool { return count() == 1 })
		cancel(letGo)
		wantCode(t, end(t, done), app.ECancelled)
		open()
		mustRun(t, remote.Under(c, claim(2, 1)), cmd())
		if count() != 1 {
			t.Errorf("it ran %d times", count())
		}
	})
}

// A step ends what an older operation has left running, also what runs once; its own it leaves alone, and for what another
// step of its operation runs once it has to wait: ended, that would be done again.
func TestClaimEndsLeftovers(t *testing.T) {
	t.Parallel()
	onEachWay(t, func(t *testing.T, n *remotetest.Node, c *remote.Conn) {
		cmd, count, _ := counting(n)
		var h heard
		done := begin(t.Context(), remote.Under(c, claim(1, 1)), cmd(), &h)
		eventually(t, "it begins", func() bool { return count() == 1 })
		_ = c.Close()
		_ = end(t, done)
		c = dial(t, n.Target())
		pid := pidsIn(tempFile(n, "count"))[0]
		mustRun(t, remote.Under(c, claim(2, 1)), family.Command{Line: "true"})
		if !running(pid) {
			t.Fatal("a plain command of the same step has ended it")
		}
		for _, once := range []bool{false, true} {
			_, err := remote.Under(c, claim(3, 2)).Run(t.Context(), family.Command{Line: "true", Once: once}, nil)
			if e := app.AsError(err); e.Code != app.ETransient || e.Reason != remote.ReasonOccupied || !running(pid) {
				t.Fatalf("another step got %v; running %t", err, running(pid))
			}
		}
		later := claim(4, 1)
		later.Operation++
		mustRun(t, remote.Under(c, later), family.Command{Line: "true"})
		if running(pid) {
			t.Error("it still runs")
		}
	})
}

// Killing the shell that watches a script leaves an unknown outcome: the rest is ended, and it is done again.
func TestOnceWatcherKilled(t *testing.T) {
	t.Parallel()
	onEachWay(t, func(t *testing.T, n *remotetest.Node, c *remote.Conn) {
		cmd, count, open := counting(n)
		var h heard
		done := begin(t.Context(), remote.Under(c, claim(1, 1)), cmd(), &h)
		eventually(t, "it begins", func() bool { return count() == 1 })
		script := pidsIn(tempFile(n, "count"))[0]
		group, err := syscall.Getpgid(script)
		if err != nil {
			t.Fatal(err)
		}
		_ = syscall.Kill(group, syscall.SIGKILL)
		if end(t, done) == nil {
			t.Error("it is said to have succeeded")
		}
		var second heard
		done = begin(t.Context(), remote.Under(dial(t, n.Target()), claim(2, 1)), cmd(), &second)
		eventually(t, "it begins again", func() bool { return count() == 2 })
		// It was killed with its group. On a busy host, what is killed lets go of its lock a moment before it's gone.
		eventually(t, "the first one is gone", func() bool { return !running(script) })
		open()
		if err := end(t, done); err != nil {
			t.Fatal(err, second.all())
		}
	})
}

// The time that a step has also holds for a script that runs alone.
func TestOnceAloneEnds(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	c := dial(t, s.Target())
	cmd, count, _ := counting(&s.Node)
	var h heard
	for seconds := 1; count() == 0 && seconds < 1000; seconds *= 5 { // on a busy host the time may be over before it begins
		done := begin(soon(t, time.Duration(seconds)*time.Second), remote.Under(c, claim(int64(seconds), seconds)), cmd(), &h)
		for count() == 0 && len(done) == 0 {
			time.Sleep(10 * time.Millisecond)
		}
		if count() > 0 {
			_ = c.Close()
		}
		_ = end(t, done)
	}
	eventually(t, "it begins", func() bool { return count() > 0 })
	eventually(t, "it ends", func() bool { return !running(pidsIn(tempFile(&s.Node, "count"))[0]) })
}

// However often, and wherever, connections are cut, the effect is there once.
func TestOnceSurvivesAnyCut(t *testing.T) {
	t.Parallel()
	const script = `n=$(cat "$F" 2>/dev/null || echo 0)
sleep 0.01
echo $((n+1)) >"$F.new"
mv "$F.new" "$F"
echo said
sleep 0.1
`
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	onEachWay(t, func(t *testing.T, n *remotetest.Node, _ *remote.Conn) {
		seed := uint64(time.Now().UnixNano())
		rnd := rand.New(rand.NewPCG(seed, 0))
		defer func() {
			if t.Failed() {
				t.Logf("seed %d", seed)
			}
		}()
		epoch := int64(0)
		for round := range rounds {
			file := tempFile(n, fmt.Sprint("counter", round))
			cmd := func() family.Command {
				return family.Command{Line: `eval "$(cat)"`, Stdin: strings.NewReader("F=" + file + "\n" + script), Once: true}
			}
			for attempt := 0; ; attempt++ {
				epoch++
				c, err := remote.Limits{}.DialTo(t.Context(), n.Target())
				if err != nil {
					t.Fatal(err)
				}
				if attempt < 6 {
					cut := time.AfterFunc(time.Duration(rnd.IntN(150))*time.Millisecond, func() { _ = c.Close() })
					defer cut.Stop()
				}
				var h heard
				exit, err := remote.Under(c, claim(epoch, round)).Run(t.Context(), cmd(), h.add)
				_ = c.Close()
				if err == nil {
					if exit != 0 {
						t.Fatalf("round %d, attempt %d: exit %d, %q", round, attempt, exit, h.all())
					}
					break
				}
				if app.CodeOf(err) != app.ETransient {
					t.Fatalf("round %d, attempt %d: %v", round, attempt, err)
				}
			}
			if got, _ := os.ReadFile(file); strings.TrimSpace(string(got)) != "1" {
				out, _ := exec.Command("sh", "-c", "cd "+n.State+"/.claims/c1.n1 && tail -n 9 *."+fmt.Sprintf("7.%d.", round)+"*").CombinedOutput()
				t.Fatalf("round %d: the effect is there %q times\n%s", round, got, out)
			}
		}
	})
}

// Two attempts at the same moment: the older one is refused or waited for.
func TestOnceConcurrently(t *testing.T) {
	t.Parallel()
	onEachWay(t, func(t *testing.T, n *remotetest.Node, c *remote.Conn) {
		for round := range 10 {
			file := tempFile(n, fmt.Sprint("effect", round))
			cmd := family.Command{Line: "echo x >>" + file + "; sleep 0.05", Once: true}
			results := make([]<-chan error, 4)
			for i := range results {
				results[i] = begin(t.Context(), remote.Under(c, claim(int64(round*10+i+1), round)), cmd, new(heard))
			}
			for i, done := range results {
				err := end(t, done)
				if err != nil && app.CodeOf(err) != app.EStale || err != nil && i == len(results)-1 {
					t.Errorf("claim %d: %v", i, err)
				}
			}
			if got, _ := os.ReadFile(file); string(got) != "x\n" {
				t.Fatalf("round %d: %q", round, got)
			}
		}
	})
}

// What the node keeps stays small however many steps there are.
func TestClaimUsesLittleSpace(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	c := dial(t, s.Target())
	for i := range 150 {
		sh := remote.Under(c, remote.Claim{Place: "c1.n1", Epoch: int64(i + 1), Operation: int64(i / 5), Index: i % 5})
		mustRun(t, sh, family.Command{Line: "true", Once: i%2 == 0})
	}
	files, _ := filepath.Glob(filepath.Join(s.State, ".claims", "c1.n1", "*"))
	if len(files) == 0 || len(files) > 330 {
		t.Errorf("%d files", len(files))
	}
	info, err := os.Stat(filepath.Join(s.State, ".claims", "c1.n1"))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Error(info.Mode(), err)
	}
}

// The runner reads the same to every sh, as the login shell and as the one that it starts.
func TestOnceInEveryShell(t *testing.T) {
	t.Parallel()
	for _, shell := range [][]string{{"dash"}, {"bash"}, {"bash", "--posix"}, {"busybox", "sh"}, {"mksh"}, {"zsh", "--emulate", "sh"}} {
		file, err := exec.LookPath(shell[0])
		if err != nil {
			t.Logf("there is no %s here", shell[0])
			continue
		}
		t.Run(strings.Join(shell, " "), func(t *testing.T) {
			t.Parallel()
			start := humanize.ShellQuote(file) + " " + strings.Join(shell[1:], " ")
			env := tools(t, map[string]string{"sh": "exec " + start + ` "$@"`})
			s := remotetest.Start(t, remotetest.Options{Env: []string{env, "SHELL=/bin/sh"}, Line: func(line string) string {
				return "exec " + start + " -c " + humanize.ShellQuote(line)
			}})
			c := dial(t, s.Target())
			cmd, count, open := counting(&s.Node)
			var first, second heard
			mustRun(t, remote.Under(c, claim(1, 1)), family.Command{Line: "true"})
			done := begin(t.Context(), remote.Under(c, claim(2, 2)), cmd(), &first)
			eventually(t, "it begins", func() bool { return slices.Contains(first.all(), "stdout: begun") })
			_ = c.Close()
			wantCode(t, end(t, done), app.ETransient)
			c = dial(t, s.Target())
			done = begin(t.Context(), remote.Under(c, claim(3, 2)), cmd(), &second)
			eventually(t, "it is taken over", func() bool { return len(second.of(family.StreamSystem)) == 1 })
			open()
			if err := end(t, done); err != nil {
				t.Fatal(err, second.all())
			}
			mustRun(t, remote.Under(c, claim(4, 2)), cmd())
			if count() != 1 {
				t.Errorf("it ran %d times", count())
			}
			for _, in := range []string{"", "\n", "a", "a\n", "a\n\n\n", "$x `date` \\n '\"\n", "  a\\\n\t b\n\\\\ \n", strings.Repeat("ä$\n", 200), strings.Repeat("ä$\n", 9000)} {
				got := mustRun(t, c, family.Command{Line: "cat; echo .", Stdin: strings.NewReader(in)})
				if strings.Join(got, "\n") != in+"." {
					t.Errorf("input %.20q comes as %.20q", in, got)
				}
			}
			_, err := remote.Under(c, claim(1, 1)).Run(t.Context(), family.Command{Line: "true"}, nil)
			wantCode(t, err, app.EStale)
		})
	}
}

// The claim is checked as the login user, whatever runs with root rights.
func TestOnceWithSudo(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{User: "admin", Env: []string{tools(t, map[string]string{"sudo": fakeSudo})}})
	c := dial(t, s.Target())
	cmd, count, open := counting(&s.Node)
	sudo := func() family.Command { c := cmd(); c.Sudo = true; return c }
	var first, second heard
	done := begin(t.Context(), remote.Under(c, claim(1, 1)), sudo(), &first)
	eventually(t, "it begins", func() bool { return count() == 1 })
	_ = c.Close()
	_ = end(t, done)
	c = dial(t, s.Target())
	done = begin(t.Context(), remote.Under(c, claim(2, 1)), sudo(), &second)
	eventually(t, "it is taken over", func() bool { return len(second.of(family.StreamSystem)) == 1 })
	open()
	if err := end(t, done); err != nil {
		t.Fatal(err, second.all())
	}
	mustRun(t, remote.Under(c, claim(3, 1)), sudo())
	if count() != 1 {
		t.Errorf("it ran %d times", count())
	}
	_, err := remote.Under(c, claim(2, 1)).Run(t.Context(), family.Command{Line: "true"}, nil)
	wantCode(t, err, app.EStale)
}

// A plain user without a directory gets an error.
func TestClaimWithoutAPlace(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	if err := os.WriteFile(s.State, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := remote.Under(dial(t, s.Target()), claim(1, 1)).Run(t.Context(), family.Command{Line: "true"}, nil)
	wantCode(t, err, app.ECapacity, "isn't writable")
}
