package cluster

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
)

// TestPreviewsAskAccountsSparingly: an account has one question at a time, of those that wait the latest, and its answers are kept for a while;
// no one waits long, and
// an answer to one tenant is none to another.
func TestPreviewsAskAccountsSparingly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			f        preflights
			asked    []string
			at, most atomic.Int32
			takes    = 2 * time.Second
			wrong    []family.Finding
			broken   error
		)
		ask := func(tenant, account, key string) (AccountAnswer, []family.Finding, time.Duration) {
			begun := time.Now()
			a, found := f.ask(t.Context(), time.Now, tenant, tenant+account, tenant+account+key, func(ctx context.Context) ([]family.Finding, error) {
				asked = append(asked, tenant+account+key)
				if n := at.Add(1); n > most.Load() {
					most.Store(n)
				}
				defer at.Add(-1)
				select {
				case <-time.After(takes):
				case <-ctx.Done():
					return nil, ctx.Err()
				}
				return wrong, broken
			})
			return a, found, time.Since(begun)
		}
		// Someone types sizes, faster than the account answers.
		for _, size := range []string{"1", "2", "3", "4"} {
			if a, _, waited := ask("a", "x", size); a.State != AccountChecking || waited != preflightWait {
				t.Errorf("size %s: %s after %v", size, a.State, waited)
			}
		}
		time.Sleep(10 * time.Second)
		if len(asked) != 2 || asked[0] != "ax1" || asked[1] != "ax4" || most.Load() != 1 {
			t.Errorf("asked %q, %d at once; only the first and the latest are of use", asked, most.Load())
		}
		if a, _, waited := ask("a", "x", "4"); a.State != AccountChecked || waited != 0 || a.At.IsZero() {
			t.Errorf("the answer that came: %+v after %v", a, waited)
		}
		// Another tenant doesn't learn this one's answer.
		if a, _, _ := ask("b", "x", "4"); a.State != AccountChecking {
			t.Errorf("another tenant: %+v", a)
		}
		time.Sleep(10 * time.Second)
		// Wrong answers are kept for a short while only, right ones for longer.
		takes, wrong = 100*time.Millisecond, []family.Finding{{About: family.AboutQuota, Code: app.EQuota, Message: "Too many."}}
		if a, found, _ := ask("a", "x", "5"); a.State != AccountChecked || len(found) != 1 {
			t.Errorf("within the wait: %+v, %v", a, found)
		}
		wrong = nil
		time.Sleep(preflightBad)
		if _, found, _ := ask("a", "x", "5"); len(found) != 0 {
			t.Errorf("after it was fixed: %v", found)
		}
		n := len(asked)
		time.Sleep(preflightGood - time.Second)
		if ask("a", "x", "5"); len(asked) != n {
			t.Error("a good answer is asked for again within its time")
		}
		time.Sleep(2 * time.Second)
		if ask("a", "x", "5"); len(asked) != n+1 {
			t.Error("a good answer is kept forever")
		}
		// Who goes away does not take the question along.
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if a, _ := f.ask(gone, time.Now, "a", "ax", "ax6", func(context.Context) ([]family.Finding, error) { return wrong, nil }); a.State != AccountChecking {
			t.Errorf("gone: %+v", a)
		}
		synctest.Wait()
		if a, _, waited := ask("a", "x", "6"); a.State != AccountChecked || waited != 0 {
			t.Errorf("after it: %+v", a)
		}
		// A tenant with many accounts that hang does not take the turns of others, and none hangs forever.
		takes = time.Hour
		for i := range mostAskingOf {
			ask("a", strconv.Itoa(i), "")
		}
		if a, _, waited := ask("a", "one more", ""); a.State != AccountUnknown || waited != 0 {
			t.Errorf("one account too many: %+v", a)
		}
		takes = 0
		if a, _, _ := ask("b", "y", ""); a.State != AccountChecked {
			t.Errorf("another tenant meanwhile: %+v", a)
		}
		time.Sleep(preflightLimit)
		synctest.Wait()
		if a, _, _ := ask("a", "0", ""); a.State != AccountUnknown {
			t.Errorf("an account that hangs: %+v", a)
		}
		broken = errors.New("no such host")
		if a, found, _ := ask("c", "z", ""); a.State != AccountUnknown || len(found) != 0 {
			t.Errorf("an account that cannot be asked: %+v, %v", a, found)
		}
		// What is kept has a bound.
		broken = nil
		for i := range 2 * mostPreflights {
			ask("d", "z", strconv.Itoa(i))
		}
		if len(f.kept) > mostPreflights || len(f.turns) != 0 {
			t.Errorf("%d answers and %d turns are kept", len(f.kept), len(f.turns))
		}
	})
}

func TestWhichAccountFindingsAreProblems(t *testing.T) {
	for _, c := range []struct {
		name  string
		f     family.Finding
		want  int
		state AccountState
		warns bool
	}{
		{"all is well", family.Finding{OK: true}, 0, AccountChecked, false},
		{"no such flavor", family.Finding{About: family.AboutFlavor, Code: app.EInvalid}, 1, AccountChecked, false},
		{"credentials", family.Finding{About: family.AboutCredentials, Code: app.ECredentials}, 1, AccountChecked, false},
		{"no room in a zone", family.Finding{About: family.AboutFlavor, Code: app.ECapacity}, 1, AccountChecked, true},
		{"nearly no quota", family.Finding{About: family.AboutQuota, Warning: true}, 1, AccountChecked, true},
		{"a permission that cannot be looked up", family.Finding{About: family.AboutPermissions, Warning: true}, 0, AccountChecked, false},
		{"a cloud that does not answer", family.Finding{About: family.AboutCredentials, Code: app.ETransient}, 0, AccountUnknown, false},
	} {
		a := judgeAccount([]family.Finding{c.f}, nil)
		if len(a.problems) != c.want || a.state != c.state || c.want > 0 && a.problems[0].Warning != c.warns {
			t.Errorf("%s: %+v", c.name, a)
		}
	}
}

// TestPreflightKeysHoldNoSecrets, and tell apart what must not share an answer.
func TestPreflightKeysHoldNoSecrets(t *testing.T) {
	spec := template.ProviderSpec{About: template.About{Name: "cloud"}, Type: "t", Settings: map[string]any{"token": "sesame"}}
	needs := family.AccountNeeds{Machines: []family.MachineNeed{{Count: 1}}}
	seen := map[string]bool{}
	for _, tenant := range []string{"a", "b"} {
		for _, token := range []string{"sesame", "open"} {
			for _, count := range []int{1, 2} {
				spec.Settings, needs.Machines[0].Count = map[string]any{"token": token}, count
				account, question := preflightKeys(tenant, spec, needs)
				if again, _ := preflightKeys(tenant, spec, needs); again != account || seen[question] {
					t.Errorf("%q is not for this question alone", question)
				}
				seen[question] = true
				for _, secret := range []string{"sesame", "open"} {
					if strings.Contains(question, secret) {
						t.Errorf("%q holds a secret", question)
					}
				}
			}
		}
	}
}
