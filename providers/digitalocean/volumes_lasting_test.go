package digitalocean

import (
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/providers/conformance"
	"muster/providers/providertest"
)

// A volume stays in its region, has a device named after it, and isn't mistaken for a droplet's own.
func TestVolumesThatLast(t *testing.T) {
	w := newWorld(t)
	c := w.open(t)
	s, _ := providertest.Harness{Flavor: "s-1vcpu-1gb", Image: "debian-12-x64"}.Spec(t, "one")
	s.Flavor.Extra = map[string]string{"data_disk_gb": "10"}
	m, err := c.Create(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	m = providertest.Eventually(t, c, m.ID)
	elsewhere, err := c.CreateVolume(t.Context(), conformance.VolumeSpec("far", "nyc3"))
	if err != nil || elsewhere.Zone != "nyc3" {
		t.Fatalf("%+v, %v", elsewhere, err)
	}
	if _, err := c.AttachVolume(t.Context(), family.VolumeAttachment{Volume: elsewhere.ID, Machine: m.ID}); app.CodeOf(err) != app.EInvalid {
		t.Errorf("attach across regions: %v", err)
	}
	v, err := c.CreateVolume(t.Context(), conformance.VolumeSpec("near", ""))
	if err != nil || v.Zone != "fra1" {
		t.Fatalf("%+v, %v", v, err)
	}
	at, err := c.AttachVolume(t.Context(), family.VolumeAttachment{Volume: v.ID, Machine: m.ID})
	if want := "/dev/disk/by-id/scsi-0DO_Volume_" + v.Name; err != nil || at.Device != want {
		t.Errorf("device %q, want %q, %v", at.Device, want, err)
	}
	if list, err := c.ListVolumes(t.Context(), map[string]string{family.TagInstallation: providertest.Installation}); err != nil || len(list) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
	if err := c.Delete(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	if list, err := c.ListVolumes(t.Context(), map[string]string{family.TagInstallation: providertest.Installation}); err != nil || len(list) != 2 {
		t.Errorf("after its machine was deleted: %+v, %v", list, err)
	}
	if things, err := c.Shared(t.Context(), nil); err != nil || len(things) != 0 {
		t.Errorf("volumes that last are among what is deleted with a cluster: %+v, %v", things, err)
	}
}

func TestVolumesThatAreRefused(t *testing.T) {
	w := newWorld(t)
	c := w.open(t)
	for name, x := range map[string]struct {
		change func(s *sim) func()
		code   app.Code
	}{
		"limit":  {func(s *sim) func() { return set(s.account, "volume_limit", 0) }, app.EQuota},
		"scope":  {func(s *sim) func() { return set(s.lacks, "block_storage:create", true) }, app.ECredentials},
		"region": {func(s *sim) func() { return set(s.regions["fra1"], "features", any([]string{"ipv6"})) }, app.EInvalid},
	} {
		undo := w.change(x.change)()
		if v, err := c.CreateVolume(t.Context(), conformance.VolumeSpec("never", "fra1")); app.CodeOf(err) != x.code {
			t.Errorf("%s: %+v, %v, want %s", name, v, err, x.code)
		}
		undo()
	}
	defer w.change(func(s *sim) func() { return set(s.lacks, "block_storage:read", true) })()()
	found, err := c.CheckAccount(t.Context(), family.AccountNeeds{})
	warned := false
	for _, f := range found {
		warned = warned || f.Warning && f.Subject == "block_storage:read"
		if !f.OK && !f.Warning {
			t.Errorf("%+v", f)
		}
	}
	if err != nil || !warned {
		t.Errorf("%+v, %v", found, err)
	}
}
