package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"time"
)

// measured is what one act costs.
type measured struct {
	times  []float64 // in milliseconds
	memory uint64    // bytes: no more than this was held at once
}

// The fewest and the most runs that make a median.
const (
	fewest = 3
	most   = 201
)

// measure runs an act until the time is over, at least a few times.
func measure(budget time.Duration, act func() error) (measured, error) {
	start := time.Now()
	held, err := memory(act) // also warms up
	if first := time.Since(start); err != nil || first > 3*budget {
		return measured{times: []float64{milliseconds(first)}, memory: held}, err
	}
	var times []float64
	for end := time.Now().Add(budget); len(times) < fewest || len(times) < most && time.Now().Before(end); {
		start := time.Now()
		err := act()
		times = append(times, milliseconds(time.Since(start)))
		if err != nil {
			return measured{}, err
		}
	}
	return measured{times: times, memory: held}, nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// plenty is how much an act may allocate in all before it is watched how much of that is held at once.
const plenty = 16 << 20

// memory bounds what an act holds at once: by all that it allocates or, where that is plenty, by watching the heap while
// the collector works hard.
func memory(act func() error) (uint64, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	err := act()
	runtime.ReadMemStats(&after)
	allocated := after.TotalAlloc - before.TotalAlloc
	if err != nil || allocated <= plenty {
		return allocated, err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	runtime.GC()
	peak := watchHeap()
	err = act()
	return min(allocated, peak()), err
}

// watchHeap looks at the heap every millisecond. What it returns ends that, and returns by how much the heap grew at most.
func watchHeap() func() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	look := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	base := look()
	top := base
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				top = max(top, look())
			}
		}
	})
	return func() uint64 {
		close(done)
		wg.Wait()
		return max(top, look()) - base
	}
}

var sink uint64 //nolint:unused // keeps the compiler from leaving the work out

// plainWork is a fixed piece of plain Go work: fill a map, sort, walk. It allocates little and uses one core.
func plainWork() {
	const n = 100_000
	x := uint64(88172645463325252)
	values := make([]uint64, n)
	counts := make(map[uint64]uint64, 1024)
	for i := range values {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		values[i] = x
		counts[x%1021]++
	}
	slices.Sort(values)
	for i, v := range values {
		sink += v * counts[uint64(i)%1021]
	}
}
