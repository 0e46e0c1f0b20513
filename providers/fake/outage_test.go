package fake_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/providers/fake"
)

func TestZoneCapacity(t *testing.T) {
	c := fake.New("c")
	c.SetRoom("a", 1)
	c.SetRoom("", 0)
	make := func(intent, zone string) app.Code {
		s := spec(t, intent)
		s.Zone = zone
		m, err := c.Create(t.Context(), s)
		if err == nil && m.Zone != zone {
			t.Errorf("%s is in zone %q, want %q", intent, m.Zone, zone)
		}
		return app.CodeOf(err)
	}
	for i, want := range []struct {
		zone string
		code app.Code
	}{{"", app.ECapacity}, {"a", ""}, {"a", app.ECapacity}, {"b", ""}, {"b", ""}} {
		if got := make(string(rune('p'+i)), want.zone); got != want.code {
			t.Errorf("call %d in zone %q: %q, want %q", i, want.zone, got, want.code)
		}
	}
	c.SetRoom("a", -1)
	if got := make("z", "a"); got != "" {
		t.Errorf("a zone without a limit: %q", got)
	}
}

func TestMachineThatAppearsAfterItsDelete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fake.New("c")
		c.Order(fake.Create, fake.Outcome{Err: app.Errorf(app.ETimeout, "no answer"), Happens: true, Late: time.Minute})
		if _, err := c.Create(t.Context(), spec(t, "a")); app.CodeOf(err) != app.ETimeout {
			t.Fatal(err)
		}
		tags := map[string]string{family.TagIntent: "a"}
		if ms, _ := c.List(t.Context(), tags); len(ms) != 0 {
			t.Errorf("listed before it exists: %v", ms)
		}
		if err := c.Delete(t.Context(), "fake-1"); err != nil {
			t.Error(err)
		}
		if _, err := c.Describe(t.Context(), "fake-1"); app.CodeOf(err) != app.ENotFound {
			t.Errorf("described before it exists: %v", err)
		}
		time.Sleep(time.Minute)
		if ms, _ := c.List(t.Context(), tags); len(ms) != 1 || !ms[0].CreatedAt.Equal(time.Now()) {
			t.Errorf("it came to be as %v", ms)
		}
	})
}

func TestCloudWithoutIdempotencyMakesDuplicates(t *testing.T) {
	c := fake.New("c")
	c.SetForgetful(true)
	for range 2 {
		if _, err := c.Create(t.Context(), spec(t, "a")); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(c.Machines()); n != 2 {
		t.Errorf("%d machines", n)
	}
}

func TestRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fake.New("c")
		c.SetRate(2, 3)
		served := 0
		var last error
		for range 10 {
			if _, last = c.List(t.Context(), nil); last == nil {
				served++
			}
		}
		if e := app.AsError(last); served != 3 || c.Refused() != 7 || e.Code != app.ERateLimit || e.RetryAfter != 500*time.Millisecond {
			t.Errorf("%d served, %d refused, at last %v after %s", served, c.Refused(), last, app.AsError(last).RetryAfter)
		}
		time.Sleep(500 * time.Millisecond)
		if _, err := c.List(t.Context(), nil); err != nil {
			t.Errorf("when it said to come back: %v", err)
		}
		c.SetRate(0, 0)
		c.RefuseFor(time.Second)
		if _, err := c.List(t.Context(), nil); app.CodeOf(err) != app.ERateLimit || app.AsError(err).RetryAfter != time.Second {
			t.Errorf("refused for a second: %v", err)
		}
		time.Sleep(time.Second)
		if _, err := c.List(t.Context(), nil); err != nil {
			t.Error(err)
		}
	})
}

func TestOutageSettings(t *testing.T) {
	for field, value := range map[string]any{"room": "a", "rate": -1} {
		if e := app.AsError(fake.Check(map[string]any{field: value})); e.Code != app.EInvalid || e.Field != "settings."+field {
			t.Errorf("%s=%v: %v", field, value, e)
		}
	}
	if err := fake.Check(map[string]any{"room": "a=3, b=0", "rate": 10}); err != nil {
		t.Error(err)
	}
}

// TestCapacityAppliesWithoutAZone: they come into a zone that has room, and there are never more of them than the zones take.
func TestCapacityAppliesWithoutAZone(t *testing.T) {
	c := fake.New("c")
	c.SetRoom("a", 1)
	c.SetRoom("b", 2)
	var zones []string
	for _, name := range []string{"1", "2", "3"} {
		m, err := c.Create(t.Context(), spec(t, name))
		if err != nil {
			t.Fatal(err)
		}
		zones = append(zones, m.Zone)
	}
	if !slices.Equal(zones, []string{"a", "b", "b"}) {
		t.Errorf("they are in %q", zones)
	}
	_, err := c.Create(t.Context(), spec(t, "4"))
	if e := app.AsError(err); e.Code != app.ECapacity || e.Reason != "zone_full" {
		t.Errorf("one more: %v", err)
	}
	if again, err := c.Create(t.Context(), spec(t, "1")); err != nil || again.Zone != "a" || len(c.Machines()) != 3 {
		t.Errorf("the first asked for once more: %+v, %v", again, err)
	}
	elsewhere := spec(t, "5")
	elsewhere.Zone = "c"
	if _, err := c.Create(t.Context(), elsewhere); err != nil {
		t.Errorf("a zone that is not named: %v", err)
	}
}
