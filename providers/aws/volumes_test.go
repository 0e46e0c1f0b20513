package aws

import (
	"strings"
	"testing"

	"muster/app"
	appfamily "muster/app/family"
	"muster/providers/conformance"
	"muster/providers/providertest"
)

func machineOf(t *testing.T, c *cloud, intent, kind, zone string) appfamily.Machine {
	t.Helper()
	spec, _ := providertest.Harness{Flavor: kind, Image: "ami-0000000b"}.Spec(t, intent)
	spec.Zone = zone
	m, err := c.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return providertest.Eventually(t, c, m.ID)
}

// A volume can be attached only in its zone, under a free name; what the machine calls it follows from the instance type.
func TestVolumesOfZonesAndDevices(t *testing.T) {
	r := newRegion(t)
	c := r.open(t, map[string]any{"volume_type": "st1"})
	nitro, xen := machineOf(t, c, "nitro", "t9.small", "eu-test-1a"), machineOf(t, c, "xen", "t2.small", "eu-test-1b")
	var made []appfamily.Volume
	for _, intent := range []string{"one", "two"} {
		v, err := c.CreateVolume(t.Context(), conformance.VolumeSpec(intent, "eu-test-1b"))
		if err != nil || v.SizeGB != leastHDD || v.Zone != "eu-test-1b" {
			t.Fatalf("%+v, %v", v, err)
		}
		made = append(made, v)
	}
	if _, err := c.AttachVolume(t.Context(), appfamily.VolumeAttachment{Volume: made[0].ID, Machine: nitro.ID}); app.CodeOf(err) != app.EInvalid {
		t.Errorf("attach across zones: %v", err)
	}
	for i, want := range []string{"/dev/xvdf", "/dev/xvdg"} {
		at, err := c.AttachVolume(t.Context(), appfamily.VolumeAttachment{Volume: made[i].ID, Machine: xen.ID})
		if err != nil || at.Device != want {
			t.Errorf("device %q, want %q, %v", at.Device, want, err)
		}
	}
	v, err := c.CreateVolume(t.Context(), conformance.VolumeSpec("three", "eu-test-1a"))
	if err != nil {
		t.Fatal(err)
	}
	at, err := c.AttachVolume(t.Context(), appfamily.VolumeAttachment{Volume: v.ID, Machine: nitro.ID})
	if want := "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_" + strings.Replace(v.ID, "-", "", 1); err != nil || at.Device != want {
		t.Errorf("device %q, want %q, %v", at.Device, want, err)
	}
}

// An intent whose volume was deleted gets a new one, whatever EC2 remembers of the client token.
func TestAVolumeIsCreatedAgainAfterItsDeletion(t *testing.T) {
	c := newRegion(t).open(t, nil)
	seen := map[string]bool{}
	for size := range 3 {
		spec := conformance.VolumeSpec("again", "eu-test-1a")
		spec.SizeGB = 10 + size/2 // the third has another size
		v, err := c.CreateVolume(t.Context(), spec)
		if err != nil || seen[v.ID] {
			t.Fatalf("%+v, %v", v, err)
		}
		seen[v.ID] = true
		if err := c.DeleteVolume(t.Context(), v.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// What EC2 refuses has its code; that volumes may not be created is a warning of the check.
func TestVolumesThatAreRefused(t *testing.T) {
	r := newRegion(t)
	c := r.open(t, nil)
	for word, code := range map[string]app.Code{"VolumeLimitExceeded": app.EQuota, "MaxIOPSLimitExceeded": app.EQuota,
		"InsufficientVolumeCapacity": app.ECapacity, "UnauthorizedOperation": app.ECredentials} {
		undo := r.refuse("CreateVolume", word, "So it is.")
		if v, err := c.CreateVolume(t.Context(), conformance.VolumeSpec("never", "eu-test-1a")); app.CodeOf(err) != code {
			t.Errorf("%s: %+v, %v, want %s", word, v, err, code)
		}
		if word == "UnauthorizedOperation" {
			found, err := c.CheckAccount(t.Context(), appfamily.AccountNeeds{})
			warned := false
			for _, f := range found {
				warned = warned || f.Warning && f.Subject == "ec2:CreateVolume"
			}
			if err != nil || !warned {
				t.Errorf("%+v, %v", found, err)
			}
		}
		undo()
	}
	if _, err := c.CreateVolume(t.Context(), conformance.VolumeSpec("nowhere", "")); app.CodeOf(err) != app.EInvalid {
		t.Errorf("without a zone: %v", err)
	}
}
