package main

import (
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"muster/app"
	"muster/jobs"
	"muster/providers"
	"muster/providers/fake"
)

// TestACloudWithALimitRefusesNothing goes through the guard: several processes ask a cloud that itself refuses more than its
// limit, and the budget sees to it that it never has to.
func TestACloudWithALimitRefusesNothing(t *testing.T) {
	t.Parallel()
	r := miniredis.RunT(t)
	t.Cleanup(func() { fake.Forget(t.Name()) })
	cloud := fake.Named(t.Name())
	var wg sync.WaitGroup
	const rate, burst = 50, 5
	cloud.SetRate(rate, 3*burst) // calls that had their turn may be held up a little, and then arrive together
	for i := range 4 {
		q, err := jobs.OpenQueue("redis://"+r.Addr(), "i")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = q.Close() })
		b := jobs.NewBudget(q, slog.New(slog.DiscardHandler))
		spec := app.ProviderSpec{About: app.About{Name: "c"}, Type: "fake", Rate: app.Rate{PerSecond: rate, Burst: burst},
			Settings: map[string]any{"account": t.Name()}}
		p, err := providers.Open(t.Context(), spec, providers.Env{Installation: "i", Budget: b})
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			wg.Go(func() {
				for k := range 5 {
					if _, err := p.Describe(t.Context(), fmt.Sprint(i, k)); app.AsError(err).Code != app.ENotFound {
						t.Errorf("asked in turn: %v", err)
					}
				}
			})
		}
	}
	wg.Wait()
	if n := cloud.Refused(); n > 0 {
		t.Errorf("the cloud had to refuse %d calls", n)
	}
	if asked := cloud.Count(fake.Describe); asked != 4*4*5 {
		t.Errorf("%d calls arrived, of %d", asked, 4*4*5)
	}
}
