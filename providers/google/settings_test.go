package google

import (
	"maps"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
)

func TestCheck(t *testing.T) {
	c := newCloud(t, nil)
	good := map[string]any{"credentials": c.keyFile(), "zone": testZone}
	if err := Check(good); err != nil {
		t.Fatal(err)
	}
	if err := Check(map[string]any{"project": "acme-prod", "zone": testZone}); err != nil {
		t.Errorf("with the host's own credentials: %v", err)
	}
	for name, change := range map[string]struct {
		field string
		to    map[string]any
	}{
		"no project":                  {"project", map[string]any{"credentials": ""}},
		"a project's number":          {"project", map[string]any{"project": "12345678"}},
		"a zone that is a region":     {"zone", map[string]any{"zone": "europe-west3"}},
		"a key that is no JSON":       {"credentials", map[string]any{"credentials": "secret-thing"}},
		"credentials of another kind": {"credentials", map[string]any{"credentials": `{"type": "external_account"}`}},
		"half a key":                  {"credentials", map[string]any{"credentials": `{"type": "service_account", "client_email": "a@b"}`}},
		"a private key that is none":  {"credentials", map[string]any{"credentials": strings.ReplaceAll(c.keyFile(), "BEGIN PRIVATE", "BEGIN SECRET")}},
		"an address that is none":     {"api_url", map[string]any{"api_url": "ftp://x"}},
		"an address with a password":  {"api_url", map[string]any{"api_url": "https://a:secret-thing@b/"}},
		"a disk that is too large":    {"root_disk_gb", map[string]any{"root_disk_gb": 100000}},
		"a type of disk that is none": {"data_disk_type", map[string]any{"data_disk_type": "PD SSD"}},
		"neither true nor false":      {"spot", map[string]any{"spot": "maybe"}},
		"a network that is no name":   {"network", map[string]any{"network": "My Network"}},
		"an account that is none":     {"service_account", map[string]any{"service_account": "web"}},
		"scopes without account":      {"scopes", map[string]any{"scopes": "logging.write"}},
		"a prefix that is none":       {"ssh_from", map[string]any{"ssh_from": "10.0.0.1"}},
	} {
		s := maps.Clone(good)
		maps.Copy(s, change.to)
		err := Check(s)
		if e := app.AsError(err); err == nil || e.Code != app.EInvalid || e.Field != "settings."+change.field || strings.Contains(e.Error(), "secret-thing") {
			t.Errorf("%s: %v (%s)", name, err, e.Field)
		}
	}
}

func TestImagePaths(t *testing.T) {
	p := &Provider{project: "acme-prod"}
	for image, want := range map[string]string{
		"debian-12":                              "projects/debian-cloud/global/images/family/debian-12",
		"rocky-linux-9":                          "projects/rocky-linux-cloud/global/images/family/rocky-linux-9",
		"web":                                    "projects/acme-prod/global/images/family/web",
		"acme-images/web":                        "projects/acme-images/global/images/family/web",
		"global/images/web-1":                    "projects/acme-prod/global/images/web-1",
		"projects/p-other/global/images/web-1":   "projects/p-other/global/images/web-1",
		"projects/p/global/images/family/web":    "projects/p/global/images/family/web",
		links + "projects/p/global/images/web-1": "projects/p/global/images/web-1",
		"":                                       "",
		"Debian 12":                              "",
		"a/b/c":                                  "",
		"projects/p/zones/z/disks/d":             "",
	} {
		if got, err := p.imagePath(image); got != want || (err != nil) != (want == "") {
			t.Errorf("%q is %q, %v", image, got, err)
		}
	}
}

func TestNetworkPaths(t *testing.T) {
	p := &Provider{project: "acme-prod"}
	for _, c := range []struct{ network, subnetwork, wantNetwork, wantSubnetwork string }{
		{"", "", "projects/acme-prod/global/networks/default", ""},
		{"own", "a", "projects/acme-prod/global/networks/own", "projects/acme-prod/regions/europe-west3/subnetworks/a"},
		{"", "a", "", "projects/acme-prod/regions/europe-west3/subnetworks/a"},
		{"projects/host/global/networks/shared", "projects/host/regions/europe-west3/subnetworks/a", "projects/host/global/networks/shared", "projects/host/regions/europe-west3/subnetworks/a"},
		{"global/networks/own", "regions/europe-west3/subnetworks/a", "projects/acme-prod/global/networks/own", "projects/acme-prod/regions/europe-west3/subnetworks/a"},
		{links + "projects/host/global/networks/shared", "", "projects/host/global/networks/shared", ""},
	} {
		set := choices{network: c.network, subnetwork: c.subnetwork}
		if n, s := p.networkPath(set), p.subnetworkPath(set, testZone); n != c.wantNetwork || s != c.wantSubnetwork {
			t.Errorf("%+v: %s, %s", c, n, s)
		}
	}
}

func TestNames(t *testing.T) {
	for _, hostname := range []string{"n1.c1.example.org", "7up.test", strings.Repeat("x", 62) + ".test", "Ünï_code", ""} {
		s := family.MachineSpec{Hostname: hostname, Intent: "i", Tags: map[string]string{family.TagInstallation: "a"}}
		name := machineName(s)
		other := s
		other.Intent = "j"
		if !nameForm.MatchString(name) || name == machineName(other) || name != machineName(s) {
			t.Errorf("%q is %q", hostname, name)
		}
	}
	for v, plain := range map[string]bool{"abc-1": true, "": true, "ABC": false, "a b": false, "ü": false, "x-y": false, strings.Repeat("a", 64): false} {
		if got := labelValue(v); (got == v) != plain || !plainValue.MatchString(got) {
			t.Errorf("%q is %q", v, got)
		}
	}
	for v, want := range map[string]string{"web": "web", "Research & Dev/7": "research---dev-7", "Ünï": "-n-", strings.Repeat("A", 70): strings.Repeat("a", 63)} {
		got := labelsOf(map[string]string{"cost-centre": v, family.TagTenant: "t"})
		if got["cost-centre"] != want || got[family.TagTenant] != "t" || !plainValue.MatchString(got["cost-centre"]) {
			t.Errorf("label %q is %v", v, got)
		}
	}
	if id := requestID("a", "b"); len(id) != 36 || id != requestID("a", "b") || id == requestID("a", "c") {
		t.Error(id)
	}
}

func TestDiskTypes(t *testing.T) {
	for kind, want := range map[string]string{"e2-medium": "pd-balanced", "custom-2-4096": "pd-balanced", "c4-standard-2": "hyperdisk-balanced", "n4-custom-2-4096": "hyperdisk-balanced"} {
		if got := diskType("", kind); got != want {
			t.Errorf("%s has %s", kind, got)
		}
	}
	if diskType("pd-ssd", "c4-standard-2") != "pd-ssd" {
		t.Error("what is set is not kept")
	}
}
