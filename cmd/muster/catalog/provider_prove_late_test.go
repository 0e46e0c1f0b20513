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

// slowCloudWithFirewalls has a firewall of an earlier proof.
type slowCloudWithFirewalls struct {
	slowCloud
	shared []family.SharedThing
}

func (c *slowCloudWithFirewalls) Shared(context.Context, map[string]string) ([]family.SharedThing, error) {
	return c.shared, nil
}

func (c *slowCloudWithFirewalls) DeleteShared(context.Context, string) error {
	c.shared = nil
	return nil
}

// A proof that was killed in its create leaves a firewall, and its machine may come after the next proof has begun.
func TestProofWaitsForTheMachineOfAKilledOne(t *testing.T) {
	firewall := []family.SharedThing{{ID: "firewall/1"}}
	for _, c := range []struct {
		after   time.Duration
		shared  []family.SharedThing
		deleted int
		waits   bool
	}{{12 * time.Second, firewall, 1, true}, {time.Hour, firewall, 0, true}, {0, firewall, 1, false}, {12 * time.Second, nil, 0, false}} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			cloud := &slowCloudWithFirewalls{slowCloud{at: began.Add(c.after)}, c.shared}
			if err := sweepEarlier(t.Context(), cloud); err != nil || cloud.deleted != c.deleted || cloud.shared != nil {
				t.Errorf("after %s: %d deleted, %v left, %v", c.after, cloud.deleted, cloud.shared, err)
			}
			if waited := time.Since(began) > 0; waited != c.waits {
				t.Errorf("after %s with %v: waited %s", c.after, c.shared, time.Since(began))
			}
		})
	}
}

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
