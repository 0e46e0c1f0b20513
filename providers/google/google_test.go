package google

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/providers/google/internal/gcp"
	"muster/providers/internal/account"
	"muster/providers/providertest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quick are pauses for a cloud whose operations take milliseconds.
var quick = pauses{operation: 2 * time.Millisecond, machine: 2 * time.Millisecond}

// open returns an account on the cloud; settings go before the usual ones.
func (c *cloud) open(t *testing.T, settings map[string]any) *Provider {
	t.Helper()
	return c.openLate(t, settings, quick)
}

func (c *cloud) openLate(t *testing.T, settings map[string]any, pauses pauses) *Provider {
	t.Helper()
	s := map[string]any{"credentials": c.keyFile(), "zone": testZone, "api_url": c.server.URL + "/compute/v1/"}
	maps.Copy(s, settings)
	p, err := open("gce", s, c.server.URL+"/", pauses, account.Network{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// spec is a machine's.
func spec(t *testing.T, intent string) family.MachineSpec {
	t.Helper()
	s, _ := providertest.Harness{Flavor: "e2-medium", Image: "debian-12"}.Spec(t, intent)
	return s
}

func newFaults() *providertest.Faults {
	return &providertest.Faults{
		Creates: func(r *http.Request) bool {
			return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/instances")
		},
		Throttle: func(w http.ResponseWriter, _ *http.Request) {
			answer{http.StatusForbidden, "rateLimitExceeded", "Rate Limit Exceeded", nil}.write(w)
		},
		Fail: func(w http.ResponseWriter, _ *http.Request, status int) {
			answer{status, "backendError", "Backend Error", nil}.write(w)
		},
	}
}

func TestSuite(t *testing.T) {
	var c *cloud
	named := map[string]any{"dns_zone": "Suite.test."}
	faults := newFaults()
	post := func(suffix string) func(*http.Request) bool {
		return func(r *http.Request) bool {
			return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, suffix)
		}
	}
	refusal := func(name string, code app.Code, set, unset func()) providertest.Refusal {
		with := func(do func()) { c.mu.Lock(); defer c.mu.Unlock(); do() }
		return providertest.Refusal{Name: name, Code: code, Arrange: func() func() { with(set); return func() { with(unset) } }}
	}
	operation := func(name, code string, status int64, message string, want app.Code) providertest.Refusal {
		return refusal(name, want, func() { c.fails, c.failsWith = &gcp.OperationErrorItem{Code: code, Message: message}, status }, func() { c.fails = nil })
	}
	call := func(name string, want app.Code, a answer) providertest.Refusal {
		return refusal(name, want, func() { c.refuseNew = &a }, func() { c.refuseNew = nil })
	}
	everything := func(name string, want app.Code, a answer) providertest.Refusal {
		return refusal(name, want, func() { c.refuse = &a }, func() { c.refuse = nil })
	}
	providertest.Run(t, providertest.Harness{
		Judge: "simulated as described",
		Open: func(t *testing.T) family.Provider {
			c = newCloud(t, faults)
			return c.open(t, named)
		},
		Reopen:   func(t *testing.T) family.Provider { return c.open(t, named) },
		Vanish:   func(_ *testing.T, id string) { c.mu.Lock(); defer c.mu.Unlock(); delete(c.instances, id) },
		NoVolume: testZone + "/none", NoMachine: testZone + "/none", MakesVolume: post("/disks"), MakesImage: post("/global/images"),
		NoSnapshot: "none", MakesSnapshot: post("/createSnapshot"),
		SnapshotOf: func(_ *testing.T, id string) string {
			c.mu.Lock()
			defer c.mu.Unlock()
			return base(c.disks[id].SourceSnapshot)
		},
		SpoilSnapshots: func(_ *testing.T, n int) { c.mu.Lock(); defer c.mu.Unlock(); c.spoil = n },
		Flavor:         "e2-medium", Image: "debian-12", Zone: otherZone,
		Refuses: map[string]func(*family.MachineSpec){
			"an unknown flavor":           func(s *family.MachineSpec) { s.Flavor.Flavor = "z9-huge" },
			"a flavor that is no name":    func(s *family.MachineSpec) { s.Flavor.Flavor = "../x" },
			"an unknown image":            func(s *family.MachineSpec) { s.Image.Image = "debian-99" },
			"an image that is no name":    func(s *family.MachineSpec) { s.Image.Image = "a/b/c/d" },
			"a zone that is none":         func(s *family.MachineSpec) { s.Zone = "here" },
			"an unknown zone":             func(s *family.MachineSpec) { s.Zone = "europe-west9-z" },
			"a host key that is none":     func(s *family.MachineSpec) { s.HostKey = []byte("x") },
			"a user that is no name":      func(s *family.MachineSpec) { s.Image.SSHUser = "a b" },
			"a disk that is no number":    func(s *family.MachineSpec) { s.Flavor.Extra = map[string]string{"root_disk_gb": "big"} },
			"a subnetwork that is absent": func(s *family.MachineSpec) { s.Flavor.Extra = map[string]string{"subnetwork": "none"} },
		},
		Faults: faults,
		Late: func(t *testing.T) providertest.Late {
			c = newCloud(t, faults)
			c.lag = 100 * time.Millisecond
			late := quick
			late.late = 2 * c.lag
			return providertest.Late{Lag: c.lag, Open: func() family.Provider { return c.openLate(t, nil, late) }}
		},
		Refusals: []providertest.Refusal{
			operation("no room", "ZONE_RESOURCE_POOL_EXHAUSTED", 503, "The zone 'projects/acme-prod/zones/europe-west3-a' does not have enough resources available to fulfill the request.", app.ECapacity),
			operation("no room, with details", "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS", 503, "A e2-medium VM instance is currently unavailable in the europe-west3-a zone.", app.ECapacity),
			operation("quota", "QUOTA_EXCEEDED", 403, "Quota 'CPUS' exceeded.  Limit: 24.0 in region europe-west3.", app.EQuota),
			operation("no addresses left", "IP_SPACE_EXHAUSTED", 400, "IP space of 'projects/acme-prod/regions/europe-west3/subnetworks/default' is exhausted.", app.ECapacity),
			operation("may not use an account", "PERMISSIONS_ERROR", 403, "Required 'iam.serviceAccounts.actAs' permission for 'x'", app.ECredentials),
			operation("internal", "INTERNAL_ERROR", 500, "Internal error. Please try again or contact Google Support.", app.ETransient),
			operation("unsupported", "UNSUPPORTED_OPERATION", 400, "[pd-ssd] features are not compatible for creating instance.", app.EInvalid),
			call("quota at once", app.EQuota, answer{403, "quotaExceeded", "Quota 'INSTANCES' exceeded.  Limit: 24.0", nil}),
			call("no permission", app.ECredentials, denied("compute.instances.create", "projects/acme-prod/zones/europe-west3-a/instances/x")),
			call("too many calls", app.ERateLimit, answer{429, "rateLimitExceeded", "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute'", nil}),
			call("too many calls, in the newer form", app.ERateLimit, answer{403, "forbidden", "Quota exceeded for quota metric", []any{map[string]any{
				"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "RATE_LIMIT_EXCEEDED", "domain": "googleapis.com"}}}),
			call("in use", app.ETransient, answer{400, "resourceInUseByAnotherResource", "The disk resource is already being used", nil}),
			everything("the API is not enabled", app.ECredentials, answer{403, "accessNotConfigured", "Compute Engine API has not been used in project 1 before or it is disabled.", nil}),
			everything("the token is not taken", app.ECredentials, answer{401, "authError", "Request had invalid authentication credentials.", nil}),
		},
		Partial: map[string]func(*http.Request) bool{
			"operation":           func(r *http.Request) bool { return post("/wait")(r) && strings.Contains(r.URL.Path, "/zones/") },
			"rule":                post("/firewalls"),
			"operation of a rule": func(r *http.Request) bool { return post("/wait")(r) && strings.Contains(r.URL.Path, "/global/") },
			"the machine's address": func(r *http.Request) bool {
				return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/instances/life") || r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/instances/partial")
			},
		},
		Firewall: &template.Firewall{Rules: []template.FirewallRule{{Protocol: "tcp", Ports: "443", From: []string{"0.0.0.0/0", "::/0"}}, {Protocol: "icmp", From: []string{"0.0.0.0/0"}}}},
		Reads: func(r *http.Request) bool {
			return r.Method == http.MethodGet || strings.HasSuffix(r.URL.Path, "/wait")
		},
		Named: func(_ *testing.T, name string) []string { return c.named(name) },
		Take:  func(_ *testing.T, name, kind, data string) { c.take(name, kind, data) },
		Behind: func(_ *testing.T, id string) (names []string) {
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, i := range c.instances {
				for name, rule := range c.firewalls {
					if i.Name == base(id) && slices.ContainsFunc(rule.TargetTags, func(tag string) bool { return slices.Contains(i.Tags.Items, tag) }) {
						names = append(names, name)
					}
				}
			}
			return names
		},
		Left: func(*testing.T) []string {
			c.mu.Lock()
			defer c.mu.Unlock()
			left := append(slices.Collect(maps.Keys(c.instances)), slices.Collect(maps.Keys(c.firewalls))...)
			left = append(left, slices.Collect(maps.Keys(c.disks))...)
			left = append(left, slices.Collect(maps.Keys(c.copies))...)
			for path, i := range c.images {
				if i.SourceDisk != "" {
					left = append(left, path)
				}
			}
			for _, s := range c.sets {
				if strings.HasPrefix(s.Name, "_muster.") {
					left = append(left, s.Name)
				}
			}
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
				c.mu.Lock()
				defer c.mu.Unlock()
				spoil(c)
			}
			return p, func() {}
		}}
	}
	return []providertest.Wrong{
		wrong("a key that was revoked", family.AboutCredentials, nil, func(c *cloud) { c.revoked = true }),
		wrong("a token that is not taken", family.AboutCredentials, nil, func(c *cloud) {
			c.refuse = &answer{401, "authError", "Request had invalid authentication credentials.", nil}
		}),
		wrong("another project", family.AboutSettings, map[string]any{"project": "another-one"}, nil),
		wrong("the API is not enabled", family.AboutPermissions, nil, func(c *cloud) {
			c.refuse = &answer{403, "accessNotConfigured", "Compute Engine API has not been used in project 1 before or it is disabled.", nil}
		}),
		wrong("no role in the project", family.AboutPermissions, nil, func(c *cloud) {
			a := denied("compute.projects.get", "projects/acme-prod")
			c.refuse = &a
		}),
		wrong("a permission is missing", family.AboutPermissions, nil, func(c *cloud) { delete(c.granted, "compute.instances.create") }),
		wrong("records may not be made", family.AboutPermissions, map[string]any{"dns_zone": "suite.test"}, func(c *cloud) { delete(c.granted, "dns.resourceRecordSets.create") }),
		wrong("a DNS zone that is none", family.AboutNetwork, map[string]any{"dns_zone": "other.test"}, nil),
		wrong("a DNS zone that two are", family.AboutNetwork, map[string]any{"dns_zone": "suite.test"}, func(c *cloud) {
			c.managed = append(c.managed, &gcp.ManagedZone{Name: "again", DNSName: "suite.test.", Visibility: "public"})
		}),
		wrong("firewalls may not be made", family.AboutPermissions, nil, func(c *cloud) { delete(c.granted, "compute.networks.updatePolicy") }),
		wrong("may not act as the machines' account", family.AboutPermissions, map[string]any{"service_account": "a@b"}, func(c *cloud) { delete(c.granted, "iam.serviceAccounts.actAs") }),
		wrong("a zone that is none", family.AboutRegion, map[string]any{"zone": "europe-west9-z"}, nil),
		wrong("a zone that is down", family.AboutRegion, nil, func(c *cloud) { c.zones[testZone] = "DOWN" }),
		wrong("a network that is none", family.AboutNetwork, map[string]any{"network": "none"}, nil),
		wrong("a network without subnetworks", family.AboutNetwork, map[string]any{"network": "own"}, nil),
		wrong("a subnetwork that is none", family.AboutNetwork, map[string]any{"network": "own", "subnetwork": "none"}, nil),
		wrong("a type of disk that is none", family.AboutSettings, map[string]any{"root_disk_type": "hyperdisk-extreme"}, nil),
		wrong("a machine type that is obsolete", family.AboutFlavor, nil, func(c *cloud) { c.types["e2-medium"].Deprecated = &gcp.Deprecation{State: "OBSOLETE"} }),
		wrong("an image larger than the disk", family.AboutImage, map[string]any{"root_disk_gb": 5}, nil),
		wrong("an image for other processors", family.AboutImage, nil, func(c *cloud) { c.types["e2-medium"].Architecture = "ARM64" }),
		wrong("no CPUs left", family.AboutQuota, nil, func(c *cloud) { c.quotas["CPUS"] = 4 }),
		wrong("no CPUs left anywhere", family.AboutQuota, nil, func(c *cloud) { c.everywhere = 7 }),
		wrong("no addresses left", family.AboutQuota, nil, func(c *cloud) { c.quotas["IN_USE_ADDRESSES"] = 2 }),
		wrong("no disks left", family.AboutQuota, nil, func(c *cloud) { c.quotas["SSD_TOTAL_GB"] = 30 }),
	}
}

// only returns the one machine of the cloud.
func (c *cloud) only(t *testing.T) *gcp.Instance {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.instances) != 1 {
		t.Fatalf("%d machines", len(c.instances))
	}
	for _, i := range c.instances {
		b, _ := json.Marshal(i)
		var out gcp.Instance
		if err := json.Unmarshal(b, &out); err != nil {
			t.Fatal(err)
		}
		return &out
	}
	return nil
}
