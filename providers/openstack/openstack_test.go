package openstack

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

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// simulated is a cloud behind an endpoint, and how to get at it.
type simulated struct {
	*fake.Cloud
	faults *providertest.Faults
	url    string
}

func simulate(t *testing.T) *simulated {
	t.Helper()
	s := &simulated{Cloud: fake.New(), faults: &providertest.Faults{
		Creates: func(r *http.Request) bool {
			return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/servers")
		},
		Throttle: func(w http.ResponseWriter, _ *http.Request) { // as Nova said it when it still counted calls, and some proxies do
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			_, _ = w.Write([]byte(`{"overLimit": {"code": 413, "message": "This request was rate-limited.", "retryAfter": "7"}}`))
		},
		Fail: func(w http.ResponseWriter, _ *http.Request, status int) {
			w.WriteHeader(status)
			if status == http.StatusServiceUnavailable { // HAProxy's
				_, _ = w.Write([]byte("<html><body><h1>503 Service Unavailable</h1>\nNo server is available to handle this request.\n</body></html>"))
				return
			}
			_, _ = w.Write([]byte(`{"computeFault": {"code": 500, "message": "Unexpected API Error. Please report this at http://bugs.launchpad.net/nova/."}}`))
		},
	}}
	server := httptest.NewServer(s.faults.Wrap(s.Handler()))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// settings of a good account, with changes.
func (s *simulated) settings(changes map[string]any) map[string]any {
	out := map[string]any{"auth_url": s.url + "/identity/v3", "username": fake.User, "password": fake.Password, "user_domain": "Default", "project": fake.Project, "region": fake.Region,
		"networks": "private", "floating_network": "public", "ssh_from": "192.0.2.0/24"}
	maps.Copy(out, changes)
	return out
}

func (s *simulated) open(t *testing.T, changes map[string]any) *Provider {
	t.Helper()
	p, err := Open("cloud", s.settings(changes), account.Network{})
	if err != nil {
		t.Fatal(err)
	}
	p.pace = stack.Pace{First: 2 * time.Millisecond, Most: 4 * time.Millisecond, Patience: 5 * time.Minute}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func harness(t *testing.T, changes map[string]any) (*simulated, providertest.Harness) {
	s := simulate(t)
	post := func(path string) func(*http.Request) bool {
		return func(r *http.Request) bool { return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, path) }
	}
	with := func(change func(*fake.Cloud)) func() func() {
		return func() func() {
			before := fake.New()
			s.With(func(c *fake.Cloud) { before.Limits, before.Routed = c.Limits, c.Routed; change(c) })
			return func() {
				s.With(func(c *fake.Cloud) {
					c.Limits, c.Used, c.Fault, c.Forbidden, c.Routed = before.Limits, fake.Limits{}, "", "", before.Routed
				})
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
		Flavor: "m1.small", Image: "debian-12", Zone: "az2",
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
			"an unknown flavor":          func(m *family.MachineSpec) { m.Flavor.Flavor = "m1.none" },
			"no flavor":                  func(m *family.MachineSpec) { m.Flavor.Flavor = "" },
			"an unknown image":           func(m *family.MachineSpec) { m.Image.Image = "none" },
			"an image that is not whole": func(m *family.MachineSpec) { m.Image.Image = "half" },
			"an image too large":         func(m *family.MachineSpec) { m.Image.Image = "big" },
			"a flavor without a disk": func(m *family.MachineSpec) {
				m.Flavor.Flavor, m.Flavor.Extra = "v1.small", map[string]string{"boot_volume_gb": "0"}
			},
			"an unknown zone":           func(m *family.MachineSpec) { m.Zone = "az9" },
			"a zone that is down":       func(m *family.MachineSpec) { m.Zone = "az3" },
			"a tag too long":            func(m *family.MachineSpec) { m.Tags["note"] = strings.Repeat("ü", 256) },
			"a tag's name with a slash": func(m *family.MachineSpec) { m.Tags["a/b"] = "" },
			"an unreadable host key":    func(m *family.MachineSpec) { m.HostKey = []byte("none") },
			"ports of icmp": func(m *family.MachineSpec) {
				m.Firewall = &template.Firewall{Rules: []template.FirewallRule{{Protocol: "icmp", Ports: "1", From: []string{"0.0.0.0/0"}}}}
			},
			"a rule from nowhere": func(m *family.MachineSpec) {
				m.Firewall = &template.Firewall{Rules: []template.FirewallRule{{Protocol: "tcp", Ports: "1"}}}
			},
			"an unknown network":       func(m *family.MachineSpec) { m.Flavor.Extra = map[string]string{"networks": "none"} },
			"a network that two have":  func(m *family.MachineSpec) { m.Flavor.Extra = map[string]string{"networks": "twin"} },
			"an unknown group":         func(m *family.MachineSpec) { m.Flavor.Extra = map[string]string{"security_groups": "none"} },
			"a pool that is none":      func(m *family.MachineSpec) { m.Flavor.Extra = map[string]string{"floating_network": "second"} },
			"a disk that is no number": func(m *family.MachineSpec) { m.Flavor.Extra = map[string]string{"data_disk_gb": "much"} },
		},
		Refusals: []providertest.Refusal{
			{Name: "no host has room", Code: app.ECapacity, Arrange: with(func(c *fake.Cloud) { c.Fault = "No valid host was found. There are not enough hosts available." })},
			{Name: "no host could build it", Code: app.ECapacity, Arrange: with(func(c *fake.Cloud) {
				c.Fault = "Exceeded maximum number of retries. Exhausted all hosts available for retrying build failures for instance 8a6e4d0c."
			})},
			{Name: "a fault of another kind", Code: app.ETransient, Arrange: with(func(c *fake.Cloud) { c.Fault = "Build of instance aborted: libvirt error" })},
			{Name: "a volume over the quota while it is built", Code: app.EQuota, Arrange: with(func(c *fake.Cloud) {
				c.Fault = "Build of instance aborted: VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota."
			})},
			{Name: "the quota of servers", Code: app.EQuota, Arrange: with(func(c *fake.Cloud) { c.Limits.Servers = 0 })},
			{Name: "the quota of CPUs", Code: app.EQuota, Arrange: with(func(c *fake.Cloud) { c.Used.Cores = 39 })},
			{Name: "the quota of ports", Code: app.EQuota, Arrange: with(func(c *fake.Cloud) { c.Limits.Ports = 0 })},
			{Name: "more ports than the quota", Code: app.EQuota, Arrange: with(func(c *fake.Cloud) { c.Limits.Ports, c.Used.Ports = 0, 1 })},
			{Name: "the quota of floating IPs", Code: app.EQuota, Arrange: with(func(c *fake.Cloud) { c.Limits.Floating = 0 })},
			{Name: "a network without a router", Code: app.EInvalid, Arrange: with(func(c *fake.Cloud) { c.Routed = false })},
			{Name: "a policy that forbids servers", Code: app.ECredentials, Arrange: with(func(c *fake.Cloud) { c.Forbidden = "POST /servers" })},
			{Name: "a policy that forbids floating IPs", Code: app.ECredentials, Arrange: with(func(c *fake.Cloud) { c.Forbidden = "POST /floatingips" })},
		},
		Partial: map[string]func(*http.Request) bool{
			"the group": post("/security-groups"), "its rules": post("/security-group-rules"), "the floating IP": post("/floatingips"),
			"the look at it": func(r *http.Request) bool {
				return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/servers/") && !strings.HasSuffix(r.URL.Path, "/detail")
			},
			"its port": func(r *http.Request) bool {
				return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/ports")
			},
		},
		Firewall: &template.Firewall{Rules: []template.FirewallRule{{Protocol: "tcp", Ports: "443", From: []string{"0.0.0.0/0", "::/0"}}, {Protocol: "icmp", From: []string{"198.51.100.7/24", "2001:db8::/32"}}}},
		Named:    func(_ *testing.T, name string) []string { return s.Named(name) },
		Take:     func(_ *testing.T, name, kind, data string) { s.Take(name, kind, data) },
		Behind:   func(_ *testing.T, id string) []string { return s.Behind(id) },
		Left:     func(*testing.T) []string { return s.Left() },
		NoVolume: "11111111-2222-4333-8444-555555555555", NoMachine: "66666666-2222-4333-8444-555555555555",
		MakesVolume: post("/volumes"), MakesImage: post("/action"),
		NoSnapshot: "11111111-2222-4333-8444-555555555555", MakesSnapshot: post("/volumes"),
		SnapshotOf: func(_ *testing.T, id string) string { return s.SourceOf(id) },
		SpoilSnapshots: func(_ *testing.T, n int) {
			s.With(func(c *fake.Cloud) { c.SpoilCopies = n })
		},
		Vanish: func(_ *testing.T, id string) { s.Lose(id) },
	}
	wrong := func(name, about string, settings map[string]any, change func(*fake.Cloud)) {
		h.Wrong = append(h.Wrong, providertest.Wrong{Name: name, About: about, Open: func(t *testing.T) (family.Provider, func()) {
			other := simulate(t)
			if change != nil {
				other.With(change)
			}
			all := maps.Clone(changes)
			if all == nil {
				all = map[string]any{}
			}
			for k, v := range settings {
				if k == "auth_url" {
					v = other.url + v.(string)
				}
				all[k] = v
			}
			return other.open(t, all), func() {}
		}})
	}
	wrong("a wrong password", family.AboutCredentials, map[string]any{"password": "wrong"}, nil)
	wrong("an unknown project", family.AboutCredentials, map[string]any{"project": "unknown"}, nil)
	wrong("an application credential that was revoked", family.AboutCredentials, map[string]any{"application_credential_id": fake.Credential, "application_credential_secret": "old"}, nil)
	wrong("an application credential that was deleted", family.AboutCredentials,
		map[string]any{"application_credential_id": "deleted", "application_credential_secret": fake.Secret}, nil)
	wrong("an address without Keystone", family.AboutSettings, map[string]any{"auth_url": "/elsewhere"}, nil)
	wrong("an unknown region", family.AboutRegion, map[string]any{"region": "RegionNine"}, nil)
	wrong("no region of two", family.AboutRegion, map[string]any{"region": ""}, nil)
	wrong("no compute service", family.AboutRegion, nil, func(c *fake.Cloud) { c.Services = []string{"network", "image"} })
	wrong("no network service", family.AboutNetwork, nil, func(c *fake.Cloud) { c.Services = []string{"compute", "image"} })
	wrong("no image service", family.AboutImage, nil, func(c *fake.Cloud) { c.Services = []string{"compute", "network"} })
	wrong("no volume service", family.AboutRegion, map[string]any{"data_disk_gb": 10}, func(c *fake.Cloud) { c.Services = []string{"compute", "network", "image"} })
	wrong("a role that only looks", family.AboutPermissions, nil, func(c *fake.Cloud) { c.Roles = []string{"reader"} })
	wrong("access rules that leave the limits out", family.AboutPermissions, nil, func(c *fake.Cloud) { c.Forbidden = "GET /limits" })
	wrong("access rules that leave the networks out", family.AboutPermissions, nil, func(c *fake.Cloud) { c.Forbidden = "GET /networks" })
	wrong("an unknown zone", family.AboutRegion, nil, func(c *fake.Cloud) { c.Zones = map[string]bool{"az1": true} })
	wrong("a zone that is down", family.AboutRegion, nil, func(c *fake.Cloud) { c.Zones["az2"] = false })
	wrong("an image that is not whole", family.AboutImage, nil, func(c *fake.Cloud) {
		for i := range c.Images {
			c.Images[i].Status = "deactivated"
		}
	})
	wrong("an image too large for the flavor", family.AboutFlavor, nil, func(c *fake.Cloud) {
		for i := range c.Images {
			c.Images[i].MinDisk = 500
		}
	})
	wrong("an image that needs more memory", family.AboutFlavor, nil, func(c *fake.Cloud) {
		for i := range c.Images {
			c.Images[i].MinRAM = 1 << 20
		}
	})
	wrong("an unknown network", family.AboutNetwork, map[string]any{"networks": "none"}, nil)
	wrong("a network that two have", family.AboutNetwork, map[string]any{"networks": "twin"}, nil)
	wrong("a network without a subnet", family.AboutNetwork, map[string]any{"networks": "bare"}, nil)
	wrong("no network of many", family.AboutNetwork, map[string]any{"networks": ""}, nil)
	wrong("an unknown DNS zone", family.AboutNetwork, map[string]any{"dns_zone": "other.test"}, nil)
	wrong("a DNS zone that is a copy", family.AboutPermissions, map[string]any{"dns_zone": fake.Zone}, func(c *fake.Cloud) { c.Secondary = true })
	wrong("no DNS service", family.AboutNetwork, map[string]any{"dns_zone": fake.Zone}, func(c *fake.Cloud) { c.Services = []string{"compute", "network", "image", "volumev3"} })
	wrong("an unknown pool", family.AboutNetwork, map[string]any{"floating_network": "elsewhere"}, nil)
	wrong("a pool that is not external", family.AboutNetwork, map[string]any{"floating_network": "second"}, nil)
	wrong("an unknown security group", family.AboutNetwork, map[string]any{"security_groups": "default, none"}, nil)
	wrong("too few servers left", family.AboutQuota, nil, func(c *fake.Cloud) { c.Used.Servers = 19 })
	wrong("too few CPUs left", family.AboutQuota, nil, func(c *fake.Cloud) { c.Limits.Cores = 3 })
	wrong("too little memory left", family.AboutQuota, nil, func(c *fake.Cloud) { c.Used.MemoryMB = 51200 })
	wrong("too few floating IPs left", family.AboutQuota, map[string]any{"floating_network": "public"}, func(c *fake.Cloud) { c.Used.Floating = 19 })
	wrong("no security group left", family.AboutQuota, nil, func(c *fake.Cloud) { c.Limits.Groups = 1 })
	wrong("too little of volumes left", family.AboutQuota, map[string]any{"boot_volume_gb": 600}, nil)
	wrong("an unknown type of lasting volumes", family.AboutSettings, map[string]any{"volume_type": "sdd"}, nil)
	wrong("an unknown type of volumes", family.AboutSettings, map[string]any{"boot_volume_gb": 30, "boot_volume_type": "sdd"}, nil)
	return s, h
}

// clear removes what a test left, so that the next one finds an empty account.
func (s *simulated) clear(t *testing.T, p *Provider) {
	ctx := t.Context()
	if ctx.Err() != nil {
		var cancel func()
		ctx, cancel = background()
		defer cancel()
	}
	ms, err := p.List(ctx, nil)
	if err != nil {
		t.Error(err)
	}
	for _, m := range ms {
		if err := p.Delete(ctx, m.ID); err != nil {
			t.Error(err)
		}
	}
	vs, err := p.ListVolumes(ctx, map[string]string{family.TagInstallation: providertest.Installation})
	if err != nil && app.CodeOf(err) != app.EInvalid { // without Cinder
		t.Error(err)
	}
	for _, v := range vs {
		if err := p.DeleteVolume(ctx, v.ID); err != nil {
			t.Error(err)
		}
	}
	things, err := p.Shared(ctx, nil)
	if err != nil {
		t.Error(err)
	}
	for _, thing := range things {
		if err := p.DeleteShared(ctx, thing.ID); err != nil {
			t.Error(err)
		}
	}
	if left := s.Left(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// With a token that ends all the time.
func TestSuite(t *testing.T) {
	s, h := harness(t, map[string]any{"dns_zone": "Suite.test."})
	s.With(func(c *fake.Cloud) { c.TokenLife = 2 * time.Second })
	h.Judge = "simulated"
	providertest.Run(t, h)
}

// The same account by an application credential, without floating IPs, and from volumes that Nova forgets to delete.
func TestSuiteWithVolumes(t *testing.T) {
	s, h := harness(t, map[string]any{"application_credential_id": fake.Credential, "application_credential_secret": fake.Secret, "networks": "second, private", "floating_network": "none",
		"boot_volume_gb": 30, "boot_volume_type": "ssd", "data_disk_gb": 10, "config_drive": "false", "security_groups": "default"})
	s.With(func(c *fake.Cloud) { c.Keeps = true })
	delete(h.Partial, "the floating IP")
	delete(h.Partial, "its port")
	h.Refusals = slices.DeleteFunc(h.Refusals, func(r providertest.Refusal) bool {
		return strings.Contains(r.Name, "floating") || strings.Contains(r.Name, "router")
	})
	delete(h.Refuses, "an image too large")
	h.Wrong = nil
	providertest.Run(t, h)
}

func background() (context.Context, func()) {
	return context.WithTimeout(context.Background(), 5*time.Minute)
}
