package aws

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"muster/app"
	appfamily "muster/app/family"
	"muster/app/template"
	"muster/providers/internal/account"
	"muster/providers/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quick has what the simulated EC2 needs milliseconds for waited for so long.
var quick = tuning{late: 70 * time.Millisecond, poll: 8 * time.Millisecond, page: 5, apart: time.Millisecond, sets: time.Minute, turn: 5 * time.Minute}

// asks reports whether a call is one of an action; with a field, one that has it.
func asks(action string, field ...string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		body, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		f, bad := url.ParseQuery(string(body))
		return err == nil && bad == nil && f.Get("Action") == action && f.Get("DryRun") != "true" && (len(field) == 0 || f.Has(field[0]))
	}
}

// reads reports whether a call changes nothing: those of EC2 by their action.
func reads(r *http.Request) bool {
	if r.Method == http.MethodGet {
		return true
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	f, bad := url.ParseQuery(string(body))
	return err == nil && bad == nil && strings.HasPrefix(f.Get("Action"), "Describe")
}

// region is a simulated EC2 with faults in front of it.
type testRegion struct {
	sim    *simulated
	faults *providertest.Faults
	server *httptest.Server
}

func newRegion(t testing.TB) *testRegion {
	r := &testRegion{sim: simulate(), faults: &providertest.Faults{Creates: asks("RunInstances"),
		Throttle: func(w http.ResponseWriter, q *http.Request) {
			if dnsAction(q) != "" {
				answerDNS(w, http.StatusBadRequest, "Throttling", "Rate exceeded", false)
				return
			}
			answerError(w, http.StatusServiceUnavailable, "RequestLimitExceeded", "Request limit exceeded.")
		},
		Fail: func(w http.ResponseWriter, q *http.Request, status int) {
			if dnsAction(q) != "" {
				answerDNS(w, status, map[int]string{http.StatusServiceUnavailable: "ServiceUnavailable", http.StatusInternalServerError: "InternalFailure"}[status], "Service is unavailable", false)
				return
			}
			answerError(w, status, map[int]string{http.StatusServiceUnavailable: "Unavailable", http.StatusInternalServerError: "InternalError"}[status], "The server is overloaded and can't handle the request.")
		}}}
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { r.faults.Wrap(r.sim).ServeHTTP(w, q) }))
	t.Cleanup(r.server.Close)
	return r
}

func (r *testRegion) settings(more map[string]any) map[string]any {
	s := map[string]any{"region": "eu-test-1", "access_key_id": "AKIDGOOD", "secret_access_key": "good/secret+1", "api_url": r.server.URL, "sts_url": r.server.URL, "route53_url": r.server.URL}
	maps.Copy(s, more)
	return s
}

func (r *testRegion) open(t testing.TB, more map[string]any) *cloud {
	t.Helper()
	return r.openLate(t, more, quick)
}

func (r *testRegion) openLate(t testing.TB, more map[string]any, tuning tuning) *cloud {
	t.Helper()
	c, err := open(t.Context(), r.settings(more), tuning, account.Network{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// reset empties the account, but for what it has from the beginning.
func (r *testRegion) reset() {
	fresh := simulate()
	r.sim.mu.Lock()
	defer r.sim.mu.Unlock()
	next := r.sim.next
	r.sim.machines, r.sim.tokens, r.sim.groups, r.sim.subnets, r.sim.denied, r.sim.refuse, r.sim.zones = nil, fresh.tokens, fresh.groups, fresh.subnets, fresh.denied, fresh.refuse, fresh.zones
	r.sim.next, r.sim.disks, r.sim.copies = next, nil, nil
}

// lags sets for how long EC2 does not show what was made, and returns what it was before.
func (r *testRegion) lags(d time.Duration) (before time.Duration) {
	r.sim.mu.Lock()
	defer r.sim.mu.Unlock()
	before, r.sim.lag = r.sim.lag, d
	return before
}

func (r *testRegion) refuse(action, code, message string) (undo func()) {
	r.sim.mu.Lock()
	defer r.sim.mu.Unlock()
	r.sim.refuse[action] = &refusal{code, message}
	return func() {
		r.sim.mu.Lock()
		defer r.sim.mu.Unlock()
		delete(r.sim.refuse, action)
	}
}

// behind returns the names of the groups that an instance is in.
func (r *testRegion) behind(id string) (out []string) {
	r.sim.mu.Lock()
	defer r.sim.mu.Unlock()
	for _, i := range r.sim.machines {
		for _, g := range i.groups {
			if i.id == id {
				out = append(out, r.sim.groupByID(g).name)
			}
		}
	}
	return out
}

// vanish has an instance be gone as EC2 has it long after it was terminated in the console: not even its id is known.
func (r *testRegion) vanish(id string) {
	r.sim.mu.Lock()
	defer r.sim.mu.Unlock()
	r.sim.machines = slices.DeleteFunc(r.sim.machines, func(i *simInstance) bool { return i.id == id })
}

func (r *testRegion) left() (out []string) {
	r.sim.mu.Lock()
	defer r.sim.mu.Unlock()
	for _, i := range r.sim.machines {
		if i.ended.IsZero() {
			out = append(out, i.id)
		}
	}
	for _, d := range r.sim.disks {
		if d.ended.IsZero() {
			out = append(out, d.id)
		}
	}
	for _, x := range r.sim.copies {
		out = append(out, x.id)
	}
	for _, i := range r.sim.images {
		if i.copy != "" {
			out = append(out, i.id)
		}
	}
	for _, g := range r.sim.groups {
		if !g.own {
			out = append(out, g.id)
		}
	}
	for _, z := range r.sim.zones {
		for _, s := range z.sets {
			if strings.HasPrefix(s.Name, "_muster.") {
				out = append(out, s.Type+" "+s.Name)
			}
		}
	}
	return out
}

func TestAWSPassesTheSuite(t *testing.T) {
	r := newRegion(t)
	open := func(t *testing.T) appfamily.Provider { return r.open(t, map[string]any{"dns_zone": "Suite.test."}) }
	refusals := []providertest.Refusal{}
	for code, want := range map[string]struct {
		code    app.Code
		message string
	}{
		"InsufficientInstanceCapacity":      {app.ECapacity, "We currently do not have sufficient t9.small capacity in the Availability Zone you requested (eu-test-1a)."},
		"InsufficientFreeAddressesInSubnet": {app.ECapacity, "There are not enough free addresses in subnet 'subnet-0000000a' to satisfy the requested number of instances."},
		"Unsupported":                       {app.ECapacity, "Your requested instance type (t9.small) is not supported in your requested Availability Zone (eu-test-1a)."},
		"VcpuLimitExceeded":                 {app.EQuota, "You have requested more vCPU capacity than your current vCPU limit of 32 allows for the instance bucket that the specified instance type belongs to."},
		"InstanceLimitExceeded":             {app.EQuota, "You have requested more instances (21) than your current instance limit of 20 allows for the specified instance type."},
		"VolumeLimitExceeded":               {app.EQuota, "You have exceeded your maximum gp3 storage limit in this region."},
		"UnauthorizedOperation":             {app.ECredentials, "You are not authorized to perform this operation."},
		"AuthFailure":                       {app.ECredentials, "AWS was not able to validate the provided access credentials"},
		"OptInRequired":                     {app.ECredentials, "In order to use this AWS Marketplace product you need to accept terms and subscribe."},
		"InvalidParameterValue":             {app.EInvalid, "Value (x) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name"},
		"InvalidKeyPair.NotFound":           {app.EInvalid, "The key pair 'x' does not exist"},
		"InternalError":                     {app.ETransient, "An internal error has occurred"},
	} {
		refusals = append(refusals, providertest.Refusal{Name: code, Code: want.code, Arrange: func() func() { return r.refuse("RunInstances", code, want.message) }})
	}
	providertest.Run(t, providertest.Harness{
		Judge: "simulated as described",
		Open: func(t *testing.T) appfamily.Provider {
			r.reset()
			return open(t)
		},
		Reopen: open,
		Flavor: "t9.small",
		Image:  "ami-0000000a",
		Zone:   "eu-test-1b",
		Refuses: map[string]func(*appfamily.MachineSpec){
			"an unknown flavor":             func(s *appfamily.MachineSpec) { s.Flavor.Flavor = "x9.unknown" },
			"no flavor":                     func(s *appfamily.MachineSpec) { s.Flavor.Flavor = "" },
			"an unknown image":              func(s *appfamily.MachineSpec) { s.Image.Image = "ami-99999999" },
			"an image by a name":            func(s *appfamily.MachineSpec) { s.Image.Image = "debian" },
			"an image of any owner":         func(s *appfamily.MachineSpec) { s.Image.Image = "name:debian-12-amd64-*" },
			"an image that is not ready":    func(s *appfamily.MachineSpec) { s.Image.Image = "ami-0000000d" },
			"an image of another kind":      func(s *appfamily.MachineSpec) { s.Image.Image = "ami-0000000c" },
			"a broken host key":             func(s *appfamily.MachineSpec) { s.HostKey = []byte("not a key") },
			"an unknown zone":               func(s *appfamily.MachineSpec) { s.Zone = "eu-test-1z" },
			"a tag that is too long":        func(s *appfamily.MachineSpec) { s.Tags["note"] = strings.Repeat("x", 257) },
			"a tag's name that is too long": func(s *appfamily.MachineSpec) { s.Tags[strings.Repeat("x", 129)] = "" },
			"a tag that AWS keeps":          func(s *appfamily.MachineSpec) { s.Tags["aws:note"] = "x" },
			"a tag of our own":              func(s *appfamily.MachineSpec) { s.Tags[tagHostname] = "x" },
			"too many tags": func(s *appfamily.MachineSpec) {
				for c := range 50 {
					s.Tags["t"+string(rune('a'+c))] = "x"
				}
			},
			"a root disk that is too small": func(s *appfamily.MachineSpec) { s.Flavor.Extra = map[string]string{"root_disk_gb": "4"} },
			"a disk without a size":         func(s *appfamily.MachineSpec) { s.Flavor.Extra = map[string]string{"data_disk_gb": "big"} },
			"a firewall of another kind": func(s *appfamily.MachineSpec) {
				s.Firewall = &template.Firewall{Rules: []template.FirewallRule{{Protocol: "gre", From: []string{"0.0.0.0/0"}}}}
			},
			"a firewall without ports": func(s *appfamily.MachineSpec) {
				s.Firewall = &template.Firewall{Rules: []template.FirewallRule{{Protocol: "tcp", From: []string{"0.0.0.0/0"}}}}
			},
		},
		Faults: r.faults,
		Late: func(t *testing.T) providertest.Late {
			const lag = 100 * time.Millisecond
			r.reset()
			usual := r.lags(lag)
			t.Cleanup(func() { r.lags(usual) })
			late := quick
			late.late = 2 * lag
			return providertest.Late{Lag: lag, Open: func() appfamily.Provider { return r.openLate(t, nil, late) }}
		},
		Reads:    reads,
		NoVolume: "vol-00000000000000000", NoMachine: "i-00000000000000000", MakesVolume: asks("CreateVolume"), MakesImage: asks("CreateImage"),
		NoSnapshot: "snap-00000000000000000", MakesSnapshot: asks("CreateSnapshot"),
		SnapshotOf:     func(_ *testing.T, id string) string { return r.snapshotOf(id) },
		SpoilSnapshots: func(_ *testing.T, n int) { r.sim.mu.Lock(); defer r.sim.mu.Unlock(); r.sim.spoil = n },
		Refusals:       refusals,
		Partial: map[string]func(*http.Request) bool{
			"the look at the image":   asks("DescribeImages"),
			"the look at the subnets": asks("DescribeSubnets"),
			"the look at the group":   asks("DescribeSecurityGroups"),
			"the group":               asks("CreateSecurityGroup"),
			"the group's rules":       asks("AuthorizeSecurityGroupIngress"),
			"the look afterwards":     asks("DescribeInstances", "InstanceId.1"),
		},
		Firewall: &template.Firewall{Rules: []template.FirewallRule{{Protocol: "tcp", Ports: "443", From: []string{"0.0.0.0/0", "::/0"}}, {Protocol: "udp", Ports: "8000-8100", From: []string{"10.1.2.3/8"}},
			{Protocol: "icmp", From: []string{"0.0.0.0/0", "2001:db8::/32"}}}},
		Behind: func(_ *testing.T, id string) []string { return r.behind(id) },
		Vanish: func(_ *testing.T, id string) { r.vanish(id) },
		Named:  func(_ *testing.T, name string) []string { return r.named(name) },
		Take:   func(_ *testing.T, name, kind, data string) { r.take(name, kind, data) },
		Left:   func(*testing.T) []string { return r.left() },
		Wrong:  wrongAccounts(r),
	})
}
