package jobs_test

import (
	"context"
	"testing"
	"time"

	"muster/jobs/reconcile"
	"muster/providers/fake"
)

// TestUnusedAccountsAreNotCalled: a provider that was only put into the catalog costs no call. From its first machine on, it is checked.
func TestUnusedAccountsAreNotCalled(t *testing.T) {
	e := newEngine(t, nil)
	asked := make(chan bool, 1000)
	stop := e.reconciler(func(r *reconcile.Reconciler) {
		r.Used = func(ctx context.Context, account string) (bool, error) {
			used, err := e.store.AccountUsed(ctx, account)
			select {
			case asked <- used:
			default:
			}
			return used, err
		}
	})
	defer stop()
	for range 3 { // rounds in which it would have been due
		select {
		case used := <-asked:
			if used {
				t.Fatal("an account without any cluster counts as used")
			}
		case <-time.After(hangs):
			t.Fatal("the reconciler looks at nothing")
		}
	}
	if n := e.cloud.Count(fake.List) + e.cloud.Count(fake.Describe); n != 0 {
		t.Errorf("the account was asked %d times", n)
	}
	e.await(e.create(2).ID)
	e.passes(1)
	for tenant, want := range map[string]bool{"cloud": true, "other/cloud": false, "elsewhere": false} {
		if used, err := e.store.AccountUsed(e.ctx, tenant); err != nil || used != want {
			t.Errorf("%s is used: %v, %v; want %v", tenant, used, err, want)
		}
	}
}
