package joyent

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/providers/internal/account"
	"muster/providers/joyent/internal/cloudapi"
	"muster/providers/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func (c *cloud) open(t *testing.T, settings map[string]any) *Provider {
	t.Helper()
	return c.openLate(t, settings, 0)
}

func (c *cloud) openLate(t *testing.T, settings map[string]any, late time.Duration) *Provider {
	t.Helper()
	s := map[string]any{"url": c.server.URL, "account": "acme", "key": pemOf(ecdsaKey())}
	maps.Copy(s, settings)
	p, err := open("triton", s, pauses{machine: 2 * time.Millisecond, late: late}, account.Network{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func (c *cloud) with(do func()) { c.mu.Lock(); defer c.mu.Unlock(); do() }

func (c *cloud) calls(call string) (n int) {
	c.with(func() {
		for _, s := range c.seen {
			if s == call {
				n++
			}
		}
	})
	return n
}

func spec(t *testing.T, intent string) family.MachineSpec {
	t.Helper()
	s, _ := providertest.Harness{Flavor: "g1.small", Image: "debian-12"}.Spec(t, intent)
	return s
}

func newFaults() *providertest.Faults {
	return &providertest.Faults{
		Creates: func(r *http.Request) bool {
			return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/machines")
		},
		Throttle: func(w http.ResponseWriter, _ *http.Request) {
			answer{slowDown, "RequestThrottled", "You have exceeded your request rate"}.write(w)
		},
		Fail: func(w http.ResponseWriter, _ *http.Request, status int) {
			answer{status, "InternalError", "an unexpected error occurred"}.write(w)
		},
	}
}

func TestSuite(t *testing.T) {
	var c *cloud
	faults := newFaults()
	refusal := func(name string, code app.Code, set, unset func()) providertest.Refusal {
		return providertest.Refusal{Name: name, Code: code, Arrange: func() func() { c.with(set); return func() { c.with(unset) } }}
	}
	call := func(name string, code app.Code, a answer) providertest.Refusal {
		return refusal(name, code, func() { c.refuseNew = &a }, func() { c.refuseNew = nil })
	}
	providertest.Run(t, providertest.Harness{
		Judge: "simulated",
		Open: func(t *testing.T) family.Provider {
			c = newCloud(t, faults)
			return c.open(t, nil)
		},
		Reopen: func(t *testing.T) family.Provider { return c.open(t, nil) },
		Vanish: func(_ *testing.T, id string) { c.mu.Lock(); defer c.mu.Unlock(); c.machines[id].State = "deleted" },
		Flavor: "g1.small", Image: "debian-12",
		Refuses: map[string]func(*family.MachineSpec){
			"an unknown package":      func(s *family.MachineSpec) { s.Flavor.Flavor = "none" },
			"no package":              func(s *family.MachineSpec) { s.Flavor.Flavor = "" },
			"a package's unknown id":  func(s *family.MachineSpec) { s.Flavor.Flavor = "00000000-0000-4000-8000-000000000000" },
			"an unknown image":        func(s *family.MachineSpec) { s.Image.Image = "none" },
			"an image's unknown id":   func(s *family.MachineSpec) { s.Image.Image = "00000000-0000-4000-8000-000000000000" },
			"an image that is off":    func(s *family.MachineSpec) { s.Image.Image = "old" },
			"an unknown network":      func(s *family.MachineSpec) { s.Flavor.Extra = map[string]string{"networks": "none"} },
			"a network that is two":   func(s *family.MachineSpec) { s.Flavor.Extra = map[string]string{"networks": "twice"} },
			"a zone":                  func(s *family.MachineSpec) { s.Zone = "a" },
			"a host key that is none": func(s *family.MachineSpec) { s.HostKey = []byte("x") },
			"a user that is no name":  func(s *family.MachineSpec) { s.Image.SSHUser = "a b" },
		},
		Faults: faults,
		Late: func(t *testing.T) providertest.Late {
			c = newCloud(t, faults)
			c.lag = 100 * time.Millisecond
			return providertest.Late{Lag: c.lag, Open: func() family.Provider { return c.openLate(t, nil, 2*c.lag) }}
		},
		Refusals: []providertest.Refusal{
			refusal("a machine that fails", app.ECapacity, func() { c.fails = true }, func() { c.fails = false }),
			call("no room", app.ECapacity, answer{503, "InsufficientCapacity", "There isn't enough capacity in this datacenter"}),
			call("quota", app.EQuota, answer{403, "QuotaExceeded", "Quota exceeded; to have your limits raised please contact support"}),
			call("not allowed", app.ECredentials, answer{403, "NotAuthorized", "You don't have access to the requested resource"}),
			call("too many calls", app.ERateLimit, answer{429, "RequestThrottled", "You were throttled"}),
			call("in use", app.ETransient, answer{409, "InUseError", "The object is in use and cannot be operated on"}),
			call("invalid", app.EInvalid, answer{409, "InvalidArgument", "Invalid VM parameters: affinity"}),
			refusal("another key", app.ECredentials, func() { c.refuse = &answer{401, "InvalidCredentials", "Invalid credentials were used"} }, func() { c.refuse = nil }),
		},
		Partial: map[string]func(*http.Request) bool{
			"rule": func(r *http.Request) bool {
				return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/fwrules")
			},
			"rules": func(r *http.Request) bool {
				return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/fwrules")
			},
			"the machine": func(r *http.Request) bool {
				return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/machines/")
			},
			"packages": func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/packages") },
		},
		Firewall: &template.Firewall{Rules: []template.FirewallRule{{Protocol: "tcp", Ports: "443", From: []string{"0.0.0.0/0", "::/0"}},
			{Protocol: "udp", Ports: "8000-8100", From: []string{"10.0.0.0/8", "192.0.2.1/32"}}, {Protocol: "icmp", From: []string{"0.0.0.0/0"}}}},
		Behind: func(_ *testing.T, id string) (names []string) {
			c.with(func() {
				m := c.machines[id]
				for _, rule := range c.rules {
					if tag, _ := m.Tags[tagFirewall].(string); m.Firewall && rule.Enabled && tag != "" && strings.Contains(rule.Rule, fmt.Sprintf(" TO tag %q = %q ", tagFirewall, tag)) {
						names = append(names, rule.Rule)
					}
				}
			})
			return names
		},
		Left: func(*testing.T) (left []string) {
			c.with(func() {
				for id, m := range c.machines {
					if m.State != "deleted" {
						left = append(left, id)
					}
				}
				left = append(left, slices.Collect(maps.Keys(c.rules))...)
			})
			return left
		},
		Wrong: wrongAccounts(),
	})
}

// wrongAccounts are accounts with something wrong in them.
func wrongAccounts() []providertest.Wrong {
	wrong := func(name, about string, settings map[string]any, spoil func(*cloud)) providertest.Wrong {
		return providertest.Wrong{Name: name, About: about, Open: func(t *testing.T) (family.Provider, func()) {
			c := newCloud(t, nil)
			p := c.open(t, settings)
			if spoil != nil {
				c.with(func() { spoil(c) })
			}
			return p, func() {}
		}}
	}
	return []providertest.Wrong{
		wrong("an unknown account", family.AboutCredentials, map[string]any{"account": "other"}, nil),
		wrong("a key under another name", family.AboutCredentials, map[string]any{"key_id": "desktop"}, nil),
		wrong("an unknown subuser", family.AboutCredentials, map[string]any{"user": "unknown"}, nil),
		wrong("a clock that is wrong", family.AboutCredentials, nil, func(c *cloud) { c.skew = 10 * time.Minute }),
		wrong("an account that was switched off", family.AboutCredentials, nil, func(c *cloud) { c.refuse = &answer{403, "NotAuthorized", "Account is disabled"} }),
		wrong("an account that is not approved", family.AboutQuota, nil, func(c *cloud) { c.unapproved = true }),
		wrong("a subuser who may not list machines", family.AboutPermissions, map[string]any{"user": "reader"}, nil),
		wrong("a subuser who may not list rules", family.AboutPermissions, map[string]any{"user": "half"}, nil),
		wrong("an unknown network", family.AboutNetwork, map[string]any{"networks": "none"}, nil),
		wrong("a network that is two", family.AboutNetwork, map[string]any{"networks": "Joyent-SDC-Public, twice"}, nil),
		wrong("a package that was taken away", family.AboutFlavor, nil, func(c *cloud) { c.packages = c.packages[1:] }),
		wrong("an image that was switched off", family.AboutImage, nil, func(c *cloud) { c.images[0].State, c.images[1].State = "disabled", "disabled" }),
		wrong("an image for more memory", family.AboutImage, nil, func(c *cloud) { c.images[1].Requirements.MinMemory = 1 << 20 }),
		wrong("an image of another system", family.AboutImage, nil, func(c *cloud) { c.images[1].OS = "smartos" }),
		wrong("an image for other machines", family.AboutImage, nil, func(c *cloud) { c.images[1].Requirements.Brand, c.packages[0].Brand = "kvm", "lx" }),
	}
}

func TestKeysAndSubusers(t *testing.T) {
	c := newCloud(t, nil)
	for name, settings := range map[string]map[string]any{
		"RSA": {"key": pemOf(rsaKey())}, "RSA by name": {"key": pemOf(rsaKey()), "key_id": "laptop"}, "ECDSA": {}, "a subuser": {"user": "ops"},
	} {
		if ms, err := c.open(t, settings).List(t.Context(), nil); err != nil || len(ms) > 0 {
			t.Errorf("%s: %v, %v", name, ms, err)
		}
	}
	if _, err := c.open(t, map[string]any{"key_id": "laptop"}).List(t.Context(), nil); app.CodeOf(err) != app.ECredentials {
		t.Errorf("another key under that name: %v", err)
	}
}

func TestWhatIsAskedFor(t *testing.T) {
	c := newCloud(t, nil)
	p := c.open(t, map[string]any{"networks": "inside", "ssh_from": "203.0.113.7/24"})
	s := spec(t, "web")
	s.Tags["triton.cns.services"], s.Tags["note"] = "web", "Ünder the sea"
	s.Image.SSHUser, s.Firewall = "ops", &template.Firewall{}
	s.Flavor.Extra = map[string]string{"networks": "Joyent-SDC-Public inside"}
	m, err := p.Create(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if m.SSHUser != "ops" || !maps.Equal(m.Tags, s.Tags) || m.Hostname != "web.suite.test" || !strings.HasPrefix(m.Addresses[app.AddressBind], "10.") || m.Addresses[app.AddressAccess] == "" || m.State != family.MachineRunning {
		t.Errorf("%+v", m)
	}
	c.with(func() {
		is := c.machines[m.ID]
		if !is.Firewall || !slices.Equal(is.Networks, []string{c.networks[0].ID, c.networks[1].ID}) || is.Image != c.images[1].ID || is.Tags["note"] != "Ünder the sea" {
			t.Errorf("%+v", is.Machine)
		}
		if !slices.ContainsFunc(slices.Collect(maps.Values(c.rules)), func(r cloudapi.Rule) bool {
			return strings.HasPrefix(r.Rule, "FROM subnet 203.0.113.0/24 TO tag") && strings.HasSuffix(r.Rule, "PORT 22")
		}) || len(c.rules) != 4 {
			t.Errorf("%+v", c.rules)
		}
		delete(is.Metadata, metaStarted)
		is.Tags["cpus"] = 4 // values need not be text
	})
	if got, err := p.Describe(t.Context(), m.ID); err != nil || got.State != family.MachineStarting {
		t.Errorf("before its first start is done: %+v, %v", got, err)
	}
	c.with(func() {
		c.machines[m.ID].Created = time.Now().Add(-time.Hour)
		delete(c.machines[m.ID].Metadata, metaTags)
	})
	if got, err := p.Describe(t.Context(), m.ID); err != nil || got.State != family.MachineRunning || got.Tags["cpus"] != "4" || got.Tags[family.TagIntent] != "web" {
		t.Errorf("a machine that never says so, without its tags in the metadata: %+v, %v", got, err)
	}
	script, _ := c.machines[m.ID].Metadata["user-script"].(string)
	if _, err := exec.LookPath("bash"); err == nil {
		sh := exec.Command("bash", "-n")
		sh.Stdin = strings.NewReader(script)
		if out, err := sh.CombinedOutput(); err != nil || !strings.Contains(script, "mdata-put") {
			t.Errorf("%v: %s", err, out)
		}
	}
}

func TestPagesWithoutACount(t *testing.T) {
	c := newCloud(t, nil)
	c.uncounted = true
	p := c.open(t, nil)
	for _, name := range []string{"a", "b", "c", "d"} {
		if _, err := p.Create(t.Context(), spec(t, name)); err != nil {
			t.Fatal(err)
		}
	}
	if ms, err := p.List(t.Context(), nil); err != nil || len(ms) != 4 {
		t.Errorf("%d, %v", len(ms), err)
	}
}

func TestFirewallsAreCreatedOnce(t *testing.T) {
	c := newCloud(t, nil)
	s := spec(t, "one")
	s.Firewall = &template.Firewall{Rules: []template.FirewallRule{{Protocol: "tcp", Ports: "80", From: []string{"0.0.0.0/0"}}}}
	done := make(chan error)
	for range 4 { // as many processes
		p := c.open(t, nil)
		go func() { done <- p.ensureFirewall(t.Context(), s) }()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	p := c.open(t, nil)
	c.with(func() {
		for id, r := range c.rules { // and someone switches one off
			r.Enabled = false
			c.rules[id] = r
			break
		}
	})
	s.Firewall.Rules = nil
	if err := p.ensureFirewall(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	c.with(func() {
		texts := map[string]int{}
		for _, r := range c.rules {
			if texts[r.Rule]++; texts[r.Rule] > 1 || !r.Enabled || strings.HasSuffix(r.Rule, "PORT 80") {
				t.Errorf("%+v", r)
			}
		}
		if len(texts) != 4 {
			t.Errorf("%v", texts)
		}
		c.rules["x"] = cloudapi.Rule{ID: "00000000-0000-4000-8000-00000000000f", Rule: "by hand"}
	})
	if things, err := p.Shared(t.Context(), nil); err != nil || len(things) != 4 {
		t.Errorf("%+v, %v", things, err)
	}
	if err := p.DeleteShared(t.Context(), "firewall/00000000-0000-4000-8000-00000000000f"); app.CodeOf(err) != app.EForbidden {
		t.Errorf("a rule that is not ours is removed: %v", err)
	}
	m, err := p.Create(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	things, _ := p.Shared(t.Context(), map[string]string{family.TagCluster: "c1"})
	if err := p.DeleteShared(t.Context(), things[0].ID); app.CodeOf(err) != app.ETransient {
		t.Errorf("a rule that %s uses is removed: %v", m.ID, err)
	}
}

func TestInvalidCloudAPIResponses(t *testing.T) {
	id := "00000001-0000-4000-8000-000000000001"
	for name, handler := range map[string]http.Handler{"a page that is not there": http.NotFoundHandler(), "a redirect": http.RedirectHandler("https://elsewhere.test/", http.StatusFound)} {
		server := httptest.NewServer(handler)
		p := newCloud(t, nil).open(t, map[string]any{"url": server.URL})
		if _, err := p.Describe(t.Context(), id); err == nil || app.CodeOf(err) == app.ENotFound || app.CodeOf(err) == app.EInternal {
			t.Errorf("%s: %v has code %q", name, err, app.CodeOf(err))
		}
		if err := p.Delete(t.Context(), id); err == nil {
			t.Errorf("%s means that the machine is gone", name)
		}
		server.Close()
	}
}

func TestCheck(t *testing.T) {
	good := map[string]any{"url": "https://api.test", "account": "acme", "key": pemOf(ecdsaKey())}
	if err := Check(good); err != nil {
		t.Fatal(err)
	}
	for field, value := range map[string]any{"url": "api.test", "account": "a/b", "user": "a b", "key": "secret-thing", "key_id": `a"b`, "firewall": "maybe", "ssh_from": "10.0.0.1"} {
		s := maps.Clone(good)
		s[field] = value
		err := Check(s)
		if e := app.AsError(err); err == nil || e.Code != app.EInvalid || e.Field != "settings."+field || strings.Contains(e.Error(), "secret-thing") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestAdopt(t *testing.T) {
	c := newCloud(t, nil)
	p := c.open(t, nil)
	s := spec(t, "pooled")
	s.Tags["old"] = "yes"
	m, err := p.Create(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	s.Hostname, s.Tags, s.Firewall = "db.c2.test", maps.Clone(s.Tags), &template.Firewall{}
	delete(s.Tags, "old")
	s.Tags[family.TagCluster], s.Tags[family.TagTenant] = "c2", "Über GmbH"
	for range 2 { // a second time it changes nothing
		if err := p.Adopt(t.Context(), m.ID, s); err != nil {
			t.Fatal(err)
		}
	}
	for _, part := range []string{"/tags", "/metadata", ""} {
		if n := c.calls("POST /acme/machines/" + m.ID + part); n != 1 {
			t.Errorf("%d calls of %s", n, part)
		}
	}
	found, err := p.List(t.Context(), map[string]string{family.TagCluster: "c2", family.TagTenant: "Über GmbH"})
	if err != nil || len(found) != 1 || found[0].Hostname != "db.c2.test" || !maps.Equal(found[0].Tags, s.Tags) || found[0].HostKey != m.HostKey {
		t.Errorf("%+v, %v", found, err)
	}
	c.with(func() {
		if is := c.machines[m.ID]; !is.Firewall || is.Tags[tagFirewall] != firewallTag(s.Tags) {
			t.Errorf("%+v", is.Machine)
		}
	})
	if err := p.Adopt(t.Context(), "00000000-0000-4000-8000-000000000000", s); app.CodeOf(err) != app.ENotFound {
		t.Error(err)
	}
}
