package form

import (
	"fmt"
	"strings"
)

// cooprSettings are our names for what Coopr's providers expected, by type. "" represents what we have no use for: Muster makes its own SSH
// keys and host names. What is in no table is left as it is, and warned of.
var cooprSettings = map[string]map[string]string{
	"aws": {
		"api_user": "access_key_id", "api_password": "secret_access_key", "aws_region": "region", "availability_zone": "zone",
		"aws_root_ebs_size": "root_disk_gb", "aws_root_ebs_volume_type": "root_disk_type", "aws_ebs_size": "data_disk_gb", "aws_ebs_volume_type": "data_disk_type",
		"iam_instance_profile": "instance_profile", "associate_public_ip": "public_address", "dedicated_instance": "tenancy",
		"aws_root_ebs_delete_on_term": "", "aws_ebs_delete_on_term": "", "provider_hostname": "",
	},
	"digitalocean": {"digitalocean_region": "region"},
	"google": {
		"google_project": "project", "zone_name": "zone", "google_root_disk_size_gb": "root_disk_gb", "google_root_disk_type": "root_disk_type",
		"google_data_disk_size_gb": "data_disk_gb", "google_data_disk_type": "data_disk_type", "provider_hostname": "", "ssh_user": "", "bootstrap_interface": "",
	},
	"joyent": {"api_user": "account", "joyent_api_url": "url", "joyent_version": ""},
	"openstack": {
		"api_user": "username", "api_password": "password", "openstack_tenant": "project", "openstack_auth_url": "auth_url", "openstack_region": "region",
		"network_ids": "networks", "floating_ip": "floating_network", "openstack_ssl_verify_peer": "",
	},
	"rackspace": {"api_user": "username", "api_password": "api_key", "rackspace_region": "region"},
}

// cooprKeys are settings of every type in Coopr that Muster has no use for.
var cooprKeys = map[string]string{"ssh_keypair": "", "ssh_key_resource": "", "api_key_resource": ""}

// cooprSettingsOf returns the settings of one of Coopr's providers by our names. Coopr writes down every field, empty ones too: those say nothing.
func cooprSettingsOf(typ string, settings map[string]any) map[string]any {
	out := map[string]any{}
	names, ours := cooprSettings[typ]
	for name, value := range settings {
		if !ours {
			out[name] = value
			continue
		}
		if value == nil || value == "" {
			continue
		}
		to, known := names[name]
		if !known {
			to, known = cooprKeys[name]
		}
		switch {
		case !known:
			out[name] = value
		case to == "floating_network": // a tick without a network, which Muster needs: ticked, it stays, to be warned of
			if !strings.EqualFold(fmt.Sprint(value), "false") {
				out[name] = value
			}
		case to == "tenancy":
			if strings.EqualFold(fmt.Sprint(value), "true") {
				out[to] = "dedicated"
			}
		case to == "region" && typ == "rackspace":
			out[to] = strings.ToUpper(fmt.Sprint(value))
		case to != "":
			out[to] = value
		}
	}
	return out
}
