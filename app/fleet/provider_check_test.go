package fleet_test

import (
	"slices"
	"testing"

	"muster/app/fleet"
	"muster/app/template"
)

func TestNeedsOf(t *testing.T) {
	c := template.NewCatalog()
	for name, providers := range map[string]map[string]template.Flavor{
		"a-large": {"cloud": {Flavor: "l1"}}, "b-small": {"cloud": {Flavor: "s1"}, "other": {Flavor: "x"}}, "elsewhere": {"other": {Flavor: "y"}},
	} {
		c.Hardware[name] = &template.HardwareType{Providers: providers}
	}
	for _, name := range []string{"a-linux", "b-linux"} {
		c.Images[name] = &template.ImageType{Providers: map[string]template.Image{"cloud": {Image: name}}}
	}
	c.Templates["web"] = &template.Template{Defaults: template.Defaults{Provider: "cloud", Hardware: "b-small", Image: "b-linux"}}
	c.Templates["also"] = &template.Template{Defaults: template.Defaults{Provider: "other", Hardware: "a-large", Image: "gone"}}
	c.Templates["none"] = &template.Template{Defaults: template.Defaults{Hardware: "gone"}}
	needs := fleet.NeedsOf(c, "cloud")
	var got []string
	for _, m := range needs.Machines {
		if m.Count != 1 {
			t.Errorf("%+v", m)
		}
		got = append(got, m.Flavor.Flavor+m.Image.Image)
	}
	if want := []string{"s1", "l1", "b-linux", "a-linux"}; !slices.Equal(got, want) || !needs.Each {
		t.Errorf("%v (each %v), want %v, the defaults of its own templates first", got, needs.Each, want)
	}
	if n := len(fleet.NeedsOf(c, "none").Machines); n != 0 {
		t.Errorf("a provider that nothing names needs %d machines", n)
	}
}
