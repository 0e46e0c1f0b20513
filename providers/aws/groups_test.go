package aws

import (
	"slices"
	"strings"
	"testing"

	"muster/app"
	appfamily "muster/app/family"
	"muster/app/template"
)

// Both VPCs have a group named default: the machine gets its own VPC's. It is looked up once for all machines.
func TestSecurityGroupsByName(t *testing.T) {
	r := newRegion(t)
	c := r.open(t, map[string]any{"security_group_ids": "office, default, sg-0000000e"})
	var last appfamily.Machine
	for _, intent := range []string{"one", "two"} {
		last = mustCreate(t, c, specOf(t, intent))
		if got := slices.Sorted(slices.Values(r.behind(last.ID))); !slices.Equal(got, []string{"default", "office"}) {
			t.Errorf("behind %v", got)
		}
		if got := list(r.form(t, last.ID), "NetworkInterface.1.SecurityGroupId"); !slices.Equal(got, []string{"sg-0000000d", "sg-0000000e"}) {
			t.Errorf("groups %v", got)
		}
	}
	r.with(func(s *simulated) {
		if n := s.asked["DescribeSecurityGroups"]; n != 2 {
			t.Errorf("%d look-ups of two names", n)
		}
	})
	s := specOf(t, "two")
	s.Firewall = &template.Firewall{}
	if err := c.Adopt(t.Context(), last.ID, s); err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(slices.Values(r.behind(last.ID))); !slices.Equal(got, []string{"default", "muster-suite-c1", "office"}) {
		t.Errorf("adopted behind %v", got)
	}
}

func TestSecurityGroupNameUnknownOrAmbiguous(t *testing.T) {
	r := newRegion(t)
	r.with(func(s *simulated) { // shared by another account
		s.groups = append(s.groups, &simGroup{id: "sg-2222222e", name: "office", vpc: "vpc-0000000d", own: true})
	})
	for name, want := range map[string]string{"nowhere": "no security group named nowhere", "office": "2 security groups named office"} {
		_, err := r.open(t, map[string]any{"security_group_ids": name}).Create(t.Context(), specOf(t, name))
		e := app.AsError(err)
		if e == nil || e.Code != app.EInvalid || e.Field != "settings.security_group_ids" || e.Hint == "" || !strings.Contains(e.Message, want) {
			t.Errorf("%s: %#v", name, e)
		}
	}
	r.with(func(s *simulated) {
		if s.asked["RunInstances"] != 0 {
			t.Error("a machine was asked for")
		}
	})
}

// A group that was made again under its name is looked up again: the error is transient, and the next try succeeds.
func TestSecurityGroupMadeAgain(t *testing.T) {
	r := newRegion(t)
	c := r.open(t, map[string]any{"security_group_ids": "office"})
	mustCreate(t, c, specOf(t, "one"))
	r.with(func(s *simulated) {
		s.groups = slices.DeleteFunc(s.groups, func(g *simGroup) bool { return g.name == "office" })
		s.groups = append(s.groups, &simGroup{id: "sg-3333333e", name: "office", vpc: "vpc-0000000d", own: true})
	})
	if _, err := c.Create(t.Context(), specOf(t, "two")); app.CodeOf(err) != app.ETransient {
		t.Errorf("%v", err)
	}
	m := mustCreate(t, c, specOf(t, "two"))
	if got := r.form(t, m.ID).Get("NetworkInterface.1.SecurityGroupId.1"); got != "sg-3333333e" {
		t.Errorf("group %s", got)
	}
}
