package providers

import (
	"context"
	"maps"
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/app/observe"
	"muster/app/template"
)

func TestCheckExtra(t *testing.T) {
	for name, c := range map[string]struct {
		typ   string
		image bool
		extra map[string]string
		field string
	}{
		"understood":          {"google", false, map[string]string{"root_disk_gb": "20", "spot": "true"}, ""},
		"nothing":             {"google", false, nil, ""},
		"misspelt":            {"google", false, map[string]string{"root_disk": "20"}, "extra.root_disk"},
		"not this account":    {"google", false, map[string]string{"credentials": "x"}, "extra.credentials"},
		"of an image":         {"google", true, map[string]string{"os": "debian", "os_version": "12"}, ""},
		"of hardware":         {"google", false, map[string]string{"os": "debian"}, "extra.os"},
		"types that take all": {"sandbox", false, map[string]string{"x": "y"}, ""},
		"types that are not":  {"none", false, map[string]string{"x": "y"}, ""},
	} {
		err := CheckExtra(c.typ, c.image, c.extra)
		if e := app.AsError(err); (err == nil) != (c.field == "") || err != nil && (e.Code != app.EInvalid || e.Field != c.field) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// recorder keeps what was requested.
type recorder struct {
	family.Provider
	spec    family.MachineSpec
	adopted family.MachineSpec
	named   family.Machine
	needs   family.AccountNeeds
}

func (p *recorder) Create(_ context.Context, spec family.MachineSpec) (family.Machine, error) {
	p.spec = spec
	return family.Machine{ID: "1"}, nil
}

func (p *recorder) Describe(context.Context, string) (family.Machine, error) {
	return family.Machine{ID: "1", Tags: map[string]string{family.TagIntent: "x", family.TagInstallation: "i"}}, nil
}

func (p *recorder) Adopt(_ context.Context, _ string, spec family.MachineSpec) error {
	p.adopted = spec
	return nil
}

func (p *recorder) NameZone() string { return "example.org" }

func (p *recorder) SetName(_ context.Context, m family.Machine) error { p.named = m; return nil }

func (p *recorder) CheckAccount(_ context.Context, needs family.AccountNeeds) ([]family.Finding, error) {
	p.needs = needs
	return nil, nil
}

// A hardware type can't override the account's own settings.
func TestOnlyDeclaredExtrasReachAProvider(t *testing.T) {
	inner := &recorder{}
	g := &guarded{name: "p", installation: "i", inner: inner, limits: defaultLimits, budget: unlimited{}, meter: observe.MeterOf(nil),
		descriptor: family.Descriptor{FlavorFields: []family.Field{{Name: "disk"}}}}
	extra := map[string]string{"disk": "9", "token": "theirs", "api_url": "http://elsewhere"}
	spec := family.MachineSpec{Intent: "x", Tags: map[string]string{family.TagIntent: "x", family.TagInstallation: "i"},
		Flavor: template.Flavor{Extra: extra}, Image: template.Image{Extra: extra}}
	if _, err := g.Create(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if err := g.Adopt(t.Context(), "1", spec); err != nil {
		t.Fatal(err)
	}
	needs := family.AccountNeeds{Machines: []family.MachineNeed{{Flavor: spec.Flavor, Image: spec.Image}}}
	if _, err := g.CheckAccount(t.Context(), needs); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"disk": "9"}
	for what, got := range map[string]template.Flavor{"create": inner.spec.Flavor, "adopt": inner.adopted.Flavor, "check": inner.needs.Machines[0].Flavor} {
		if !maps.Equal(got.Extra, want) {
			t.Errorf("%s: %v", what, got.Extra)
		}
	}
	if len(inner.spec.Image.Extra)+len(inner.needs.Machines[0].Image.Extra) > 0 || len(extra) != 3 || len(needs.Machines[0].Flavor.Extra) != 3 {
		t.Errorf("%+v, %v, %v", inner, extra, needs)
	}
}

// A name is set for machines that are known for ours, and where the member keeps names at all.
func TestNamesAreSetForOwnMachinesOnly(t *testing.T) {
	inner := &recorder{}
	g := &guarded{name: "p", installation: "i", inner: inner, limits: defaultLimits, budget: unlimited{}, meter: observe.MeterOf(nil)}
	for name, tags := range map[string]map[string]string{"another installation's": {family.TagIntent: "x", family.TagInstallation: "j"}, "no intent": {family.TagInstallation: "i"}, "none": nil} {
		if err := g.SetName(t.Context(), family.Machine{ID: "1", Hostname: "n.example.org", Tags: tags}); app.CodeOf(err) != app.EInternal || inner.named.ID != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := g.SetName(t.Context(), family.Machine{ID: "1", Tags: map[string]string{family.TagIntent: "x", family.TagInstallation: "i"}}); err != nil || inner.named.ID != "1" || g.NameZone() != "example.org" {
		t.Errorf("ours: %+v, %v", inner.named, err)
	}
	g.inner = struct{ family.Provider }{inner}
	if _, ok := family.PowerOf[family.Namer](g); ok || g.NameZone() != "" || g.SetName(t.Context(), family.Machine{}) != nil {
		t.Error("a member without names")
	}
}
