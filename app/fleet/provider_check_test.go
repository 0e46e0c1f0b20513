package fleet_test

import (
	"slices"
	"testing"

	"muster/app"
	"muster/app/fleet"
)

func TestNeedsOf(t *testing.T) {
	c := app.NewCatalog()
	for name, providers := range map[string]map[string]app.Flavor{
		"a-large": {"cloud": {Flavor: "l1"}}, "b-small": {"cloud": {Flavor: "s1"}, "other": {Flavor: "x"}}, "elsewhere": {"other": {Flavor: "y"}},
	} {
		c.Hardware[name] = &app.HardwareType{Providers: providers}
	}
	for _, name := range []string{"a-linux", "b-linux"} {
		c.Images[name] = &app.ImageType{Providers: map[string]app.Image{"cloud": {Image: name}}}
	}
	c.Templates["web"] = &app.Template{Defaults: app.TemplateDefaults{Provider: "cloud", Hardware: "b-small", Image: "b-linux"}}
	c.Templates["also"] = &app.Template{Defaults: app.TemplateDefaults{Provider: "other", Hardware: "a-large", Image: "gone"}}
	c.Templates["none"] = &app.Template{Defaults: app.TemplateDefaults{Hardware: "gone"}}
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
