package catalog

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"muster/app/catalog"
	"muster/app/family"
	"muster/app/template"
)

// What a tenant's own hardware says of the installation's accounts is held to what the installation offers there: neither a quota on cost or cores nor the
// account's rights are the tenant's to say.
func TestOwnHardwareOnTheInstallationsAccounts(t *testing.T) {
	families := catalog.Families{Providers: []family.Descriptor{{Name: "cloud",
		Fields:       []family.Field{{Name: "token", Label: "Token", SetBy: family.SetByTenant}},
		FlavorFields: []family.Field{{Name: "spot", SetBy: family.SetByTenant}, {Name: "instance_profile", SetBy: family.SetByAccountOwner}, {Name: "gateway", SetBy: family.SetByInstallation}},
		ImageFields:  []family.Field{{Name: "drive", SetBy: family.SetByTenant}, {Name: "disk_gb", SetBy: family.SetByAccountOwner}}}}}
	r := NewReader(Options{ProviderTypes: []string{"cloud"}}, families)
	base, err := r.LoadFS(Source{Name: "in", FS: fstest.MapFS{"c.yaml": {Data: []byte(`
kind: provider
name: ours
type: cloud
---
kind: hardware
name: big
providers: {ours: {flavor: m.big, cost_per_hour: 2, cpu: 16, memory_gb: 64, extra: {gateway: g1}}}
---
kind: image
name: linux
providers: {ours: {image: linux-1}}
`)}}})
	if err != nil {
		t.Fatal(err)
	}
	own := func(kind, name, text string, trusted bool) catalog.Text {
		return catalog.Text{CatalogKey: template.CatalogKey{Kind: kind, Name: name}, Text: "kind: " + kind + "\nname: " + name + "\n" + text, Trusted: trusted}
	}
	theirs := own("provider", "theirs", "type: cloud\nsettings: {token: '${secret:T}'}\n", false)
	for name, c := range map[string]struct {
		entries []catalog.Text
		flavor  *template.Flavor // of hardware mine at ours; nil: none
		problem string           // at an error; "": none
		warning string
	}{
		"for nothing": {[]catalog.Text{own("hardware", "mine", "providers: {ours: {flavor: m.big, cost_per_hour: 0, cpu: 0}}\n", false)},
			&template.Flavor{Flavor: "m.big", CostPerHour: 2, CPU: 16, MemoryGB: 64, Extra: map[string]string{"gateway": "g1"}}, "", ""},
		"for less": {[]catalog.Text{own("hardware", "mine", "providers: {ours: {flavor: m.big, cost_per_hour: 0.01, cpu: 1}}\n", false)},
			&template.Flavor{Flavor: "m.big", CostPerHour: 2, CPU: 16, MemoryGB: 64, Extra: map[string]string{"gateway": "g1"}}, "", "the price and sizes"},
		"a flavor that is not offered": {[]catalog.Text{own("hardware", "mine", "providers: {ours: {flavor: m.huge}}\n", false)}, nil, "doesn't offer the flavor", ""},
		"the offered one hidden by an own": {[]catalog.Text{own("hardware", "big", "providers: {ours: {flavor: m.big, cost_per_hour: 0}}\n", false), own("hardware", "mine", "providers: {ours: {flavor: m.big}}\n", false)},
			&template.Flavor{Flavor: "m.big", CostPerHour: 2, CPU: 16, MemoryGB: 64, Extra: map[string]string{"gateway": "g1"}}, "", ""},
		"rights in the account": {[]catalog.Text{own("hardware", "mine", "providers: {ours: {flavor: m.big, extra: {instance_profile: admin, spot: 'true'}}}\n", false)},
			&template.Flavor{Flavor: "m.big", CostPerHour: 2, CPU: 16, MemoryGB: 64, Extra: map[string]string{"gateway": "g1", "spot": "true"}}, "only the installation can set", ""},
		"another gateway": {[]catalog.Text{own("hardware", "mine", "providers: {ours: {flavor: m.big, extra: {gateway: g2}}}\n", false)},
			&template.Flavor{Flavor: "m.big", CostPerHour: 2, CPU: 16, MemoryGB: 64, Extra: map[string]string{"gateway": "g1"}}, "only the installation can set", ""},
		"saved by a superadmin": {[]catalog.Text{own("hardware", "mine", "providers: {ours: {flavor: m.huge, cost_per_hour: 0, extra: {instance_profile: admin}}}\n", true)},
			&template.Flavor{Flavor: "m.huge", Extra: map[string]string{"instance_profile": "admin"}}, "", ""},
		"a flavor that a superadmin added": {[]catalog.Text{own("hardware", "more", "providers: {ours: {flavor: m.huge, cost_per_hour: 9}}\n", true), own("hardware", "mine", "providers: {ours: {flavor: m.huge}}\n", false)},
			&template.Flavor{Flavor: "m.huge", CostPerHour: 9}, "", ""},
		"the tenant's own account in its place": {[]catalog.Text{own("provider", "ours", "type: cloud\nsettings: {token: '${secret:T}'}\n", false), own("hardware", "mine", "providers: {ours: {flavor: m.huge, cost_per_hour: 0.5, extra: {instance_profile: mine}}}\n", false)},
			&template.Flavor{Flavor: "m.huge", CostPerHour: 0.5, Extra: map[string]string{"instance_profile": "mine"}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, problems := r.Read(base, "acme", append(c.entries, theirs))
			h := got.Hardware["mine"]
			if h == nil {
				t.Fatalf("%+v", problems)
			}
			f, there := h.Providers["ours"]
			if there != (c.flavor != nil) || there && !sameFlavor(f, *c.flavor) {
				t.Errorf("%+v, want %+v", f, c.flavor)
			}
			for severity, want := range map[string]string{"error": c.problem, "warning": c.warning} {
				i := slices.IndexFunc(problems, func(p catalog.Problem) bool { return p.Severity == severity })
				if (i >= 0) != (want != "") || i >= 0 && (!strings.Contains(problems[i].Message, want) || problems[i].Line == 0) {
					t.Errorf("%s: %+v, want %q", severity, problems, want)
				}
			}
		})
	}
	got, problems := r.Read(base, "acme", []catalog.Text{theirs, own("image", "mine", "providers: {ours: {image: x, extra: {disk_gb: '9000', drive: 'false'}}, theirs: {image: x, extra: {disk_gb: '9000'}}}\n", false)})
	i := got.Images["mine"].Providers
	if _, said := i["ours"].Extra["disk_gb"]; said || i["ours"].Extra["drive"] != "false" || i["theirs"].Extra["disk_gb"] != "9000" || len(problems) != 1 {
		t.Errorf("%+v, %+v", i, problems)
	}
	if was := base.Hardware["big"].Providers["ours"]; was.CostPerHour != 2 || was.Extra["spot"] != "" {
		t.Errorf("the installation's has changed: %+v", was)
	}
}

func sameFlavor(a, b template.Flavor) bool {
	if len(a.Extra) != len(b.Extra) {
		return false
	}
	for k, v := range b.Extra {
		if a.Extra[k] != v {
			return false
		}
	}
	return a.Flavor == b.Flavor && a.CostPerHour == b.CostPerHour && a.CPU == b.CPU && a.MemoryGB == b.MemoryGB
}
