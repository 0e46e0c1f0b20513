package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/template"
	"muster/jobs/remote"
	"muster/providers/fake"
)

// scripted is a provider whose machine is, at each moment, as scripted.
type scripted struct {
	family.Provider
	began time.Time
	now   func(since time.Duration) (family.Machine, error)
}

func (s scripted) Describe(ctx context.Context, _ string) (family.Machine, error) {
	if err := ctx.Err(); err != nil {
		return family.Machine{}, err
	}
	return s.now(time.Since(s.began))
}

// doors are Shells of machines that let in at one address only, or not at all.
type doors struct {
	Shells
	open string
	err  error
	mu   sync.Mutex
	seen []string
}

func (d *doors) Await(ctx context.Context, t remote.Target) (string, error) {
	d.mu.Lock()
	d.seen = append(d.seen, t.Address)
	d.mu.Unlock()
	if d.err != nil {
		return "", d.err
	}
	if t.Address == d.open {
		return "key", nil
	}
	<-ctx.Done()
	code := app.ECancelled
	if ctx.Err() == context.DeadlineExceeded {
		code = app.ETimeout
	}
	return "", &app.Error{Code: code, Message: "no one answered", Err: ctx.Err()}
}

type cloudOf struct{ p family.Provider }

func (c cloudOf) Provider(context.Context, template.ProviderSpec) (family.Provider, error) {
	return c.p, nil
}

func confirmer(p family.Provider, d *doors) *actions {
	return &actions{WorkerConfig: WorkerConfig{Providers: cloudOf{p}, Shells: d, Log: slog.New(slog.DiscardHandler)}}
}

func running(addresses ...string) family.Machine {
	m := family.Machine{ID: "m-1", State: family.MachineRunning, Addresses: map[string]string{}}
	for i, a := range addresses {
		if a != "" {
			m.Addresses[[]string{app.AddressAccess, app.AddressBind}[i]] = a
		}
	}
	return m
}

// A cloud may tell of the address by which a machine is reached later than it gave it, and it may give another one.
func TestConfirmWaitsForTheAccessAddress(t *testing.T) {
	const out, in, other = "203.0.113.7", "10.0.0.5", "203.0.113.8"
	for name, c := range map[string]struct {
		known  map[string]string
		now    func(time.Duration) family.Machine
		open   string
		within time.Duration
	}{
		"reported late": {now: func(d time.Duration) family.Machine {
			if d < 20*time.Second {
				return running("", in)
			}
			return running(out, in)
		}, open: out, within: 26 * time.Second},
		"known from creation, and reported late": {known: map[string]string{app.AddressAccess: out, app.AddressBind: in},
			now: func(time.Duration) family.Machine { return running("", in) }, open: out, within: time.Second},
		"another one while logging in": {now: func(d time.Duration) family.Machine {
			if d < 30*time.Second {
				return running(out, in)
			}
			return running(other, in)
		}, open: other, within: 45 * time.Second},
		"taken away while logging in": {known: map[string]string{app.AddressAccess: out, app.AddressBind: in}, now: func(d time.Duration) family.Machine {
			if d < 5*time.Second {
				return running("", in)
			}
			return running(other, in)
		}, open: other, within: 20 * time.Second},
		"never reported": {now: func(time.Duration) family.Machine { return running("", in) }, open: in, within: bindGrace + 10*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				d := &doors{open: c.open}
				w := confirmer(scripted{began: began, now: func(s time.Duration) (family.Machine, error) { return c.now(s), nil }}, d)
				as := &execution.Assignment{Action: app.ActionConfirm, Timeout: 10 * time.Minute, Tries: 1, Node: app.Node{Name: "n1", MachineID: "m-1", Addresses: c.known, Status: app.NodeCreated}}
				var r execution.Report
				ctx, cancel := context.WithTimeout(t.Context(), as.Timeout)
				defer cancel()
				if err := w.confirm(ctx, as, func(app.Stream, string) {}, &r); err != nil {
					t.Fatalf("%v after trying %v", err, d.seen)
				}
				if took := time.Since(began); took > c.within {
					t.Errorf("it took %s, want at most %s; tried %v", took, c.within, d.seen)
				}
				if got := (app.Node{Addresses: r.Machine.Addresses}).Address(app.AddressAccess); got != c.open {
					t.Errorf("the report says %v, want %s", r.Machine.Addresses, c.open)
				}
				if r.Machine.Addresses[app.AddressBind] != in {
					t.Errorf("the address among neighbors is lost: %v", r.Machine.Addresses)
				}
			})
		})
	}
}

// What is up after three seconds is noticed soon after, at the provider and at its SSH port, and what takes long is not asked about all the time.
func TestWaitReturnsSoon(t *testing.T) {
	for _, up := range []time.Duration{500 * time.Millisecond, 3 * time.Second, 40 * time.Second} {
		t.Run(up.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, calls := time.Now(), 0
				p := scripted{began: began, now: func(d time.Duration) (family.Machine, error) {
					if calls++; d < up {
						return family.Machine{ID: "m-1", State: family.MachineStarting}, nil
					}
					return running("203.0.113.7"), nil
				}}
				if _, err := awaitAddress(t.Context(), p, &execution.Assignment{Node: app.Node{MachineID: "m-1"}}, newProgress(func(app.Stream, string) {})); err != nil {
					t.Fatal(err)
				}
				if late := time.Since(began) - up; late > max(up/3, 300*time.Millisecond) || calls > 30 {
					t.Errorf("the provider was asked %d times, and the machine noticed %s late", calls, late)
				}

				// A packet to a machine that is not up is lost: a dial that began too early hangs.
				key, _, err := remote.Keys{}.NewKey("test")
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				began = time.Now()
				var noticed time.Duration
				_, err = remote.Wait(ctx, remote.Target{Address: "203.0.113.7", PrivateKey: key, Guard: func(dial context.Context, _, _ string) (net.Conn, error) {
					if since := time.Since(began); since >= up {
						noticed = since - up
						cancel()
					}
					<-dial.Done()
					return nil, dial.Err()
				}})
				if app.CodeOf(err) != app.ECancelled || noticed > max(up, time.Second) || noticed > 18*time.Second {
					t.Errorf("%v; its SSH port was tried again %s after it was up", err, noticed)
				}
			})
		})
	}
}

// A machine that its provider does not know any more is noticed within seconds, before it has an address and while logging in; one that was created
// just now, or that the
// provider fails to know once, is not taken for deleted.
func TestAwaitAddressOfADeletedMachine(t *testing.T) {
	none := app.Errorf(app.ENotFound, "there is none")
	for name, c := range map[string]struct {
		now    func(time.Duration) (family.Machine, error)
		gone   bool
		within time.Duration
	}{
		"while it starts": {func(d time.Duration) (family.Machine, error) {
			if d < 10*time.Second {
				return family.Machine{ID: "m-1", State: family.MachineStarting}, nil
			}
			return family.Machine{}, none
		}, true, 20 * time.Second},
		"while logging in": {func(d time.Duration) (family.Machine, error) {
			if d < time.Minute {
				return running("203.0.113.7"), nil
			}
			return family.Machine{}, none
		}, true, 80 * time.Second},
		"stopped while logging in": {func(d time.Duration) (family.Machine, error) {
			m := running("203.0.113.7")
			if d > time.Minute {
				m.State = family.MachineStopped
			}
			return m, nil
		}, true, 80 * time.Second},
		"never known": {func(time.Duration) (family.Machine, error) { return family.Machine{}, none }, true, absentGrace + 10*time.Second},
		"not known yet": {func(d time.Duration) (family.Machine, error) {
			if d < 15*time.Second {
				return family.Machine{}, none
			}
			return running("10.0.0.9"), nil
		}, false, 30 * time.Second},
		"unknown once in a while": {func(d time.Duration) (family.Machine, error) {
			if d < 40*time.Second && int(d.Seconds())%10 == 5 {
				return family.Machine{}, none
			}
			if d < 40*time.Second {
				return family.Machine{ID: "m-1", State: family.MachineStarting}, nil
			}
			return running("10.0.0.9"), nil
		}, false, time.Minute},
		"a provider that fails": {func(d time.Duration) (family.Machine, error) {
			if d < 50*time.Second {
				return family.Machine{}, app.Errorf(app.ETransient, "not now")
			}
			return running("10.0.0.9"), nil
		}, false, 65 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				w := confirmer(scripted{began: began, now: c.now}, &doors{open: "10.0.0.9"})
				as := &execution.Assignment{Action: app.ActionConfirm, Timeout: 10 * time.Minute, Node: app.Node{Name: "n1", MachineID: "m-1", Status: app.NodeReady}}
				ctx, cancel := context.WithTimeout(t.Context(), as.Timeout)
				defer cancel()
				err := w.confirm(ctx, as, func(app.Stream, string) {}, &execution.Report{})
				if gone := app.CodeOf(err) == app.ENotFound; gone != c.gone || !gone && err != nil || time.Since(began) > c.within {
					t.Errorf("after %s: %v", time.Since(began), err)
				}
			})
		})
	}
}

// ledgerOf carries a confirm out as the server has it carried out: attempt after attempt, until it is done or is not tried again.
type ledgerOf struct {
	cloud    *fake.Cloud
	doors    *doors
	node     app.Node
	pool     *execution.FromPool
	seen     map[string]bool // machines, and whether they are known to be gone
	attempts int
	replaced []string // on record
	lines    []string
}

func newLedger(t *testing.T, d *doors) *ledgerOf {
	l := &ledgerOf{cloud: fake.New("cloud"), doors: d, seen: map[string]bool{}}
	m, err := l.cloud.Create(t.Context(), l.spec())
	if err != nil {
		t.Fatal(err)
	}
	l.node = app.Node{Name: "n1", Hostname: "n1.test", MachineID: m.ID, Addresses: m.Addresses, Status: app.NodeCreated}
	l.seen[m.ID] = false
	return l
}

func (l *ledgerOf) spec() family.MachineSpec {
	return family.MachineSpec{Intent: "i1", Hostname: "n1.test", Tags: map[string]string{family.TagInstallation: "test", family.TagIntent: "i1", family.TagNode: "n1"}}
}

// attempt is one, which may be cut off after so long as where its worker is killed: nothing is reported then.
func (l *ledgerOf) attempt(t *testing.T, killed time.Duration) (done bool, err error) {
	l.attempts++
	as := &execution.Assignment{Action: app.ActionConfirm, Timeout: 10 * time.Minute, Tries: l.attempts, Node: l.node, Machine: l.spec(), FromPool: l.pool, StepID: "n1.confirm", Replacements: l.replaced}
	as.Node.Addresses = maps.Clone(l.node.Addresses)
	limit := as.Timeout
	if killed > 0 {
		limit = killed
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	r := execution.Report{Action: app.ActionConfirm}
	w := confirmer(l.cloud, l.doors)
	w.ctx = t.Context()
	e := w.failure(ctx, as, w.confirm(ctx, as, func(_ app.Stream, s string) { l.lines = append(l.lines, s) }, &r))
	if killed > 0 && ctx.Err() != nil {
		return false, nil
	}
	for _, s := range r.Seen {
		if _, known := l.seen[s.ID]; !known {
			l.replaced = append(l.replaced, s.ID)
		}
		l.seen[s.ID] = l.seen[s.ID] || s.Deleted
	}
	if e == nil {
		l.node.MachineID, l.node.Addresses, l.node.Status = r.Machine.ID, r.Machine.Addresses, app.NodeReady
		return true, nil
	}
	retry := retryOf(e, as)
	time.Sleep(retry.After)
	return !retry.Again, e
}

func (l *ledgerOf) machines() (ids []string) {
	for _, m := range l.cloud.Machines() {
		ids = append(ids, m.ID)
	}
	return ids
}

// A new machine that does not come up is deleted, and another is created in its place: at most three in all. None is ever left behind, and each is on record.
func TestUnconfirmedMachineIsReplaced(t *testing.T) {
	refused := &app.Error{Code: app.ECredentials, Reason: "auth_refused", Message: "The machine refused the key of user root."}
	for name, c := range map[string]struct {
		doors   *doors
		arrange func(l *ledgerOf)
		created int
		code    app.Code // of the last error; "" for none
	}{
		"the second one comes up":       {doors: &doors{open: "10.200.0.3"}, created: 2},
		"the third one comes up":        {doors: &doors{open: "10.200.0.4"}, created: 3},
		"none comes up":                 {doors: &doors{}, created: 3, code: app.ETimeout},
		"it is deleted by someone else": {doors: &doors{open: "10.200.0.3"}, arrange: func(l *ledgerOf) { l.cloud.Vanish(l.node.MachineID) }, created: 2},
		"it stops":                      {doors: &doors{open: "10.200.0.3"}, arrange: func(l *ledgerOf) { l.cloud.Stop(l.node.MachineID) }, created: 2},
		"it never runs":                 {doors: &doors{}, arrange: func(l *ledgerOf) { l.cloud.SetBoot(time.Hour) }, created: 3, code: app.ETimeout},
		"the key is refused each time":  {doors: &doors{err: refused}, created: 2, code: app.ECredentials},
		"another host key":              {doors: &doors{err: &app.Error{Code: app.EHostKey, Message: "another key"}}, created: 1, code: app.EHostKey},
		"one that was a node before":    {doors: &doors{}, arrange: func(l *ledgerOf) { l.node.Status = app.NodeReady }, created: 1, code: app.ETimeout},
		"one from a pool":               {doors: &doors{}, arrange: func(l *ledgerOf) { l.pool = &execution.FromPool{Pool: "warm"} }, created: 1, code: app.ETimeout},
		"the provider cannot be asked": {doors: &doors{}, arrange: func(l *ledgerOf) {
			l.cloud.Order(fake.Describe, fake.Outcome{Err: app.Errorf(app.ETransient, "not now"), Times: -1})
		}, created: 1, code: app.ETimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLedger(t, c.doors)
				if c.arrange != nil {
					c.arrange(l)
				}
				var err error
				for done := false; !done && l.attempts < 20; {
					done, err = l.attempt(t, 0)
				}
				if (err != nil) != (c.code != "") || err != nil && app.CodeOf(err) != c.code {
					t.Errorf("it ended with %v", err)
				}
				if n := l.cloud.Count(fake.Create); n != c.created {
					t.Errorf("%d machines were created, want %d; log:\n%s", n, c.created, strings.Join(l.lines, "\n"))
				}
				left := l.machines()
				if len(left) != 1 {
					t.Errorf("machines %v are left, want one", left)
				}
				for id, gone := range l.seen {
					if gone == slices.Contains(left, id) {
						t.Errorf("of %s it is on record that it is gone: %v; left are %v", id, gone, left)
					}
				}
				if len(l.seen) != c.created {
					t.Errorf("%d machines are on record, want %d", len(l.seen), c.created)
				}
				if c.code == "" && l.node.MachineID != left[0] {
					t.Errorf("the node has machine %s, there is %v", l.node.MachineID, left)
				}
			})
		})
	}
	for killed := 7*time.Minute + 50*time.Second; killed < 8*time.Minute+10*time.Second; killed += 500 * time.Millisecond {
		t.Run("killed after "+killed.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLedger(t, &doors{open: "10.200.0.3"})
				for _, v := range []fake.Verb{fake.Create, fake.List, fake.Delete} {
					l.cloud.SetDelay(v, time.Second)
				}
				if _, err := l.attempt(t, killed); err != nil {
					t.Log(err)
				}
				_, _ = l.attempt(t, 2*time.Second+killed%time.Second) // and its successor soon after it has begun
				for done, err := false, error(nil); !done; {          //nolint:wastedassign // declares it for the loop
					if done, err = l.attempt(t, 0); done && err != nil {
						t.Fatal(err)
					}
				}
				if left := l.machines(); len(left) != 1 || left[0] != l.node.MachineID || left[0] != "fake-2" {
					t.Errorf("there are %v, the node has %s, want one other than the first", left, l.node.MachineID)
				}
			})
		})
	}
}

func TestProgressIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		p := newProgress(func(_ app.Stream, s string) { lines = append(lines, s) })
		for try := 1; try <= 6000; try++ { // ten minutes
			p.say("SSH on root@10.0.0.5:22", try, strings.Repeat("connection refused ", 100))
			time.Sleep(100 * time.Millisecond)
		}
		if len(lines) < 8 || len(lines) > 20 || len(lines[0]) > 500 {
			t.Errorf("%d lines, of %d bytes", len(lines), len(lines[0]))
		}
		if want := "Waiting for SSH on root@10.0.0.5:22 (attempt 11, 1 s so far): connection refused"; !strings.HasPrefix(lines[0], want) {
			t.Error(lines[0])
		}
		n := len(lines)
		for try := range 100 {
			p.say("SSH", try, fmt.Sprint("something else ", try))
		}
		if len(lines) > n+1 {
			t.Errorf("%d lines at once", len(lines)-n)
		}
	})
}
