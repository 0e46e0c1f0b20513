//go:build real && openstack && linux

package openstackreal

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/providers/internal/account"
	"muster/providers/openstack"
	"muster/providers/providertest"
)

// settings of the account, with changes.
func settings(changes map[string]any) map[string]any {
	out := map[string]any{"auth_url": address(publicKeystone) + "/v3", "username": demo, "password": demoSecret, "project": demo, "region": "RegionOne",
		"networks": "private", "floating_network": "public", "ssh_from": "192.0.2.0/24"}
	maps.Copy(out, changes)
	return out
}

func open(t *testing.T, changes map[string]any) family.Provider {
	t.Helper()
	p, err := openstack.Open("cloud", settings(changes), account.Network{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// clear removes what a test left, and wants nothing to be there then.
func clear(t *testing.T, p family.Provider) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	all, err := p.List(ctx, nil)
	if err != nil {
		t.Error(err)
	}
	for _, m := range all {
		if err := p.Delete(ctx, m.ID); err != nil {
			t.Error(err)
		}
	}
	sharer := p.(family.Sharer)
	things, err := sharer.Shared(ctx, nil)
	if err != nil {
		t.Error(err)
	}
	for _, thing := range things {
		if err := sharer.DeleteShared(ctx, thing.ID); err != nil {
			t.Error(err)
		}
	}
	nothingLeft(t)
}

// nothingLeft wants the project to be as it was, by the services' own word.
func nothingLeft(t *testing.T) {
	t.Helper()
	if left, err := cloud.left(); err != nil || len(left) > 0 {
		t.Errorf("left in the project: %q, %v", left, err)
	}
}

// must fails the test where the cloud can't be made to do something.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// patience is how long a machine may take. Its host may be busy.
const patience = 5 * time.Minute

func harness(t *testing.T, changes map[string]any) providertest.Harness {
	h := providertest.Harness{
		Open: func(t *testing.T) family.Provider {
			p := open(t, changes)
			t.Cleanup(func() { clear(t, open(t, changes)) })
			return p
		},
		Reopen: func(t *testing.T) family.Provider { return open(t, changes) },
		Flavor: "tiny", Image: "debian", Zone: "nova", Login: true, Patience: patience,
		Faults:  cloud.front.faults,
		Refuses: refuses(),
		Partial: map[string]func(*http.Request) bool{
			"the group": posts("/security-groups"), "its rules": posts("/security-group-rules"), "the floating IP": posts("/floatingips"),
			"the look at it": func(r *http.Request) bool {
				return r.Method == http.MethodGet && service(r) == "compute" && strings.Contains(r.URL.Path, "/servers/") && !strings.HasSuffix(r.URL.Path, "/detail")
			},
			"its port": func(r *http.Request) bool {
				return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/ports")
			},
		},
		Firewall: &template.Firewall{Rules: []template.FirewallRule{{Protocol: "tcp", Ports: "443", From: []string{"0.0.0.0/0", "::/0"}},
			{Protocol: "icmp", From: []string{"198.51.100.7/24", "2001:db8::/32"}}}},
		Behind: behind,
		Left: func(t *testing.T) []string {
			left, err := cloud.left()
			must(t, err)
			return left
		},
		Vanish: func(t *testing.T, id string) { must(t, cloud.deleteServer(id)) },
		Skips: map[string]string{
			"a machine that lists late is created once and can be deleted": "this Nova's lists are true at once",
			"machines start from images made of others":                    "Nova's fake driver writes no images",
			"a lost response makes no second image":                        "Nova's fake driver writes no images",
		},
	}
	return h
}

// refuses are specs that can't be created.
func refuses() map[string]func(*family.MachineSpec) {
	extra := func(name, value string) func(*family.MachineSpec) {
		return func(m *family.MachineSpec) { m.Flavor.Extra = map[string]string{name: value} }
	}
	return map[string]func(*family.MachineSpec){
		"an unknown flavor":          func(m *family.MachineSpec) { m.Flavor.Flavor = "m1.none" },
		"no flavor":                  func(m *family.MachineSpec) { m.Flavor.Flavor = "" },
		"an unknown image":           func(m *family.MachineSpec) { m.Image.Image = "none" },
		"an image that is not whole": func(m *family.MachineSpec) { m.Image.Image = "half" },
		"an image too large":         func(m *family.MachineSpec) { m.Image.Image = "big" },
		"a flavor without a disk":    func(m *family.MachineSpec) { m.Flavor.Flavor = "diskless" },
		"an unknown zone":            func(m *family.MachineSpec) { m.Zone = "az9" },
		"a tag too long":             func(m *family.MachineSpec) { m.Tags["note"] = strings.Repeat("ü", 256) },
		"a tag's name with a slash":  func(m *family.MachineSpec) { m.Tags["a/b"] = "" },
		"an unreadable host key":     func(m *family.MachineSpec) { m.HostKey = []byte("none") },
		"an unknown network":         extra("networks", "none"),
		"a network that two have":    extra("networks", "twin"),
		"a network without a subnet": extra("networks", "bare"),
		"an unknown group":           extra("security_groups", "none"),
		"a pool that is none":        extra("floating_network", "second"),
		"a network without a router": extra("networks", "second"),
		"a boot volume":              extra("boot_volume_gb", "10"),
		"a data disk":                extra("data_disk_gb", "10"),
	}
}

// behind returns the groups that hold for a server's ports, of those that are ours.
func behind(t *testing.T, id string) (names []string) {
	t.Helper()
	groups := map[string]string{}
	all, err := cloud.list("admin", "network", "/security-groups", "security_groups")
	must(t, err)
	for _, g := range all {
		groups[g["id"].(string)] = g["name"].(string)
	}
	ports, err := cloud.list("admin", "network", "/ports?device_id="+id, "ports")
	must(t, err)
	for _, p := range ports {
		for _, g := range p["security_groups"].([]any) {
			if name := groups[g.(string)]; strings.HasPrefix(name, "muster/") && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// refusals are what the cloud says no to.
func refusals(t *testing.T) []providertest.Refusal {
	limit := func(service, name string, n int) func() func() {
		return func() func() {
			undo, err := cloud.quota(service, name, n)
			must(t, err)
			return func() { must(t, undo()) }
		}
	}
	return []providertest.Refusal{
		{Name: "the quota of servers", Code: app.EQuota, Arrange: limit("compute", "instances", 0)},
		{Name: "the quota of CPUs", Code: app.EQuota, Arrange: limit("compute", "cores", 0)},
		{Name: "the quota of memory", Code: app.EQuota, Arrange: limit("compute", "ram", 10)},
		{Name: "the quota of floating IPs", Code: app.EQuota, Arrange: limit("network", "floatingip", 0)},
		{Name: "the quota of ports", Code: app.EQuota, Arrange: limit("network", "port", 0)},
		{Name: "no host has room", Code: app.ECapacity, Arrange: func() func() {
			host := func(state string) {
				_, err := cloud.call("admin", http.MethodPut, "compute", "/os-services/"+state, object{"host": "host-ovs-filter-active", "binary": "nova-compute"})
				must(t, err)
			}
			host("disable")
			return func() { host("enable") }
		}},
	}
}

// wrong are accounts that the check has to find something in.
func wrong() (all []providertest.Wrong) {
	add := func(name, about string, changes map[string]any, arrange func() (func() error, error)) {
		all = append(all, providertest.Wrong{Name: name, About: about, Open: func(t *testing.T) (family.Provider, func()) {
			undo := func() error { return nil }
			if arrange != nil {
				var err error
				undo, err = arrange()
				must(t, err)
			}
			return open(t, changes), func() { must(t, undo()) }
		}})
	}
	limit := func(service, name string, n int) func() (func() error, error) {
		return func() (func() error, error) { return cloud.quota(service, name, n) }
	}
	add("a wrong password", family.AboutCredentials, map[string]any{"password": otherSecret}, nil)
	add("an unknown project", family.AboutCredentials, map[string]any{"project": "unknown"}, nil)
	add("an application credential that was revoked", family.AboutCredentials,
		map[string]any{"application_credential_id": "0d5f8c1ab0c94e15a3c7b1f2d3e4f5a6", "application_credential_secret": otherSecret}, nil)
	add("an address without Keystone", family.AboutSettings, map[string]any{"auth_url": address(publicKeystone) + "/elsewhere"}, nil)
	add("an unknown region", family.AboutRegion, map[string]any{"region": "RegionNine"}, nil)
	add("no volume service", family.AboutRegion, map[string]any{"data_disk_gb": 10}, nil)
	add("a role that only looks", family.AboutPermissions, map[string]any{"username": looker}, nil)
	add("an unknown network", family.AboutNetwork, map[string]any{"networks": "none"}, nil)
	add("a network that two have", family.AboutNetwork, map[string]any{"networks": "twin"}, nil)
	add("a network without a subnet", family.AboutNetwork, map[string]any{"networks": "bare"}, nil)
	add("no network of many", family.AboutNetwork, map[string]any{"networks": ""}, nil)
	add("an unknown pool", family.AboutNetwork, map[string]any{"floating_network": "elsewhere"}, nil)
	add("a pool that is not external", family.AboutNetwork, map[string]any{"floating_network": "second"}, nil)
	add("an unknown security group", family.AboutNetwork, map[string]any{"security_groups": "default, none"}, nil)
	add("no DNS service", family.AboutNetwork, map[string]any{"dns_zone": "clusters.example.org"}, nil)
	add("too few servers left", family.AboutQuota, nil, limit("compute", "instances", 1))
	add("too few CPUs left", family.AboutQuota, nil, limit("compute", "cores", 1))
	add("too little memory left", family.AboutQuota, nil, limit("compute", "ram", 100))
	add("too few floating IPs left", family.AboutQuota, nil, limit("network", "floatingip", 1))
	add("too few ports left", family.AboutQuota, nil, limit("network", "port", 1))
	add("no security group left", family.AboutQuota, nil, limit("network", "security_group", 1))
	return all
}

// TestSuite holds the provider to the family's contract with a real cloud.
func TestSuite(t *testing.T) {
	h := harness(t, nil)
	h.Refusals, h.Wrong, h.Judge = refusals(t), wrong(), "real"
	providertest.Run(t, providertest.WithoutVolumes(h, "this cloud has no Cinder"))
}
