package openstack

import (
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/providers/providertest"
)

// What a cluster's machine has beside its server follows it out of the pool: the floating IP leads where it led, and says whose it is.
func TestAdoptionKeepsTheFloatingIP(t *testing.T) {
	s, h := harness(t, nil)
	p := s.open(t, map[string]any{"security_groups": "default"})
	spec, _ := h.Spec(t, "pooled")
	m, err := p.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	spec.Firewall = h.Firewall
	spec.Tags[family.TagCluster], spec.Hostname = "c7", "n7.c7.suite.test"
	if err := p.Adopt(t.Context(), m.ID, spec); err != nil {
		t.Fatal(err)
	}
	got := providertest.Eventually(t, p, m.ID)
	if got.Addresses[app.AddressAccess] == "" || got.Addresses[app.AddressAccess] != m.Addresses[app.AddressAccess] {
		t.Errorf("it was at %v, and is at %v", m.Addresses, got.Addresses)
	}
	if names := s.Behind(m.ID); !slices.Contains(names, "default") || len(names) != 2 {
		t.Errorf("it is behind %v", names)
	}
	s.Lose(m.ID) // then only its floating IP tells whose it was
	things, err := p.Shared(t.Context(), map[string]string{family.TagInstallation: "suite", family.TagCluster: "c7"})
	if err != nil || !slices.ContainsFunc(things, func(thing family.SharedThing) bool { return thing.Kind == kindFloating }) {
		t.Errorf("%+v, %v", things, err)
	}
	other, _ := h.Spec(t, "other")
	if m, err = p.Create(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	other.Firewall, other.Flavor.Extra = h.Firewall, map[string]string{"security_groups": "none"}
	if err := p.Adopt(t.Context(), m.ID, other); app.CodeOf(err) != app.EInvalid || !strings.Contains(err.Error(), `"none"`) {
		t.Errorf("a group that is not there: %v", err)
	}
	s.clear(t, p)
}
