package form

import (
	"maps"
	"testing"
)

func TestCooprSettingsGetOurNames(t *testing.T) {
	for name, c := range map[string]struct {
		typ      string
		has, are map[string]any
	}{
		"renamed":     {"aws", map[string]any{"api_user": "A", "api_password": "B", "aws_region": "us-east-1", "subnet_id": "s"}, map[string]any{"access_key_id": "A", "secret_access_key": "B", "region": "us-east-1", "subnet_id": "s"}},
		"dedicated":   {"aws", map[string]any{"dedicated_instance": true, "placement_group": "p"}, map[string]any{"tenancy": "dedicated", "placement_group": "p"}},
		"shared":      {"aws", map[string]any{"dedicated_instance": "false"}, map[string]any{}},
		"empty":       {"aws", map[string]any{"api_user": "", "ssh_keypair": "k", "aws_region": nil}, map[string]any{}},
		"unknown":     {"joyent", map[string]any{"api_user": "a", "what": 7}, map[string]any{"account": "a", "what": 7}},
		"API version": {"joyent", map[string]any{"joyent_version": "~7.0"}, map[string]any{}},
		"unticked":    {"openstack", map[string]any{"floating_ip": "false", "network_ids": "n"}, map[string]any{"networks": "n"}},
		"ticked":      {"openstack", map[string]any{"floating_ip": true}, map[string]any{"floating_ip": true}},
		"its value":   {"rackspace", map[string]any{"rackspace_region": "dfw"}, map[string]any{"region": "DFW"}},
		"no table":    {"fake", map[string]any{"delay": "1s", "quota": ""}, map[string]any{"delay": "1s", "quota": ""}},
	} {
		if got := cooprSettingsOf(c.typ, c.has); !maps.Equal(got, c.are) {
			t.Errorf("%s: %v, want %v", name, got, c.are)
		}
	}
}
