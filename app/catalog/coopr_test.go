package catalog

import (
	"os"
	"testing"
	"time"

	"muster/app"
)

// referenceDefinitions is Coopr's complete default set, where it is at hand.
const referenceDefinitions = "../../../shared/reference/coopr-definitions"

func TestCooprDefaultSetLoadsAsItIs(t *testing.T) {
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
	if c := dcos["dcos-private-agent"]; c.Min != 1 || c.Max != app.Unlimited {
		t.Errorf("dcos-private-agent = %+v", c)
	}
	_ = time.Second
}

func TestCooprFolderByItself(t *testing.T) {
	if _, err := os.Stat(referenceDefinitions); err != nil {
		t.Skip("Coopr's definitions are not at hand")
	}
	if r := Lint(Options{}, referenceDefinitions+"/services"); !r.OK() || r.Counts.Services != 53 {
		t.Errorf("services alone: %+v\n%v", r.Counts, r.Problems)
	}
}
