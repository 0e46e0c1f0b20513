package azure

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	"go.uber.org/goleak"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/providers/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quick = pauses{poll: 2 * time.Millisecond, late: 20 * time.Millisecond, prices: 10 * time.Second}

// world is a simulated Azure that tests open, and spoil.
type world struct {
	*sim
	srv    *httptest.Server
	faults *providertest.Faults
}

// changes reports whether a request changes a resource of a kind.
func changes(method, kind string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
		return r.Method == method && len(parts) == 8 && parts[6] == kind
	}
}

func reads(r *http.Request) bool {
	return r.Method == http.MethodGet || strings.HasSuffix(r.URL.Path, "/oauth2/v2.0/token")
}

func newWorld(t *testing.T) *world {
	w := &world{sim: newSim(), faults: &providertest.Faults{
		Creates: changes("PUT", "virtualMachines"),
		Throttle: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "17")
			answerError(w, &simError{429, "TooManyRequests", "The request is being throttled as the limit has been reached."})
		},
		Fail: func(w http.ResponseWriter, _ *http.Request, status int) {
			answerError(w, &simError{status, "ServerTimeout", "The request timed out."})
		},
	}}
	w.srv = serve(t, w.faults.Wrap, func() *sim { return w.sim })
	t.Cleanup(func() {
		for _, text := range append(w.wrong, w.prices.wrong...) {
			t.Errorf("Azure would not have taken this: %s", text)
		}
	})
	return w
}

func (w *world) settings(more ...string) map[string]any {
	s := map[string]any{"directory_id": simDirectory, "client_id": simClient, "client_secret": simSecret, "subscription_id": simSubscription, "resource_group": simGroup,
		"location": simLocation, "subnet": "vnet/default", "api_url": w.srv.URL, "login_url": w.srv.URL}
	for i := 0; i+1 < len(more); i += 2 {
		s[more[i]] = more[i+1]
	}
	return s
}

func (w *world) open(t *testing.T, more ...string) *group { return w.openLate(t, quick, more...) }

func (w *world) openLate(t *testing.T, p pauses, more ...string) *group {
	t.Helper()
	transport := w.srv.Client().Transport.(*http.Transport).Clone()
	g, err := open(w.settings(more...), p, transport)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
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
		"bare":             nil,
		"with all":         {"data_disk_gb", "10", "root_disk_gb", "40", "dns_zone", "Suite.test.", "disk_type", "Premium_LRS"},
		"inside, and spot": {"public_ip", "false", "spot", "fallback"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			h := w.harness(more)
			if name == "with all" {
				h.Judge = "the SDK's fakes"
			}
			providertest.Run(t, h)
		})
	}
}

func (w *world) harness(more []string) providertest.Harness {
	reopen := func(t *testing.T) family.Provider { return w.open(t, more...) }
	renew := func() { wrong := w.wrong; w.sim = newSim(); w.wrong = wrong }
	refuse := func(name string, code app.Code, status int, azure, message string) providertest.Refusal {
		return providertest.Refusal{Name: name, Code: code, Arrange: w.change(func(s *sim) func() {
			return set(s.refuse, "PUT virtualMachines", &simError{status, azure, message})
		})}
	}
	fail := func(name string, code app.Code, azure, message string) providertest.Refusal {
		return providertest.Refusal{Name: name, Code: code, Arrange: w.change(func(s *sim) func() {
			return set(s.fails, "create", &simError{409, azure, message})
		})}
	}
	h := providertest.Harness{
		Open:   func(t *testing.T) family.Provider { renew(); return reopen(t) },
		Reopen: reopen,
		Flavor: simSize,
		Image:  simImage,
		Zone:   simLocation + "-2",
		Refuses: map[string]func(*family.MachineSpec){
			"a broken host key":    func(s *family.MachineSpec) { s.HostKey = []byte("no key") },
			"an unknown size":      func(s *family.MachineSpec) { s.Flavor.Flavor = "Standard_Z99" },
			"no size":              func(s *family.MachineSpec) { s.Flavor.Flavor = "" },
			"a size of words":      func(s *family.MachineSpec) { s.Flavor.Flavor = "the large one" },
			"an unknown image":     func(s *family.MachineSpec) { s.Image.Image = "Debian:debian-3:3:latest" },
			"an image of words":    func(s *family.MachineSpec) { s.Image.Image = "debian" },
			"an unknown zone":      func(s *family.MachineSpec) { s.Zone = "marswest-1" },
			"a zone without it":    func(s *family.MachineSpec) { s.Zone = simLocation + "-9" },
			"a data disk of words": func(s *family.MachineSpec) { s.Flavor.Extra = map[string]string{"data_disk_gb": "large"} },
			"a tag that is long":   func(s *family.MachineSpec) { s.Tags["note"] = strings.Repeat("x", 257) },
		},
		Faults: w.faults,
		Reads:  reads,
		Late: func(t *testing.T) providertest.Late {
			renew()
			w.lag = 150 * time.Millisecond
			late := quick
			late.late = 2 * w.lag
			return providertest.Late{Lag: w.lag, Open: func() family.Provider { return w.openLate(t, late, more...) }}
		},
		Refusals: []providertest.Refusal{
			refuse("a size that is sold out", app.ECapacity, 409, "SkuNotAvailable", "The requested VM size is currently not available in location westeurope."),
			refuse("the core quota", app.EQuota, 409, "OperationNotAllowed", "Operation could not be completed as it results in exceeding approved Total Regional Cores quota."),
			refuse("a missing role", app.ECredentials, 403, "AuthorizationFailed", "The client does not have authorization to perform action 'Microsoft.Compute/virtualMachines/write'."),
			refuse("a policy", app.EInvalid, 403, "RequestDisallowedByPolicy", "Resource was disallowed by policy."),
			refuse("a missing image", app.EInvalid, 404, "PlatformImageNotFound", "The platform image is not available."),
			fail("no room", app.ECapacity, "AllocationFailed", "Allocation failed. We do not have sufficient capacity for the requested VM size in this region."),
			fail("no room in the zone", app.ECapacity, "ZonalAllocationFailed", "Allocation failed. We do not have sufficient capacity for the requested VM size in this zone."),
			fail("no room as wanted", app.ECapacity, "OverconstrainedAllocationRequest", "The VM size cannot be provisioned with the constraints."),
			{Name: "a subnet that is full", Code: app.ECapacity, Arrange: w.change(func(s *sim) func() {
				return set(s.refuse, "PUT networkInterfaces", &simError{400, "SubnetIsFull", "Subnet default does not have enough capacity."})
			})},
			{Name: "a subnet that is gone", Code: app.EInvalid, Arrange: w.change(func(s *sim) func() {
				old := s.subnets["vnet/default"]
				delete(s.subnets, "vnet/default")
				return func() { s.subnets["vnet/default"] = old }
			})},
			{Name: "a secret that is revoked", Code: app.ECredentials, Arrange: w.change(func(s *sim) func() { old := s.secret; s.secret = "another"; return func() { s.secret = old } })},
			{Name: "a resource group that is gone", Code: app.EInvalid, Arrange: w.change(func(s *sim) func() { old := s.group; s.group = "another"; return func() { s.group = old } })},
		},
		Partial: map[string]func(*http.Request) bool{
			"the look":                       func(r *http.Request) bool { return changes("GET", "virtualMachines")(r) },
			"the application security group": changes("PUT", "applicationSecurityGroups"),
			"the security group":             changes("PUT", "networkSecurityGroups"),
			"the interface":                  changes("PUT", "networkInterfaces"),
			"the machine":                    changes("PUT", "virtualMachines"),
			"an operation":                   func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/operations/") },
		},
		Firewall: &template.Firewall{Rules: []template.FirewallRule{{Protocol: "tcp", Ports: "443", From: []string{"0.0.0.0/0", "::/0"}}, {Protocol: "udp", Ports: "8000-8100", From: []string{"203.0.113.7/24"}},
			{Protocol: "icmp", From: []string{"0.0.0.0/0", "::/0"}}}},
		Behind: func(_ *testing.T, id string) []string { return w.behind(id) },
		Named:  func(_ *testing.T, name string) []string { return w.named(name) },
		Take:   func(_ *testing.T, name, kind, data string) { w.take(name, kind, data) },
		Vanish: func(_ *testing.T, id string) { w.mu.Lock(); defer w.mu.Unlock(); w.vanish(id) },
		Left:   func(*testing.T) []string { return w.left() },
	}
	if !slices.Contains(more, "public_ip") {
		h.Partial["the address"] = changes("PUT", "publicIPAddresses")
		h.Refusals = append(h.Refusals, providertest.Refusal{Name: "the address quota", Code: app.EQuota, Arrange: w.change(func(s *sim) func() {
			return set(s.usage, "StandardSkuPublicIpAddresses", [2]int{0, 0})
		})})
	}
	h.Wrong = w.wrongAccounts(more)
	return h
}

// behind returns the firewalls in front of a machine: both groups must be there.
func (w *world) behind(id string) (out []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.cards.is[cardName(id)]
	if c == nil || c.Properties.NetworkSecurityGroup == nil {
		return nil
	}
	name := base(c.Properties.NetworkSecurityGroup.ID)
	for _, m := range c.Properties.IPConfigurations[0].Properties.ApplicationSecurityGroups {
		if base(m.ID) == name {
			out = append(out, name)
		}
	}
	return out
}

func (w *world) named(name string) (out []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	short := strings.TrimSuffix(strings.ToLower(name), ".suite.test")
	for _, kind := range []string{"A", "AAAA", "CNAME"} {
		if r := w.records[kind+"/"+short]; r != nil {
			for _, v := range (zone{&group{settings: settings{zone: "suite.test"}}}).set(*r).Values {
				out = append(out, kind+" "+v)
			}
		}
	}
	slices.Sort(out)
	return out
}

func (w *world) take(name, kind, data string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	short := strings.TrimSuffix(strings.ToLower(name), ".suite.test")
	r := &recordSet{Name: short, Type: "Microsoft.Network/dnszones/" + kind}
	r.Properties.TTL = 300
	switch kind {
	case "A":
		r.Properties.A = []recordA{{data}}
	case "AAAA":
		r.Properties.AAAA = []recordAAAA{{data}}
	default:
		r.Properties.CNAME = &recordCNAME{data}
	}
	w.records[kind+"/"+short] = r
}

// left names all that costs money or blocks others.
func (w *world) left() (out []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for kind, names := range map[string]func(yield func(string) bool){"vm": keysOf(w.vms.is), "disk": keysOf(w.disks.is), "nic": keysOf(w.cards.is), "ip": keysOf(w.ips.is),
		"nsg": keysOf(w.walls.is), "asg": keysOf(w.members.is)} {
		for n := range names {
			out = append(out, kind+" "+n)
		}
	}
	for k := range w.records {
		if strings.Contains(k, "_muster") {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

// wrongAccounts are accounts in which something is not as it must be.
func (w *world) wrongAccounts(more []string) []providertest.Wrong {
	bad := func(name, about string, change func(s *sim) func(), also ...string) providertest.Wrong {
		return providertest.Wrong{Name: name, About: about, Open: func(t *testing.T) (family.Provider, func()) {
			undo := w.change(change)()
			return w.open(t, append(append([]string{}, more...), also...)...), undo
		}}
	}
	nothing := func(*sim) func() { return func() {} }
	says := func(text string) func(s *sim) func() {
		return func(s *sim) func() { s.signIn = text; return func() { s.signIn = "" } }
	}
	denied := func(action string) func(s *sim) func() {
		return func(s *sim) func() { return set(s.denied, action, true) }
	}
	restricted := func(kind armcompute.ResourceSKURestrictionsType, zones ...string) func(s *sim) func() {
		return func(s *sim) func() {
			size := *s.sizes[simSize]
			info := &armcompute.ResourceSKURestrictionInfo{}
			for _, z := range zones {
				info.Zones = append(info.Zones, ref(z))
			}
			size.Restrictions = []*armcompute.ResourceSKURestrictions{{Type: &kind, RestrictionInfo: info, ReasonCode: ref(armcompute.ResourceSKURestrictionsReasonCodeNotAvailableForSubscription)}}
			return set(s.sizes, simSize, &size)
		}
	}
	without := func(subnet string) func(s *sim) func() {
		return func(s *sim) func() {
			old := s.subnets[subnet]
			delete(s.subnets, subnet)
			return func() { s.subnets[subnet] = old }
		}
	}
	cores := "cores"
	out := []providertest.Wrong{
		bad("a wrong secret", family.AboutCredentials, nothing, "client_secret", "other"),
		bad("a secret that has expired", family.AboutCredentials, says("AADSTS7000222: The provided client secret keys for app are expired.")),
		bad("an unknown application", family.AboutCredentials, nothing, "client_id", "44444444-2222-4222-8222-222222222222"),
		bad("an unknown subscription", family.AboutSettings, nothing, "subscription_id", "44444444-3333-4333-8333-333333333333"),
		bad("an unknown resource group", family.AboutSettings, nothing, "resource_group", "other"),
		bad("an unknown location", family.AboutRegion, nothing, "location", "marswest"),
		bad("an unknown network", family.AboutNetwork, nothing, "subnet", "nope/default"),
		bad("an unknown subnet", family.AboutNetwork, without("vnet/default")),
		bad("a network elsewhere", family.AboutNetwork, nothing, "subnet", "far/default"),
		bad("a role that can't start machines", family.AboutPermissions, denied("Microsoft.Compute/virtualMachines/start/action")),
		bad("a role that can't see sizes", family.AboutPermissions, denied("GET skus")),
		bad("a size that isn't sold to them", family.AboutFlavor, restricted(armcompute.ResourceSKURestrictionsTypeLocation)),
		bad("a size that isn't sold in the zone", family.AboutFlavor, restricted(armcompute.ResourceSKURestrictionsTypeZone, "2")),
		bad("an image that is gone", family.AboutImage, func(s *sim) func() { return set(s.images, "Debian/debian-12/12-gen2", false) }),
		bad("an image with a plan", family.AboutImage, func(s *sim) func() { return set(s.images, "plan", true) }),
		bad("no cores left", family.AboutQuota, func(s *sim) func() { return set(s.usage, cores, [2]int{98, 100}) }),
		bad("no cores of the family left", family.AboutQuota, func(s *sim) func() { return set(s.usage, "standardBSFamily", [2]int{0, 3}) }),
	}
	if slices.Contains(more, "dns_zone") {
		out = append(out, bad("an unknown DNS zone", family.AboutNetwork, nothing, "dns_zone", "other.test"),
			bad("a role that can't write records", family.AboutPermissions, denied("Microsoft.Network/dnsZones/A/write")))
	}
	return out
}
