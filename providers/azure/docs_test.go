package azure

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// The roles that the docs have people paste are what the account's check asks for, and what reads of the whole subscription need.
func TestRolesInDocs(t *testing.T) {
	b, err := os.ReadFile("../../docs/providers/azure.md")
	if err != nil {
		t.Fatal(err)
	}
	wanted := [][]string{slices.Sorted(slices.Values(slices.Concat(permissions, dnsPermissions))), {
		"Microsoft.Compute/locations/publishers/artifacttypes/offers/skus/versions/read", "Microsoft.Compute/locations/usages/read", "Microsoft.Compute/skus/read",
		"Microsoft.Compute/virtualMachines/read", "Microsoft.Network/locations/usages/read"}}
	blocks := strings.Split(string(b), "```json\n")[1:]
	if len(blocks) != len(wanted) {
		t.Fatalf("%d roles", len(blocks))
	}
	for i, block := range blocks {
		text, _, _ := strings.Cut(block, "```")
		var role struct {
			Name, Description string
			AssignableScopes  []string
			Actions           []string
		}
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&role); err != nil || role.Name == "" || len(role.AssignableScopes) != 1 || !slices.Equal(role.Actions, wanted[i]) {
			t.Errorf("role %q has %v, and %v are asked for (%v)", role.Name, role.Actions, wanted[i], err)
		}
	}
}
