package fake_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"muster/app"
	"muster/app/family"
	"muster/providers/fake"
	"muster/providers/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFakePassesTheSuite(t *testing.T) {
	open := func(t *testing.T) family.Provider { return fake.Named(t.Name()) }
	var last family.Provider
	providertest.Run(t, providertest.Harness{
		Judge: "in memory",
		Open: func(t *testing.T) family.Provider {
			fake.Forget(t.Name())
			last = open(t)
			t.Cleanup(func() { fake.Forget(t.Name()) })
			return last
		},
		Reopen: open,
		Vanish: func(_ *testing.T, id string) { last.(*fake.Cloud).Vanish(id) },
		Flavor: "small",
		Image:  "host",
		Zone:   "a",
		Late: func(t *testing.T) providertest.Late {
			const lag = 100 * time.Millisecond
			fake.Forget(t.Name())
			t.Cleanup(func() { fake.Forget(t.Name()) })
			fake.Named(t.Name()).SetListLag(lag)
			return providertest.Late{Lag: lag, Open: func() family.Provider { return open(t) }}
		},
		Refuses: map[string]func(*family.MachineSpec){
			"an unknown flavor": func(s *family.MachineSpec) { s.Flavor.Flavor = "unknown" },
			"a broken host key": func(s *family.MachineSpec) { s.HostKey = []byte("not a key") },
		},
	})
}

func spec(t *testing.T, intent string) family.MachineSpec {
	s, _ := providertest.Harness{Flavor: "small", Image: "host"}.Spec(t, intent)
	return s
}

func TestOrders(t *testing.T) {
	busy := app.Errorf(app.ETransient, "busy")

	t.Run("a failed call has no effect", func(t *testing.T) {
		c := fake.New("c")
		c.Fail(fake.Create, busy)
		if _, err := c.Create(t.Context(), spec(t, "a")); !errors.Is(err, busy) {
			t.Fatalf("error %v", err)
		}
		if n := len(c.Machines()); n != 0 {
			t.Fatalf("%d machines", n)
		}
		if _, err := c.Create(t.Context(), spec(t, "a")); err != nil {
			t.Fatalf("the order was for one call: %v", err)
		}
	})
	t.Run("a lost reply has its effect", func(t *testing.T) {
		c := fake.New("c")
		c.LoseReply(fake.Create, busy)
		if _, err := c.Create(t.Context(), spec(t, "a")); !errors.Is(err, busy) {
			t.Fatalf("error %v", err)
		}
		found, err := c.List(t.Context(), map[string]string{family.TagIntent: "a"})
		if err != nil || len(found) != 1 {
			t.Fatalf("found %v, %v", found, err)
		}
		c.LoseReply(fake.Delete, busy)
		if err := c.Delete(t.Context(), found[0].ID); !errors.Is(err, busy) || len(c.Machines()) != 0 {
			t.Fatalf("delete: %v, %v", err, c.Machines())
		}
	})
	t.Run("orders for one node leave the others alone", func(t *testing.T) {
		c := fake.New("c")
		c.Order(fake.Create, fake.Outcome{Err: busy, Node: "b", Times: -1})
		if _, err := c.Create(t.Context(), spec(t, "a")); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := c.Create(t.Context(), spec(t, "b")); !errors.Is(err, busy) {
				t.Fatalf("error %v", err)
			}
		}
		if n := c.Count(fake.Create); n != 4 {
			t.Errorf("%d creates counted", n)
		}
	})
	t.Run("a hanging call ends with its context", func(t *testing.T) {
		// In a bubble the time is over only when the call hangs, however busy the machine is.
		synctest.Test(t, func(t *testing.T) {
			c := fake.New("c")
			c.Order(fake.Create, fake.Outcome{Hangs: true}, fake.Outcome{Hangs: true, Happens: true})
			for _, want := range []int{0, 1} {
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				_, err := c.Create(ctx, spec(t, "a"))
				cancel()
				if !errors.Is(err, context.DeadlineExceeded) || len(c.Machines()) != want {
					t.Fatalf("error %v, machines %v", err, c.Machines())
				}
			}
		})
	})
	t.Run("quota", func(t *testing.T) {
		c := fake.New("c")
		c.SetQuota(1)
		if _, err := c.Create(t.Context(), spec(t, "a")); err != nil {
			t.Fatal(err)
		}
		_, err := c.Create(t.Context(), spec(t, "b"))
		if app.CodeOf(err) != app.EQuota {
			t.Fatalf("error %v", err)
		}
		if _, err := c.Create(t.Context(), spec(t, "a")); err != nil {
			t.Fatalf("the intent that was met already: %v", err)
		}
	})
	t.Run("machines die and vanish", func(t *testing.T) {
		c := fake.New("c")
		m, _ := c.Create(t.Context(), spec(t, "a"))
		c.Stop(m.ID)
		if got, _ := c.Describe(t.Context(), m.ID); got.State != family.MachineStopped {
			t.Errorf("state %s", got.State)
		}
		c.Vanish(m.ID)
		if _, err := c.Describe(t.Context(), m.ID); app.CodeOf(err) != app.ENotFound {
			t.Errorf("error %v", err)
		}
	})
}

func TestBootTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fake.New("c")
		c.SetDelay(fake.Create, time.Second)
		c.SetBoot(10 * time.Second)
		c.SetListLag(5 * time.Second)
		start := time.Now()
		m, err := c.Create(t.Context(), spec(t, "a"))
		if err != nil || time.Since(start) != time.Second {
			t.Fatalf("%v after %v", err, time.Since(start))
		}
		if m.State != family.MachineStarting || len(m.Addresses) != 0 {
			t.Errorf("just made: %+v", m)
		}
		if ms, _ := c.List(t.Context(), nil); len(ms) != 0 {
			t.Errorf("listed too early: %v", ms)
		}
		time.Sleep(5 * time.Second)
		if ms, _ := c.List(t.Context(), nil); len(ms) != 1 {
			t.Errorf("listed too late")
		}
		time.Sleep(5 * time.Second)
		if m, _ := c.Describe(t.Context(), m.ID); m.State != family.MachineRunning || m.Addresses["access_v4"] == "" {
			t.Errorf("booted: %+v", m)
		}
	})
}

func TestBind(t *testing.T) {
	c, err := fake.Open("bind", map[string]any{"endpoint": "127.0.0.1:2022", "account": t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fake.Forget(t.Name()) })
	m, err := c.Create(t.Context(), spec(t, "a"))
	if err != nil || m.Addresses["access_v4"] != "127.0.0.1" || m.SSHPort != 2022 || m.HostKey == "" {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestCheck(t *testing.T) {
	for field, value := range map[string]any{"delay": "soon", "quota": -1, "endpoint": "nowhere", "host_key": "x"} {
		err := fake.Check(map[string]any{field: value})
		if e := app.AsError(err); e.Code != app.EInvalid || e.Field != "settings."+field {
			t.Errorf("%s=%v: %v", field, value, err)
		}
	}
	if err := fake.Check(map[string]any{"delay": "1ms", "quota": 3}); err != nil {
		t.Error(err)
	}
}
