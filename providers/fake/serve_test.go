package fake_test

import (
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/providers/fake"
	"muster/providers/providertest"
)

// away starts an account that a client reaches over HTTP.
func away(t *testing.T) (*fake.Cloud, func(*testing.T) family.Provider) {
	t.Helper()
	c := fake.New("away")
	s := httptest.NewServer(c.Serve("word"))
	t.Cleanup(s.Close)
	return c, func(t *testing.T) family.Provider {
		t.Helper()
		p, err := fake.Provider("away", map[string]any{"url": s.URL, "secret": "word"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.(family.ProviderCloser).Close() })
		return p
	}
}

func TestRemoteFakePassesTheSuite(t *testing.T) {
	var again func(*testing.T) family.Provider
	providertest.Run(t, providertest.Harness{
		Open: func(t *testing.T) family.Provider {
			_, again = away(t)
			return again(t)
		},
		Reopen: func(t *testing.T) family.Provider { return again(t) },
		Flavor: "small",
		Image:  "host",
		Refuses: map[string]func(*family.MachineSpec){
			"an unknown flavor": func(s *family.MachineSpec) { s.Flavor.Flavor = "unknown" },
			"a broken host key": func(s *family.MachineSpec) { s.HostKey = []byte("not a key") },
		},
	})
}

func TestScriptedBehaviorOverHTTP(t *testing.T) {
	c, open := away(t)
	p := open(t)
	c.LoseReply(fake.Create, fake.ErrCut)
	_, err := p.Create(t.Context(), spec(t, "a"))
	if err == nil || app.CodeOf(err) == app.ECredentials {
		t.Errorf("a lost answer: %v", err)
	}
	if n := len(c.Machines()); n != 1 || c.Count(fake.Create) != 1 {
		t.Errorf("%d machines after %d calls", n, c.Count(fake.Create))
	}
	busy := app.Errorf(app.ERateLimit, "asked too often")
	busy.RetryAfter = 3 * time.Second
	c.Fail(fake.List, busy)
	_, err = p.List(t.Context(), nil)
	var e *app.Error
	if !errors.As(err, &e) || e.Code != app.ERateLimit || e.RetryAfter != busy.RetryAfter {
		t.Errorf("refused list: %v", err)
	}
	if _, err := p.Describe(t.Context(), "nothing"); app.CodeOf(err) != app.ENotFound {
		t.Errorf("unknown machine: %v", err)
	}
}

func TestUnauthorizedCallsAreRefused(t *testing.T) {
	c := fake.New("c")
	s := httptest.NewServer(c.Serve("word"))
	defer s.Close()
	p, err := fake.Provider("c", map[string]any{"url": s.URL, "secret": "wrong"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.(family.ProviderCloser).Close() }()
	if _, err := p.List(t.Context(), nil); app.CodeOf(err) != app.ECredentials || len(c.Calls()) != 0 {
		t.Errorf("%v after %v", err, c.Calls())
	}
}

func TestCheckURL(t *testing.T) {
	for _, c := range []struct {
		field    string
		settings map[string]any
	}{
		{"url", map[string]any{"url": "nowhere"}},
		{"url", map[string]any{"url": "http://user:pw@127.0.0.1:1"}},
		{"quota", map[string]any{"url": "http://127.0.0.1:1", "quota": 3}},
	} {
		if e := app.AsError(fake.Check(c.settings)); e.Code != app.EInvalid || e.Field != "settings."+c.field {
			t.Errorf("%v: %v", c.settings, e)
		}
	}
}
