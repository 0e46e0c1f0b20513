package catalog

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"muster/app/family"
)

// slowCloud creates a machine some time after its create was given up.
type slowCloud struct {
	family.Provider
	at      time.Time
	deleted int
}

func (c *slowCloud) List(context.Context, map[string]string) ([]family.Machine, error) {
	if time.Now().Before(c.at) || c.deleted > 0 {
		return nil, nil
	}
	return []family.Machine{{ID: "m1"}}, nil
}

func (c *slowCloud) Delete(context.Context, string) error { c.deleted++; return nil }

func (c *slowCloud) ListsLate() time.Duration { return 5 * time.Second }

func TestProofDeletesMachineThatComesLate(t *testing.T) {
	for after, want := range map[time.Duration]int{0: 1, 12 * time.Second: 1, time.Hour: 0} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			c := &slowCloud{at: began.Add(after)}
			if err := sweepLate(t.Context(), c); err != nil || c.deleted != want {
				t.Errorf("after %s: %d deleted, %v", after, c.deleted, err)
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("after %s: it took %s", after, took)
			}
		})
	}
}
