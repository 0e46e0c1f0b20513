package rackspace

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/providers/internal/account"
	stack "muster/providers/internal/openstack"
	fake "muster/providers/internal/openstacktest"
	"muster/providers/providertest"
)

const hangs = 5 * time.Minute // reached only where something hangs

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// simulated is an account behind an endpoint, and how to get at it.
type simulated struct {
	*fake.Cloud
	faults *providertest.Faults
	url    string
}

func simulate(t *testing.T) *simulated {
	t.Helper()
	s := &simulated{Cloud: fake.NewRackspace(), faults: &providertest.Faults{
		Creates: func(r *http.Request) bool {
			return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/servers")
		},
		Throttle: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			_, _ = w.Write([]byte(`{"overLimit": {"code": 413, "message": "OverLimit Retry...", "details": "Error Details...", "retryAfter": "2026-04-01T10:00:00Z"}}`))
		},
	}}
	server := httptest.NewServer(s.faults.Wrap(s.Rackspace()))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *simulated) open(t *testing.T, changes map[string]any) *Provider {
	t.Helper()
	settings := map[string]any{"auth_url": s.url + "/identity/v2.0", "username": fake.User, "api_key": fake.APIKey, "region": "DFW"}
	maps.Copy(settings, changes)
	p, err := Open(settings, account.Network{})
	if err != nil {
		t.Fatal(err)
	}
	p.pace = stack.Pace{First: 2 * time.Millisecond, Most: 4 * time.Millisecond, Patience: hangs}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func harness(t *testing.T, changes map[string]any) (*simulated, providertest.Harness) {
	s := simulate(t)
	with := func(change func(*fake.Cloud)) func() func() {
		return func() func() {
			var limits fake.Limits
			s.With(func(c *fake.Cloud) { limits = c.Limits; change(c) })
			return func() {
				s.With(func(c *fake.Cloud) { c.Limits, c.Used, c.Fault, c.Forbidden = limits, fake.Limits{}, "", "" })
			}
		}
	}
	h := providertest.Harness{
		Open: func(t *testing.T) family.Provider {
			p := s.open(t, changes)
			t.Cleanup(func() { s.clear(t, p) })
			return p
		},
		Reopen: func(t *testing.T) family.Provider { return s.open(t, changes) },
		Flavor: "general1-2", Image: "debian-12", Zone: "DFW",
		Faults: s.faults,
		Late: func(t *testing.T) providertest.Late {
			const lag = 100 * time.Millisecond
			t.Cleanup(func() { s.clear(t, s.open(t, changes)) })
			s.With(func(c *fake.Cloud) { c.Lag = lag })
			t.Cleanup(func() { s.With(func(c *fake.Cloud) { c.Lag = 0 }) })
			return providertest.Late{Lag: lag, Open: func() family.Provider {
				p := s.open(t, changes)
				p.pace.Late = 2 * lag
				return p
			}}
		},
		Refuses: map[string]func(*family.MachineSpec){
			"an unknown flavor":          func(m *family.MachineSpec) { m.Flavor.Flavor = "general9-2" },
			"an unknown image":           func(m *family.MachineSpec) { m.Image.Image = "none" },
			"an image that is not whole": func(m *family.MachineSpec) { m.Image.Image = "half" },
			"an image too large":         func(m *family.MachineSpec) { m.Image.Image = "big" },
			"another region":             func(m *family.MachineSpec) { m.Zone = "ORD" },
			"a firewall":                 func(m *family.MachineSpec) { m.Firewall = &template.Firewall{} },
			"a tag too long":             func(m *family.MachineSpec) { m.Tags["note"] = strings.Repeat("x", 256) },
			"a tag of RackConnect's":     func(m *family.MachineSpec) { m.Tags["rackconnect_automation_status"] = "DEPLOYED" },
			"an unreadable host key":     func(m *family.MachineSpec) { m.HostKey = []byte("none") },
			"a network without a name":   func(m *family.MachineSpec) { m.Flavor.Extra = map[string]string{"networks": "backend"} },
			"an unknown network": func(m *family.MachineSpec) {
				m.Flavor.Extra = map[string]string{"networks": "public 99999999-9999-9999-9999-999999999999"}
			},
			"a boot volume too small": func(m *family.MachineSpec) { m.Flavor.Extra = map[string]string{"boot_volume_gb": "20"} },
			"a data disk too small":   func(m *family.MachineSpec) { m.Flavor.Extra = map[string]string{"data_disk_gb": "74"} },
			"a data disk too large":   func(m *family.MachineSpec) { m.Flavor.Extra = map[string]string{"data_disk_gb": "1025"} },
		},
		Refusals: []providertest.Refusal{
			{Name: "no host has room", Code: app.ECapacity, Arrange: with(func(c *fake.Cloud) { c.Fault = "No valid host was found. " })},
			{Name: "a build that failed", Code: app.ETransient, Arrange: with(func(c *fake.Cloud) { c.Fault = "Build Failed" })},
			{Name: "the quota of memory", Code: app.EQuota, Arrange: with(func(c *fake.Cloud) { c.Used.MemoryMB = 131000 })},
			{Name: "a role that may not", Code: app.ECredentials, Arrange: with(func(c *fake.Cloud) { c.Forbidden = "POST /servers" })},
		},
		Partial: map[string]func(*http.Request) bool{
			"the look at it": func(r *http.Request) bool {
				return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/servers/") && strings.Count(r.URL.Path, "-") == 4
			},
		},
		Named:  func(_ *testing.T, name string) []string { return s.Named(name) },
		Take:   func(_ *testing.T, name, kind, data string) { s.Take(name, kind, data) },
		Left:   func(*testing.T) []string { return s.Left() },
		Vanish: func(_ *testing.T, id string) { s.Lose(id) },
	}
	wrong := func(name, about string, settings map[string]any, change func(*fake.Cloud)) {
		h.Wrong = append(h.Wrong, providertest.Wrong{Name: name, About: about, Open: func(t *testing.T) (family.Provider, func()) {
			other := simulate(t)
			if change != nil {
				other.With(change)
			}
			all := maps.Clone(settings)
			if at, ok := all["auth_url"]; ok {
				all["auth_url"] = other.url + at.(string)
			}
			return other.open(t, all), func() {}
		}})
	}
	wrong("a wrong API key", family.AboutCredentials, map[string]any{"api_key": "old"}, nil)
	wrong("a wrong password", family.AboutCredentials, map[string]any{"api_key": "", "password": "wrong"}, nil)
	wrong("an unknown user", family.AboutCredentials, map[string]any{"username": "unknown"}, nil)
	wrong("another's account number", family.AboutCredentials, map[string]any{"tenant": "1"}, nil)
	wrong("an address without the identity service", family.AboutSettings, map[string]any{"auth_url": "/v3"}, nil)
	wrong("a region that the account does not have", family.AboutRegion, map[string]any{"region": "LON"}, nil)
	wrong("no servers in the account", family.AboutRegion, nil, func(c *fake.Cloud) { c.Services = []string{"image"} })
	wrong("no images in the account", family.AboutImage, nil, func(c *fake.Cloud) { c.Services = []string{"compute"} })
	wrong("a role that only looks", family.AboutPermissions, nil, func(c *fake.Cloud) { c.Roles = []string{"identity:default", "nova:observer"} })
	wrong("a role that may not look at limits", family.AboutPermissions, nil, func(c *fake.Cloud) { c.Forbidden = "GET /limits" })
	wrong("an image that is not whole", family.AboutImage, nil, func(c *fake.Cloud) {
		for i := range c.Images {
			c.Images[i].Status = "saving"
		}
	})
	wrong("an image too large for the flavor", family.AboutFlavor, nil, func(c *fake.Cloud) {
		for i := range c.Images {
			c.Images[i].MinDisk = 80
		}
	})
	wrong("too little memory left", family.AboutQuota, nil, func(c *fake.Cloud) { c.Used.MemoryMB = 128000 })
	wrong("too few servers left", family.AboutQuota, nil, func(c *fake.Cloud) { c.Limits.Servers = 1 })
	wrong("no volumes to boot from", family.AboutRegion, map[string]any{"boot_volume_gb": 100}, func(c *fake.Cloud) { c.Services = []string{"compute", "image"} })
	wrong("no volumes for data", family.AboutRegion, map[string]any{"data_disk_gb": 100}, func(c *fake.Cloud) { c.Services = []string{"compute", "image"} })
	named := map[string]any{"dns_zone": fake.Zone}
	wrong("an unknown DNS zone", family.AboutNetwork, map[string]any{"dns_zone": "other.test"}, nil)
	wrong("no Cloud DNS", family.AboutNetwork, named, func(c *fake.Cloud) { c.Services = []string{"compute", "image", "volume"} })
	wrong("a role that may not look at records", family.AboutPermissions, named, func(c *fake.Cloud) { c.Forbidden = "GET /records" })
	wrong("too few records left", family.AboutQuota, named, func(c *fake.Cloud) { c.Records = 1 })
	return s, h
}

// clear removes what a test left, so that the next one finds an empty account.
func (s *simulated) clear(t *testing.T, p *Provider) {
	ctx, cancel := context.WithTimeout(context.Background(), hangs)
	defer cancel()
	ms, err := p.List(ctx, nil)
	if err != nil {
		t.Error(err)
	}
	for _, m := range ms {
		if err := p.Delete(ctx, m.ID); err != nil {
			t.Error(err)
		}
	}
	if left := s.Left(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestSuite(t *testing.T) {
	_, h := harness(t, map[string]any{"dns_zone": "Suite.test."})
	h.Judge = "simulated"
	providertest.Run(t, h)
}

// The same by a password, on a network of its own and with a data volume, with RackConnect.
func TestSuiteWithRackConnect(t *testing.T) {
	s, h := harness(t, map[string]any{"api_key": "", "password": fake.Password, "tenant": fake.Tenant, "networks": "public, servicenet, " + fake.Isolated, "rackconnect_wait": "true", "data_disk_gb": 75})
	s.With(func(c *fake.Cloud) { c.RackConnect = "DEPLOYED" })
	h.Wrong = nil
	h.Reopen = nil // its addresses come later than the machine
	providertest.Run(t, h)
}

func TestAddresses(t *testing.T) {
	s, h := harness(t, nil)
	p := s.open(t, map[string]any{"networks": "servicenet, public, " + fake.Isolated})
	t.Cleanup(func() { s.clear(t, p) })
	spec, _ := h.Spec(t, "reached")
	m, err := p.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	m = providertest.Eventually(t, p, m.ID)
	if !strings.HasPrefix(m.Addresses[app.AddressAccess], "198.51.100.") || !strings.HasPrefix(m.Addresses[app.AddressBind], "192.168.3.") {
		t.Errorf("addresses %v", m.Addresses)
	}
}

func TestRackConnect(t *testing.T) {
	s, h := harness(t, nil)
	waits := s.open(t, map[string]any{"rackconnect_wait": true})
	t.Cleanup(func() { s.clear(t, waits) })
	for status, want := range map[string]family.MachineState{"DEPLOYED": family.MachineRunning, "FAILED": family.MachineStopped, "UNPROCESSABLE": family.MachineStopped} {
		s.With(func(c *fake.Cloud) { c.RackConnect = status })
		spec, _ := h.Spec(t, "connected "+status)
		m, err := waits.Create(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		if m.State != family.MachineStarting || m.Addresses[app.AddressAccess] == "203.0.113.77" {
			t.Errorf("at first it is %+v", m)
		}
		for deadline := time.Now().Add(hangs); m.State == family.MachineStarting && time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
			if m, err = waits.Describe(t.Context(), m.ID); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(m.Note, "DEPLOYING") && m.Addresses[app.AddressAccess] != "" {
				t.Errorf("it is reached before RackConnect is done: %+v", m)
			}
		}
		if m.State != want || m.Addresses[app.AddressAccess] != "203.0.113.77" || !maps.Equal(m.Tags, spec.Tags) {
			t.Errorf("%s: %+v", status, m)
		}
	}
}

func TestDisks(t *testing.T) {
	s, h := harness(t, nil)
	p := s.open(t, nil)
	t.Cleanup(func() { s.clear(t, p) })
	for flavor, want := range map[string][]string{"compute1-4": {"50 GB from debian-12"}, "io1-15": nil, "general1-2": nil, "2 GB General Purpose v1": nil,
		"general1-2 with 100": {"100 GB from nothing"}, "compute1-4 with 1024": {"50 GB from debian-12", "1024 GB from nothing"}, "io1-15 with 75": {"75 GB from nothing"}} {
		spec, _ := h.Spec(t, "disks")
		name, data, _ := strings.Cut(flavor, " with ")
		spec.Flavor.Flavor, spec.Flavor.Extra = name, map[string]string{"data_disk_gb": data, "user_data": "#cloud-config\npackages: [htop]"}
		m, err := p.Create(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		made := s.Servers()[0]
		if !slices.Equal(made.Volumes, want) || !made.Drive || !strings.Contains(made.UserData, m.HostKey) || !strings.Contains(made.UserData, "- htop") ||
			strings.Contains(made.UserData, "muster-data-disks") != (data != "" || name == "io1-15") {
			t.Errorf("%s: %+v", flavor, made)
		}
		if err := p.Delete(t.Context(), m.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// A token that is refused, whichever call that happens to, is renewed once, and nothing is made twice.
func TestRejectedTokenIsRenewed(t *testing.T) {
	s, h := harness(t, nil)
	p := s.open(t, nil)
	for n := range 6 {
		spec, _ := h.Spec(t, "renewed")
		calls := 0
		s.With(func(c *fake.Cloud) { c.Revokes = func() bool { calls++; return calls == n+1 } })
		m, err := p.Create(t.Context(), spec)
		s.With(func(c *fake.Cloud) { c.Revokes = nil })
		if err != nil {
			t.Fatalf("refused at call %d: %v", n, err)
		}
		if made := s.Servers(); len(made) != 1 {
			t.Errorf("refused at call %d: %d servers", n, len(made))
		}
		if err := p.Delete(t.Context(), m.ID); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSettingsAreRefused(t *testing.T) {
	good := map[string]any{"username": "u", "api_key": "hunter2", "region": "DFW"}
	if err := Check(good); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		change map[string]any
		field  string
	}{
		"no user":           {map[string]any{"username": ""}, "username"},
		"no key":            {map[string]any{"api_key": ""}, "api_key"},
		"key and password":  {map[string]any{"password": "hunter2"}, "password"},
		"no region":         {map[string]any{"region": ""}, "region"},
		"a network's name":  {map[string]any{"networks": "private"}, "networks"},
		"a small volume":    {map[string]any{"boot_volume_gb": 10}, "boot_volume_gb"},
		"no DNS zone":       {map[string]any{"dns_zone": "suite"}, "dns_zone"},
		"a small data disk": {map[string]any{"data_disk_gb": 50}, "data_disk_gb"},
		"perhaps waiting":   {map[string]any{"rackconnect_wait": "perhaps"}, "rackconnect_wait"},
		"no address":        {map[string]any{"auth_url": "identity"}, "auth_url"},
		"a user in the URL": {map[string]any{"auth_url": "https://u:hunter2@identity"}, "auth_url"},
	} {
		settings := maps.Clone(good)
		maps.Copy(settings, c.change)
		err := Check(settings)
		if e := app.AsError(err); err == nil || e.Code != app.EInvalid || e.Field != "settings."+c.field || strings.Contains(e.Advised(), "hunter2") {
			t.Errorf("%s: %v (field %q)", name, err, e.Field)
		}
	}
}
