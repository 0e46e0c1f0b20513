package jobs_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"muster/app/template"
	"muster/jobs/budget"
	"muster/jobs/queue"
)

// TestBudgetOverTime has several processes take turns as fast as they get them, by the clock of the Redis at hand, and
// loses what is in Redis in the middle.
func TestBudgetOverTime(t *testing.T) {
	url := redisForTest(t)
	o, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(o)
	defer client.Close()
	rate := template.Rate{PerSecond: 200, Burst: 20}
	const processes, callers, calls = 4, 4, 12
	var mu sync.Mutex
	var at []time.Duration
	var wg sync.WaitGroup
	began := time.Now()
	for range processes {
		q, err := queue.Open(url, "i")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = q.Close() })
		b := budget.New(q, quiet(t))
		for range callers {
			wg.Go(func() {
				for range calls {
					if err := b.Take(t.Context(), "a", rate); err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					if at = append(at, time.Since(began)); len(at) == processes*callers*calls/2 {
						if err := client.FlushAll(t.Context()).Err(); err != nil {
							t.Error(err)
						}
					}
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
	slices.Sort(at)
	for i, d := range at {
		// Every caller may have had its turn reserved when the bucket was lost.
		if most := rate.PerSecond*d.Seconds() + float64(rate.Burst); float64(i+1-processes*callers) > most || i < len(at)/2 && float64(i+1) > most {
			t.Fatalf("%d calls after %s, at most %.1f are allowed", i+1, d, most)
		}
	}
	ideal := time.Duration(float64(len(at)) / rate.PerSecond * float64(time.Second))
	t.Logf("%d calls in %s (ideal %s)", len(at), at[len(at)-1], ideal)
}
