package catalog

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"muster/app"
	"muster/app/template"
)

// referenceDefinitions is Coopr's complete default set, where it is at hand.
const referenceDefinitions = "../../../../shared/reference/coopr-definitions"

func TestCooprDefaultSetLoadsUnchanged(t *testing.T) {
	if _, err := os.Stat(referenceDefinitions); err != nil {
		t.Skip("Coopr's definitions are not at hand")
	}
	r := Lint(Options{}, referenceDefinitions)
	for _, p := range r.Problems {
		t.Log(p)
	}
	if !r.OK() {
		t.Fatal("Coopr's own definitions do not load")
	}
	want := Counts{Providers: 8, Hardware: 5, Images: 11, Services: 53, Templates: 15}
	if r.Counts != want {
		t.Errorf("counts = %+v, want %+v", r.Counts, want)
	}
	large := r.Catalog.Hardware["standard-large"].Providers["aws-us-west-2"]
	if large.CostPerHour != 0.175 || large.CPU != 2 || large.MemoryGB != 7.5 || large.DiskGB != 840 {
		t.Errorf("standard-large on aws-us-west-2 = %+v", large)
	}
	dcos := r.Catalog.Templates["dcos-single-master"].Constraints.Services
	if c := dcos["dcos-public-agent"]; c.Min != 0 || !c.MinSet || c.Max != 1 {
		t.Errorf("dcos-public-agent = %+v: a written 0 is not an absent minimum", c)
	}
	if c := dcos["dcos-private-agent"]; c.Min != 1 || c.Max != template.Unlimited {
		t.Errorf("dcos-private-agent = %+v", c)
	}
}

func TestCooprFormatIsReadCompletely(t *testing.T) {
	r := Lint(Options{ProviderTypes: []string{"sandbox"}, Automators: []string{"shell"}}, "testdata/coopr")
	golden(t, "testdata/coopr.golden", r.Problems.Error()+"\n")
	if !r.OK() {
		t.Fatal("what Coopr takes, we take")
	}
	large := r.Catalog.Hardware["large"].Providers
	if got, want := large["cloud"], (template.Flavor{Flavor: "65", CostPerHour: 0.044, CPU: 2, MemoryGB: 7.5, DiskGB: 840,
		Extra: map[string]string{"disks": "/dev/xvdb=420,/dev/xvdc=420", "spot": "true"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("flavor = %+v", got)
	}
	if large["gone"].DiskGB != 0 {
		t.Errorf("disks that cannot be read are unknown: %+v", large["gone"])
	}
	if i := r.Catalog.Images["linux"]; i.Label != "Linux 🐧" || i.Providers["cloud"].SSHUser != "ubuntu" {
		t.Errorf("image = %+v", i)
	}
	db := r.Catalog.Services["db"]
	if !reflect.DeepEqual(db.Actions, map[app.Action]*template.ServiceAction{
		app.ActionInstall: {Automator: "shell", Fields: map[string]string{"script": "install.sh", "args": "7"}},
		app.ActionStart:   {Automator: "chef-solo", Fields: map[string]string{"run_list": "recipe[db]"}},
	}) || db.Origin.Line != 1 {
		t.Errorf("db = %+v", db)
	}
	if r.Catalog.Templates["dbs"] != nil {
		t.Error("a template whose parent is not there is offered")
	}
	dbs := r.Catalog.Written["dbs"]
	if dbs.Extends != "parent" || !reflect.DeepEqual(dbs.Includes, []string{"partial"}) {
		t.Errorf("extends %q, includes %q", dbs.Extends, dbs.Includes)
	}
	if want := (template.Defaults{
		Services: []string{"db", "gone"}, Provider: "cloud", Hardware: "large", Image: "linux", DNSSuffix: "example.test",
		Config: map[string]any{"n": 5, "list": []any{"%host.service.db%"}, "db": map[string]any{"port": 1}},
	}); !reflect.DeepEqual(dbs.Defaults, want) {
		t.Errorf("defaults = %+v", dbs.Defaults)
	}
	if want := (map[string]template.ServiceConstraint{
		"db":    {MinSet: true, Max: template.Unlimited},
		"other": {Hardware: []string{"large"}, Max: 3},
		"third": {Max: template.Unlimited},
	}); !reflect.DeepEqual(dbs.Constraints.Services, want) {
		t.Errorf("constraints = %+v", dbs.Constraints.Services)
	}
	if want := (template.Lease{Initial: 8 * time.Hour, Max: 72 * time.Hour, Step: time.Hour}); dbs.Lease != want {
		t.Errorf("lease = %+v", dbs.Lease)
	}
}

// TestCooprEntriesWithoutANameAreLeftOut: what a provider has no name for cannot be had there. All else of the catalog is good.
func TestCooprEntriesWithoutANameAreLeftOut(t *testing.T) {
	const cloud = `{"name": "cloud", "providertype": "sandbox"}`
	for _, tc := range []struct{ name, file, text, want string }{
		{"hardware without a flavor", "hardwaretypes/h.json", `{"name": "h", "providermap": {"cloud": {"flavor": "f"}, "other": {"cost": 1}}}`, `providermap.other has no flavor and is ignored`},
		{"an empty flavor", "hardwaretypes/h.json", `{"name": "h", "providermap": {"cloud": {"flavor": "f"}, "other": {"flavor": ""}}}`, `providermap.other has no flavor`},
		{"null for a flavor", "hardwaretypes/h.json", `{"name": "h", "providermap": {"cloud": {"flavor": "f"}, "other": {"flavor": null}}}`, `providermap.other has no flavor`},
		{"an image without a name", "imagetypes/h.json", `{"name": "h", "providermap": {"cloud": {"image": "i"}, "other": {"sshuser": "root"}}}`, `providermap.other has no image`},
		{"the only one", "hardwaretypes/h.json", `{"name": "h", "providermap": {"cloud": {}}}`, `providermap.cloud has no flavor`},
		{"not a mapping is still an error", "hardwaretypes/h.json", `{"name": "h", "providermap": {"cloud": 3}}`, `error`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := LintFS(Options{}, Source{Name: "c", FS: fstest.MapFS{"providers/cloud.json": {Data: []byte(cloud)}, tc.file: {Data: []byte(tc.text)}}})
			said := r.Problems.Error()
			if !strings.Contains(said, tc.want) || r.OK() == (tc.want == "error") {
				t.Fatalf("%s", said)
			}
			if !r.OK() {
				return
			}
			has := len(r.Catalog.Hardware) + len(r.Catalog.Images)
			if has != 1 || strings.Contains(tc.text, "other") && (r.Catalog.Hardware["h"] != nil && len(r.Catalog.Hardware["h"].Providers) != 1 || r.Catalog.Images["h"] != nil && len(r.Catalog.Images["h"].Providers) != 1) {
				t.Errorf("%+v, %+v", r.Catalog.Hardware, r.Catalog.Images)
			}
		})
	}
}

func TestCooprFolderByItself(t *testing.T) {
	if _, err := os.Stat(referenceDefinitions); err != nil {
		t.Skip("Coopr's definitions are not at hand")
	}
	if r := Lint(Options{}, referenceDefinitions+"/services"); !r.OK() || r.Counts.Services != 53 {
		t.Errorf("services alone: %+v\n%v", r.Counts, r.Problems)
	}
}
