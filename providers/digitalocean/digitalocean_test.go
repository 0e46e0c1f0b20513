package digitalocean

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/providers/internal/account"
	"muster/providers/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quick = timing{late: 20 * time.Millisecond, look: 2 * time.Millisecond, fresh: 15 * time.Millisecond, shutdown: 30 * time.Millisecond}

// world is a simulated account that tests open, and spoil.
type world struct {
	*sim
	url    string
	faults *providertest.Faults
}

func isCall(method, path string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == method && r.URL.Path == path }
}

func newWorld(t *testing.T) *world {
	w := &world{sim: newSim(), faults: &providertest.Faults{
		Creates: isCall("POST", "/v2/droplets"),
		Throttle: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("ratelimit-reset", strconv.FormatInt(time.Now().Add(40*time.Second).Unix(), 10))
			(&call{w: headerless{w}}).refuse(429, "too_many_requests", "API Rate limit exceeded.")
		},
		Fail: func(w http.ResponseWriter, _ *http.Request, status int) {
			(&call{w: w}).refuse(status, "server_error", "Server was unable to give you a response.")
		},
	}}
	w.url = serve(t, w.faults.Wrap, func() *sim { return w.sim })
	return w
}

// headerless keeps when to come back as it was set.
type headerless struct{ http.ResponseWriter }

func (h headerless) Header() http.Header { return http.Header{} }

func (w *world) settings(more ...string) map[string]any {
	s := map[string]any{"token": simToken, "region": "fra1", "api_url": w.url}
	for i := 0; i+1 < len(more); i += 2 {
		s[more[i]] = more[i+1]
	}
	return s
}

func (w *world) open(t *testing.T, more ...string) *cloud {
	t.Helper()
	if err := Check(w.settings(more...)); err != nil {
		t.Fatal(err)
	}
	return w.openLate(t, quick, more...)
}

func (w *world) openLate(t *testing.T, times timing, more ...string) *cloud {
	t.Helper()
	c, err := open(w.settings(more...), times, account.Network{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// change does something to the account, and returns what undoes it.
func (w *world) change(do func(s *sim) (undo func())) func() (undo func()) {
	return func() func() {
		w.mu.Lock()
		undo := do(w.sim)
		w.mu.Unlock()
		return func() { w.mu.Lock(); undo(); w.mu.Unlock() }
	}
}

func set[K comparable, V any](m map[K]V, k K, v V) func() {
	old, had := m[k]
	m[k] = v
	return func() {
		if had {
			m[k] = old
		} else {
			delete(m, k)
		}
	}
}

func TestTheSuite(t *testing.T) {
	for name, more := range map[string][]string{
		"bare":          nil,
		"with a volume": {"data_disk_gb", "10", "vpc_uuid", simVPC, "ssh_keys", simKey + ", 512189", "monitoring", "true", "ipv6", "true", "dns_zone", "Suite.test."},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			h := w.harness(more)
			if more != nil {
				h.Judge = "simulated"
			}
			providertest.Run(t, h)
		})
	}
}

func (w *world) harness(more []string) providertest.Harness {
	reopen := func(t *testing.T) family.Provider { return w.open(t, more...) }
	token := func(s *sim) func() { old := s.token; s.token = "another"; return func() { s.token = old } }
	h := providertest.Harness{
		Open:   func(t *testing.T) family.Provider { w.sim = newSim(); return reopen(t) },
		Reopen: reopen,
		Flavor: "s-1vcpu-1gb",
		Image:  "debian-12-x64",
		Zone:   "fra1",
		Refuses: map[string]func(*family.MachineSpec){
			"a broken host key":    func(s *family.MachineSpec) { s.HostKey = []byte("no key") },
			"an unknown size":      func(s *family.MachineSpec) { s.Flavor.Flavor = "s-64vcpu" },
			"no size":              func(s *family.MachineSpec) { s.Flavor.Flavor = "" },
			"an unknown image":     func(s *family.MachineSpec) { s.Image.Image = "debian-3" },
			"an unknown region":    func(s *family.MachineSpec) { s.Zone = "mars1" },
			"a data disk of words": func(s *family.MachineSpec) { s.Flavor.Extra = map[string]string{"data_disk_gb": "large"} },
		},
		NoVolume: "506f78a4-e098-11e5-ad9f-000f53306ae1", NoMachine: "999999999", MakesVolume: isCall("POST", "/v2/volumes"),
		MakesImage: func(r *http.Request) bool {
			return r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/v2/droplets/") && strings.HasSuffix(r.URL.Path, "/actions")
		},
		NoSnapshot: "506f78a4-e098-11e5-ad9f-000f53306ae1", MakesSnapshot: func(r *http.Request) bool {
			return r.Method == "POST" && strings.HasSuffix(r.URL.Path, "/snapshots")
		},
		SnapshotOf: func(_ *testing.T, id string) string { w.mu.Lock(); defer w.mu.Unlock(); return w.sim.volumes[id].from },
		Faults:     w.faults,
		Late: func(t *testing.T) providertest.Late {
			w.sim = newSim()
			w.lag = 100 * time.Millisecond
			late := quick
			late.late, late.fresh = 2*w.lag, 10*w.lag
			return providertest.Late{Lag: w.lag, Open: func() family.Provider { return w.openLate(t, late, more...) }}
		},
		Refusals: []providertest.Refusal{
			{Name: "the droplet limit", Code: app.EQuota, Arrange: w.change(func(s *sim) func() { return set(s.account, "droplet_limit", 0) })},
			{Name: "a size that is sold out", Code: app.ECapacity, Arrange: w.change(func(s *sim) func() { return set(s.sizes["s-1vcpu-1gb"], "regions", any([]string{"nyc3"})) })},
			{Name: "a region that is closed", Code: app.ECapacity, Arrange: w.change(func(s *sim) func() { return set(s.regions["fra1"], "available", false) })},
			{Name: "a token that is revoked", Code: app.ECredentials, Arrange: w.change(token)},
			{Name: "a token that may not create", Code: app.ECredentials, Arrange: w.change(func(s *sim) func() { return set(s.lacks, "droplet:create", true) })},
			{Name: "a token that may not tag", Code: app.ECredentials, Arrange: w.change(func(s *sim) func() { return set(s.lacks, "tag:create", true) })},
			{Name: "an image that is in another region", Code: app.EInvalid, Arrange: w.change(func(s *sim) func() { return set(s.images[0], "regions", any([]string{"nyc3"})) })},
		},
		Partial: map[string]func(*http.Request) bool{
			"the look":      isCall("GET", "/v2/droplets"),
			"the firewalls": isCall("GET", "/v2/firewalls"),
			"the tag":       isCall("POST", "/v2/tags"),
			"the firewall":  isCall("POST", "/v2/firewalls"),
			"the droplet":   isCall("POST", "/v2/droplets"),
		},
		Firewall: &template.Firewall{Rules: []template.FirewallRule{{Protocol: "tcp", Ports: "443", From: []string{"0.0.0.0/0"}}, {Protocol: "udp", Ports: "8000-8100", From: []string{"203.0.113.7/24"}},
			{Protocol: "icmp", From: []string{"0.0.0.0/0", "::/0"}}}},
		Named:  func(_ *testing.T, name string) []string { return w.named(name) },
		Take:   func(_ *testing.T, name, kind, data string) { w.take(name, kind, data) },
		Behind: func(_ *testing.T, id string) []string { return w.behind(id) },
		Vanish: func(_ *testing.T, id string) { w.mu.Lock(); defer w.mu.Unlock(); w.vanish(atoi(id, 0)) },
		Left:   func(*testing.T) []string { return w.left() },
	}
	if more != nil {
		h.Partial["the volumes"] = isCall("GET", "/v2/volumes")
		h.Partial["the volume"] = isCall("POST", "/v2/volumes")
		h.Refusals = append(h.Refusals, providertest.Refusal{Name: "the volume limit", Code: app.EQuota, Arrange: w.change(func(s *sim) func() { return set(s.account, "volume_limit", 0) })},
			providertest.Refusal{Name: "a token that may not make volumes", Code: app.ECredentials, Arrange: w.change(func(s *sim) func() { return set(s.lacks, "block_storage:create", true) })})
	}
	h.Wrong = w.wrong(more)
	return h
}

// wrong are accounts in which something is not as it must be.
func (w *world) wrong(more []string) []providertest.Wrong {
	bad := func(name, about string, change func(s *sim) func(), also ...string) providertest.Wrong {
		return providertest.Wrong{Name: name, About: about, Open: func(t *testing.T) (family.Provider, func()) {
			return w.open(t, append(append([]string{}, more...), also...)...), w.change(change)()
		}}
	}
	nothing := func(*sim) func() { return func() {} }
	lacks := func(scope string) func(s *sim) func() {
		return func(s *sim) func() { return set(s.lacks, scope, true) }
	}
	out := []providertest.Wrong{
		bad("a wrong token", family.AboutCredentials, nothing, "token", "dop_v1_other"),
		bad("an account that is locked", family.AboutCredentials, func(s *sim) func() { return set(s.account, "status", "locked") }),
		bad("a region that is not there", family.AboutRegion, nothing, "region", "fra9", "vpc_uuid", ""),
		bad("a region that is closed", family.AboutRegion, nothing, "region", "sfo1", "vpc_uuid", ""),
		bad("a size that was retired", family.AboutFlavor, func(s *sim) func() { return set(s.sizes["s-1vcpu-1gb"], "available", false) }),
		bad("a size of other regions", family.AboutFlavor, func(s *sim) func() { return set(s.sizes["s-1vcpu-1gb"], "regions", any([]string{"nyc3"})) }),
		bad("an image of other regions", family.AboutImage, func(s *sim) func() { return set(s.images[0], "regions", any([]string{"nyc3"})) }),
		bad("an image that is too large", family.AboutImage, func(s *sim) func() { return set(s.images[0], "min_disk_size", 80) }),
		bad("an image that is not ready", family.AboutImage, func(s *sim) func() { return set(s.images[0], "status", "pending") }),
		bad("no droplets left", family.AboutQuota, func(s *sim) func() { return set(s.account, "droplet_limit", 1) }),
		bad("a VPC that is not there", family.AboutNetwork, nothing, "vpc_uuid", "5a4981aa-9653-4bd1-bef5-d6bff52042e5"),
		bad("a VPC of another region", family.AboutNetwork, nothing, "vpc_uuid", simVPC, "region", "nyc3"),
		bad("an SSH key that is not there", family.AboutNetwork, nothing, "ssh_keys", "99"),
		bad("a token that may not see droplets", family.AboutPermissions, lacks("droplet:read")),
		bad("a token that may not see sizes", family.AboutPermissions, lacks("sizes:read")),
		bad("a token that may not see regions", family.AboutPermissions, lacks("regions:read")),
		bad("a token that may not see images", family.AboutPermissions, lacks("image:read")),
		bad("a token that may not see tags", family.AboutPermissions, lacks("tag:read")),
	}
	if more != nil {
		out = append(out, bad("no volumes left", family.AboutQuota, func(s *sim) func() { return set(s.account, "volume_limit", 1) }),
			bad("a region without volumes", family.AboutRegion, func(s *sim) func() { return set(s.regions["fra1"], "features", any([]string{"ipv6"})) }),
			bad("a domain that is not there", family.AboutNetwork, nothing, "dns_zone", "other.test"),
			bad("a token that may not see domains", family.AboutPermissions, lacks("domain:read")),
			bad("a token that may not make records", family.AboutPermissions, lacks("domain:create")),
			bad("a token that may not see volumes", family.AboutPermissions, lacks("block_storage:read")))
	}
	return out
}
