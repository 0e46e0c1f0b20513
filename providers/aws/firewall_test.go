package aws

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster/app"
	appfamily "muster/app/family"
	"muster/app/template"
)

// rules returns those of the group of the suite's cluster, in words.
func (r *testRegion) rules(t *testing.T) (out []string) {
	t.Helper()
	r.sim.mu.Lock()
	defer r.sim.mu.Unlock()
	for _, g := range r.sim.groups {
		if strings.HasPrefix(g.name, "muster-") {
			for _, x := range g.rules {
				out = append(out, fmt.Sprintf("%s %s-%s %s %s", x.protocol, x.from, x.to, strings.Replace(x.source, g.id, "self", 1), x.note))
			}
		}
	}
	slices.Sort(out)
	return out
}

func TestFirewallRules(t *testing.T) {
	r := newRegion(t)
	c := r.open(t, map[string]any{"ssh_from": "203.0.113.7/24, 2001:db8::1/48", "security_group_ids": "sg-0000000e"})
	s := specOf(t, "one")
	s.Firewall = &template.Firewall{Rules: []template.FirewallRule{{Protocol: "tcp", Ports: "443", From: []string{"0.0.0.0/0", "::/0", "0.0.0.0/0"}}, {Protocol: "udp", Ports: "8000-8100", From: []string{"10.1.2.3/8"}},
		{Protocol: "icmp", From: []string{"0.0.0.0/0", "::/0"}}}}
	s.Tags["cost-centre"], s.Tags[appfamily.TagOwner] = "4711", "ada"
	m := mustCreate(t, c, s)
	want := []string{"-1 - self muster", "icmp -1--1 0.0.0.0/0 muster", "icmpv6 -1--1 ::/0 muster", "tcp 22-22 2001:db8::/48 muster", "tcp 22-22 203.0.113.0/24 muster",
		"tcp 443-443 0.0.0.0/0 muster", "tcp 443-443 ::/0 muster", "udp 8000-8100 10.0.0.0/8 muster"}
	if got := r.rules(t); !slices.Equal(got, want) {
		t.Errorf("rules %q", got)
	}
	r.sim.mu.Lock()
	for _, g := range r.sim.groups {
		if strings.HasPrefix(g.name, "muster-") && (g.tags["cost-centre"] != "4711" || g.tags[appfamily.TagOwner] != "ada" || g.tags[appfamily.TagCluster] != "c1") {
			t.Errorf("the group has the tags %v", g.tags)
		}
	}
	r.sim.mu.Unlock()
	f := r.form(t, m.ID)
	if f.Get("NetworkInterface.1.SecurityGroupId.1") != "sg-0000000e" || f.Get("NetworkInterface.1.SecurityGroupId.2") == "" {
		t.Errorf("groups %v", list(f, "NetworkInterface.1.SecurityGroupId"))
	}

	// The template has changed, and someone has added a rule by hand.
	r.sim.mu.Lock()
	for _, g := range r.sim.groups {
		if strings.HasPrefix(g.name, "muster-") {
			g.rules = append(g.rules, simRule{protocol: "tcp", from: "9090", to: "9090", source: "192.0.2.0/24", note: "for Grafana"})
		}
	}
	r.sim.mu.Unlock()
	s = specOf(t, "two")
	s.Firewall = &template.Firewall{Rules: []template.FirewallRule{{Protocol: "tcp", Ports: "80", From: []string{"0.0.0.0/0"}}}}
	mustCreate(t, c, s)
	want = []string{"-1 - self muster", "tcp 22-22 2001:db8::/48 muster", "tcp 22-22 203.0.113.0/24 muster", "tcp 80-80 0.0.0.0/0 muster", "tcp 9090-9090 192.0.2.0/24 for Grafana"}
	if got := r.rules(t); !slices.Equal(got, want) {
		t.Errorf("afterwards, rules %q", got)
	}

	things, err := c.Shared(t.Context(), map[string]string{appfamily.TagInstallation: "suite"})
	if err != nil || len(things) != 1 || things[0].Kind != "firewall" || things[0].CreatedAt.IsZero() || things[0].Tags[appfamily.TagTenant] != "acme" {
		t.Fatalf("%+v, %v", things, err)
	}
	if err := c.DeleteShared(t.Context(), things[0].ID); app.CodeOf(err) != app.ETransient {
		t.Errorf("while it is used: %v", err)
	}
	for _, id := range []string{"firewall/sg-99999999", "firewall/x", "else/sg-99999999", ""} {
		if err := c.DeleteShared(t.Context(), id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestForeignSecurityGroup(t *testing.T) {
	r := newRegion(t)
	r.sim.groups = append(r.sim.groups, &simGroup{id: "sg-7777777a", name: groupName("suite", "c1"), vpc: "vpc-0000000d", own: true, tags: map[string]string{appfamily.TagInstallation: "other"}})
	s := specOf(t, "one")
	s.Firewall = &template.Firewall{}
	if _, err := r.open(t, nil).Create(t.Context(), s); app.CodeOf(err) != app.EConflict || app.AsError(err).Hint == "" {
		t.Error(err)
	}
	if left := r.left(); len(left) > 0 {
		t.Errorf("%v was made", left)
	}
}

// The last machine of a cluster may be deleted, and its group with it, while another is being made.
func TestSecurityGroupDeletedMeanwhile(t *testing.T) {
	r := newRegion(t)
	s := specOf(t, "one")
	s.Firewall = &template.Firewall{}
	for groups, want := range map[string]app.Code{"": app.ETransient, "sg-0000000e": app.EInvalid} {
		id := "sg-7777777a"
		if groups != "" {
			id = groups
		}
		undo := r.refuse("RunInstances", "InvalidGroup.NotFound", "The security group '"+id+"' does not exist")
		if _, err := r.open(t, map[string]any{"security_group_ids": groups}).Create(t.Context(), s); app.CodeOf(err) != want {
			t.Errorf("%s: %v", id, err)
		}
		undo()
	}
}

func TestGroupNames(t *testing.T) {
	if got := groupName("prod", "c-1"); got != "muster-prod-c-1" {
		t.Error(got)
	}
	seen := map[string]string{}
	for _, of := range [][2]string{{"a", "b-c"}, {"a-b", "c"}, {"a", "b c"}, {"a", "b.c"}, {"a", "b\nc"}, {"a", strings.Repeat("x", 300)}, {"a", strings.Repeat("x", 301)}, {"ä", "c"}, {"ö", "c"}} {
		name := groupName(of[0], of[1])
		if other, ok := seen[name]; ok || len(name) > 255 || strings.ContainsAny(name, " \n\"") {
			t.Errorf("%q becomes %q, as %s does", of, name, other)
		}
		seen[name] = of[0] + "/" + of[1]
	}
}
