package google

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The role that the docs have people paste is what the account's check asks for.
func TestRoleInDocs(t *testing.T) {
	b, err := os.ReadFile("../../docs/providers/google.md")
	if err != nil {
		t.Fatal(err)
	}
	var role []string
	for line := range strings.Lines(string(b)) {
		if permission, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok && (strings.HasPrefix(permission, "compute.") || strings.HasPrefix(permission, "dns.")) {
			role = append(role, permission)
		}
	}
	wanted := slices.Sorted(slices.Values(slices.Concat(permissions, firewallPermissions, volumePermissions, snapshotPermissions, bakePermissions,
		dnsPermissions)))
	if !slices.Equal(role, wanted) {
		t.Errorf("the role has %v, and %v are asked for", role, wanted)
	}
}
