package main

import (
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"muster/app"
	"muster/app/template"
	"muster/jobs/budget"
	"muster/jobs/queue"
	"muster/providers"
	"muster/providers/fake"
)

// TestProcessesShareAnAccountsRate goes through the guard: several processes that ask as fast as they may take as long as one of them would.
// A busy host makes that longer, never shorter.
func TestProcessesShareAnAccountsRate(t *testing.T) {
	t.Parallel()
	r := miniredis.RunT(t)
	t.Cleanup(func() { fake.Forget(t.Name()) })
	cloud := fake.Named(t.Name())
	var wg sync.WaitGroup
	const processes, callers, calls, rate, burst = 4, 4, 5, 50, 5
	began := time.Now()
	for i := range processes {
		q, err := queue.Open("redis://"+r.Addr(), "i")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = q.Close() })
		b := budget.New(q, slog.New(slog.DiscardHandler))
		spec := template.ProviderSpec{About: template.About{Name: "c"}, Type: "fake", Rate: template.Rate{PerSecond: rate, Burst: burst},
			Settings: map[string]any{"account": t.Name()}}
		p, err := providers.Open(t.Context(), spec, providers.Env{Installation: "i", Budget: b})
		if err != nil {
			t.Fatal(err)
		}
		for range callers {
			wg.Go(func() {
				for k := range calls {
					for { // a host that is very busy lets a call miss its turn
						_, err := p.Describe(t.Context(), fmt.Sprint(i, k))
						if e := app.AsError(err); e.Code == app.ERateLimit {
							time.Sleep(e.RetryAfter)
							continue
						} else if e.Code != app.ENotFound {
							t.Errorf("asked in turn: %v", err)
						}
						break
					}
				}
			})
		}
	}
	wg.Wait()
	asked := cloud.Count(fake.Describe)
	if asked != processes*callers*calls {
		t.Errorf("%d calls arrived, of %d", asked, processes*callers*calls)
	}
	// By itself each process would have the whole rate, and all of them be done four times as fast. Half as fast again is let pass: while
	// Redis doesn't answer in time, a process keeps to a quarter of the rate of its own.
	if took, least := time.Since(began), time.Duration(asked-burst)*time.Second/(rate*3/2); took < least {
		t.Errorf("%d calls took %s, want at least %s", asked, took, least)
	}
}
