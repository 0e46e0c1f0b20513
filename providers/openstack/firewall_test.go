package openstack

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
	fake "muster/providers/internal/openstacktest"
	"muster/providers/providertest"
)

func TestSecurityGroupRules(t *testing.T) {
	s, h := harness(t, nil)
	p := h.Open(t)
	spec, _ := h.Spec(t, "walled")
	spec.Firewall = h.Firewall
	if _, err := p.Create(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	always := []string{"egress IPv4 <nil> <nil>-<nil> <nil>", "egress IPv6 <nil> <nil>-<nil> <nil>", "ingress IPv4 <nil> <nil>-<nil> itself", "ingress IPv4 tcp 22-22 192.0.2.0/24",
		"ingress IPv6 <nil> <nil>-<nil> itself"}
	want := append([]string{"ingress IPv4 icmp <nil>-<nil> 198.51.100.0/24", "ingress IPv4 tcp 443-443 <nil>", "ingress IPv6 ipv6-icmp <nil>-<nil> 2001:db8::/32", "ingress IPv6 tcp 443-443 <nil>"}, always...)
	slices.Sort(want)
	if got := s.Rules("muster/suite/c1"); !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	next, _ := h.Spec(t, "walled too")
	next.Firewall = &template.Firewall{Rules: []template.FirewallRule{{Protocol: "udp", Ports: "8000-8100", From: []string{"198.51.100.0/24"}}}}
	if _, err := p.Create(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	want = append([]string{"ingress IPv4 udp 8000-8100 198.51.100.0/24"}, always...)
	slices.Sort(want)
	if got := s.Rules("muster/suite/c1"); !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Two processes that make the first machine of a cluster at the same time end with one group.
func TestConcurrentCreatesShareAGroup(t *testing.T) {
	s, h := harness(t, nil)
	p, other := s.open(t, nil), s.open(t, nil)
	t.Cleanup(func() { s.clear(t, p) })
	first, _ := h.Spec(t, "first")
	second, _ := h.Spec(t, "second")
	first.Firewall, second.Firewall = h.Firewall, h.Firewall
	s.With(func(c *fake.Cloud) {
		c.Twice = func() { // between the other's look and its call
			if _, err := other.Create(t.Context(), second); err != nil {
				t.Error(err)
			}
		}
	})
	if _, err := p.Create(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	things, err := p.Shared(t.Context(), map[string]string{family.TagCluster: "c1"})
	if err != nil || len(things) != 1 {
		t.Errorf("%+v, %v", things, err)
	}
	for _, made := range s.Servers() {
		if !slices.Equal(made.Groups, []string{"muster/suite/c1"}) {
			t.Errorf("%+v", made)
		}
	}
	if err := p.DeleteShared(t.Context(), things[0].ID); app.CodeOf(err) != app.ETransient {
		t.Errorf("a group that is used: %v", err)
	}
}

func TestRules(t *testing.T) {
	for name, r := range map[string]template.FirewallRule{
		"an unknown protocol": {Protocol: "sctp", Ports: "1", From: []string{"0.0.0.0/0"}},
		"no ports":            {Protocol: "tcp", From: []string{"0.0.0.0/0"}},
		"ports upside down":   {Protocol: "tcp", Ports: "10-1", From: []string{"0.0.0.0/0"}},
		"a port too high":     {Protocol: "udp", Ports: "65536", From: []string{"0.0.0.0/0"}},
		"not a prefix":        {Protocol: "udp", Ports: "53", From: []string{"everywhere"}},
	} {
		if _, err := rulesOf(template.Firewall{Rules: []template.FirewallRule{r}}, nil); app.CodeOf(err) != app.EInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDescriptionsFit(t *testing.T) {
	tags := map[string]string{family.TagInstallation: "i & 1", family.TagCluster: "ü=", family.TagIntent: strings.Repeat("x", 250)}
	text := written(tags, family.TagInstallation, family.TagCluster, family.TagIntent)
	got := read(text)
	if len(text) > 255 || got[family.TagInstallation] != "i & 1" || got[family.TagCluster] != "ü=" || got[family.TagIntent] != "" {
		t.Errorf("%q is read as %v", text, got)
	}
	for _, other := range []string{"", "made by hand", "a=b&c", "%zz"} {
		if read(other) != nil {
			t.Errorf("%q is taken for ours", other)
		}
	}
}

// A group that is tidied away between its making and the server's is made again when the machine is asked for again.
func TestGroupDeletedMeanwhile(t *testing.T) {
	s, h := harness(t, nil)
	p := h.Open(t)
	spec, _ := h.Spec(t, "unlucky")
	spec.Firewall = h.Firewall
	s.faults.Arm(providertest.Down, 1, func(r *http.Request) bool {
		if s.faults.Creates(r) {
			s.LoseGroup("muster/suite/c1")
		}
		return false
	})
	if _, err := p.Create(t.Context(), spec); app.CodeOf(err) != app.ETransient {
		t.Fatal(err)
	}
	s.faults.Disarm()
	if _, err := p.Create(t.Context(), spec); err != nil {
		t.Error(err)
	}
}
