//go:build linux

package sandbox

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A machine that another process has deleted starts nothing any more, though its connections may be open for a moment yet, or
// for long where its own process was frozen meanwhile.
func TestProcessDeletedMachineStartsNothing(t *testing.T) {
	p := open(t, dataDir(t), ModeProcess)
	m, k := create(t, p, "gone")
	c := dial(t, m, k)
	const daemon = "setsid sleep 600 >/dev/null 2>&1 </dev/null &"
	sh(t, c, daemon)
	dir := p.files.node(m.ID)
	look := func() []int { return nodeProcesses(m.ID, dir, map[int]uint64{}).pids }
	if len(look()) != 1 {
		t.Fatalf("processes of the machine: %v", look())
	}
	// What a delete by another process does, up to the knock.
	if err := os.WriteFile(p.files.file(m.ID, goneFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := killNode(t.Context(), m.ID, dir); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		s, err := c.NewSession()
		if err != nil {
			break // closed, which is right, too
		}
		if err := s.Run(daemon); err == nil {
			t.Error("a command was run")
		}
	}
	if left := look(); len(left) > 0 {
		t.Errorf("processes %v outlive their machine", left)
	}
	remove(t, p, m)
}

// The delete may come between the last look whether the machine is there and the start of a command.
func TestProcessCommandStartedDuringDeleteIsKilled(t *testing.T) {
	p := open(t, dataDir(t), ModeProcess)
	m, k := create(t, p, "going")
	c := dial(t, m, k)
	p.kinds[ModeProcess].(*process).servers[m.ID].beforeStart = func() { _ = os.WriteFile(p.files.file(m.ID, goneFile), nil, 0o600) }
	s := newTestSession(t, c)
	if err := s.Run("setsid sleep 600 >/dev/null 2>&1 </dev/null &"); err == nil {
		t.Error("a command was run")
	}
	if left := nodeProcesses(m.ID, p.files.node(m.ID), map[int]uint64{}).pids; len(left) > 0 {
		t.Errorf("processes %v outlive their machine", left)
	}
	remove(t, p, m)
}

// Each process of the machine starts the next one and ends, so that a list of processes is out of date before it is read.
func TestProcessDeleteFindsForkingProcesses(t *testing.T) {
	for round := range 5 {
		p := open(t, dataDir(t), ModeProcess)
		m, k := create(t, p, "hops"+strconv.Itoa(round))
		sh(t, dial(t, m, k), `export N=20000 H='[ $N -gt 0 ] && N=$((N-1)) setsid sh -c "$H" &'; setsid sh -c "$H" >/dev/null 2>&1 </dev/null`)
		remove(t, p, m)
		found := nodeProcesses(m.ID, p.files.node(m.ID), map[int]uint64{})
		for looks := 0; len(found.pids) == 0 && looks < 50; looks++ {
			found = nodeProcesses(m.ID, p.files.node(m.ID), map[int]uint64{})
		}
		if len(found.pids) > 0 {
			t.Errorf("round %d: processes %v outlive their machine", round, found.pids)
		}
	}
}

// A number is given to another process in time: one that ended under a number seen before may have been the machine's.
func TestProcessReusedPIDs(t *testing.T) {
	c := exec.Command("true")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Wait() }()
	pid := c.Process.Pid
	var start uint64
	for deadline := time.Now().Add(hangs); ; time.Sleep(time.Millisecond) {
		var state byte
		var err error
		if start, state, err = procStat(pid); err == nil && state == 'Z' {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it does not end")
		}
	}
	ended := map[int]uint64{pid: start - 1}
	if found := nodeProcesses("sb-none", "/none", ended); !found.missed || ended[pid] != start {
		t.Errorf("%+v; taken for the one before it: %v", found, ended)
	}
}

func TestNewProcessesAreSeen(t *testing.T) {
	var first, later atomic.Int32
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		for pause(ctx, 20*time.Millisecond) {
			c := exec.Command("true")
			if err := c.Start(); err != nil {
				t.Error(err)
				return
			}
			if !first.CompareAndSwap(0, int32(c.Process.Pid)) {
				later.Add(1)
			}
			_ = c.Wait()
		}
	})
	seen := map[int]bool{}
	for pid := range newborn(hangs) { // the later ones let it look again, until the first must have been seen
		seen[pid] = true
		if seen[int(first.Load())] || later.Load() > 50 {
			break
		}
	}
	stop()
	all.Wait()
	if pid := int(first.Load()); !seen[pid] {
		t.Errorf("%d is not among %d", pid, len(seen))
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
