//go:build linux

package sandbox

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"muster/app/family"
)

// crashDir, when set, makes the test binary a process that makes machines until it is killed.
const crashDir = "SANDBOX_TEST_CRASH_DIR"

func makeUntilKilled(dir string) error {
	t := new(testing.T) // only for keys; it reports to no one
	p, err := Open(context.Background(), "crash", nil, Env{DataDir: dir})
	if err != nil {
		return err
	}
	fmt.Println("open")
	for i := range 50 {
		s, _ := spec(t, fmt.Sprintf("crash-%d", i))
		m, err := p.Create(context.Background(), s)
		if err != nil {
			return err
		}
		fmt.Println("made", m.ID)
	}
	time.Sleep(time.Minute) // until the kill, which is late
	return nil
}

// Whenever Muster is killed, the next one finds every machine, and can remove all there is.
func TestCrashDuringCreate(t *testing.T) {
	needNamespaces(t)
	for _, delay := range []time.Duration{0, 7, 19, 43, 90, 160} {
		t.Run(fmt.Sprintf("after %d ms", delay), func(t *testing.T) {
			dir := dataDir(t)
			made := killed(t, dir, delay*time.Millisecond)
			p := open(t, dir, ModeNamespaces)
			found := make(map[string]family.Machine)
			ms, err := p.List(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range ms {
				found[m.ID] = m
				if m.Tags[family.TagInstallation] == "" {
					t.Errorf("found without tags: %+v", m)
				}
			}
			for _, id := range made {
				if found[id].State != family.MachineRunning {
					t.Errorf("%s was reported, and is now %+v", id, found[id])
				}
			}
			if len(found) > len(made)+1 {
				t.Errorf("%d made, %d found", len(made), len(found))
			}
			for id := range found {
				if err := p.Delete(t.Context(), id); err != nil {
					t.Error(err)
				}
			}
			// What was not yet a record when the kill came is only an empty directory, which opening removes. A first
			// process that still waited for its word ends by itself, in its own time.
			for deadline := time.Now().Add(hangs); len(traces(dir)) > 0 && time.Now().Before(deadline); {
				time.Sleep(5 * time.Millisecond)
			}
			wantNoTraces(t, dir)
		})
	}
}

// killed runs makeUntilKilled in another process, kills that some time after it has opened the sandbox, and returns the
// machines that it had reported by then.
func killed(t *testing.T, dir string, after time.Duration) (made []string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashDir+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "open" {
		t.Fatalf("the other process says %q", lines.Text())
	}
	kill := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	for lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "made "); ok {
			made = append(made, id)
		}
	}
	_ = cmd.Wait()
	return made
}
