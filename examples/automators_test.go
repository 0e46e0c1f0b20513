package examples_test

import (
	"testing"

	"muster/app/file/catalog"
	"muster/automators"
)

// TestAutomatorsLoad checks that the Puppet and Ansible example is valid.
func TestAutomatorsLoad(t *testing.T) {
	r := catalog.Lint(catalog.Options{Automators: automators.Names(), CheckAction: automators.Check, ProviderTypes: []string{"sandbox"}}, "automators/catalog")
	for _, p := range r.Problems {
		t.Error(p)
	}
	if r.Counts.Services != 2 {
		t.Errorf("%d services, want 2", r.Counts.Services)
	}
}
