package remote_test

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

// waiting opens so many connections to a server in another process, runs a command on each that does not end, and returns how
// many bytes, goroutines and threads that takes here.
func waiting(t testing.TB, n int) (heap, resident float64, goroutines, threads int) {
	target := remotetest.Quiet(t)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	heapBefore, residentBefore, _ := inUse(t)
	routines := runtime.NumGoroutine()

	conns, dials := make([]*remote.Conn, n), make(chan struct{}, 64)
	for i := range conns {
		dials <- struct{}{}
		all.Go(func() {
			defer func() { <-dials }()
			c, err := remote.Wait(ctx, target)
			if err != nil {
				t.Error(err)
				return
			}
			conns[i] = c
		})
	}
	all.Wait()
	defer func() {
		for _, c := range conns {
			if c != nil {
				_ = c.Close()
			}
		}
	}()
	if t.Failed() {
		t.FailNow()
	}
	said := make(chan struct{}, n)
	script := strings.Repeat("echo a line of a script\n", 100)
	for i, c := range conns {
		all.Go(func() {
			sh := remote.Under(c, remote.Claim{Place: "n" + strconv.Itoa(i), Epoch: 1})
			// What it says is that it has begun.
			_, _ = sh.Run(ctx, family.Command{Line: "wait forever", Stdin: strings.NewReader(script), Once: true}, func(app.Stream, string) { said <- struct{}{} })
		})
	}
	for range n {
		<-said
	}
	heapAfter, residentAfter, threads := inUse(t)
	return (heapAfter - heapBefore) / float64(n), (residentAfter - residentBefore) / float64(n), (runtime.NumGoroutine() - routines) / n, threads
}

// inUse returns the bytes of heap and stacks, those that the kernel counts, and the threads of this process.
func inUse(t testing.TB) (heap, resident float64, threads int) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return float64(m.HeapAlloc + m.StackInuse), 0, 0
	}
	for line := range strings.Lines(string(status)) {
		key, value, _ := strings.Cut(line, ":")
		words := strings.Fields(value)
		switch key {
		case "VmRSS":
			kb, err := strconv.Atoi(words[0])
			if err != nil {
				t.Fatal(err)
			}
			resident = float64(kb) * 1024
		case "Threads":
			threads, _ = strconv.Atoi(words[0])
		}
	}
	return float64(m.HeapAlloc + m.StackInuse), resident, threads
}

// Thousands of commands may wait at the same time: a connection with one needs little, and no thread.
func TestIdleConnectionsUseLittleMemory(t *testing.T) {
	heap, _, goroutines, threads := waiting(t, 200)
	t.Logf("%.0f bytes and %d goroutines each, %d threads in all", heap, goroutines, threads)
	if heap > 100<<10 {
		t.Errorf("a connection with a command that waits takes %.0f bytes, want at most 100 KiB", heap)
	}
	if threads > 100 {
		t.Errorf("%d threads for 200 commands", threads)
	}
}

// BenchmarkWaiting has five thousand commands wait, in a process of its own where it is run alone:
//
//	go test ./jobs/remote -run xxx -bench Waiting -benchtime 1x
func BenchmarkWaiting(b *testing.B) {
	for range b.N {
		heap, resident, goroutines, threads := waiting(b, 5000)
		b.ReportMetric(heap, "heap-B/command")
		b.ReportMetric(resident, "resident-B/command")
		b.ReportMetric(resident*5000/(1<<20), "MiB/5000")
		b.ReportMetric(float64(goroutines), "goroutines/command")
		b.ReportMetric(float64(threads), "threads")
	}
}
