package openstack

import (
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/providers/conformance"
	fake "muster/providers/internal/openstacktest"
	"muster/providers/providertest"
)

// machineIn returns a server that runs in a zone.
func machineIn(t *testing.T, h providertest.Harness, p family.Provider, intent, zone string) family.Machine {
	t.Helper()
	spec, _ := h.Spec(t, intent)
	spec.Zone = zone
	m, err := p.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return providertest.Eventually(t, p, m.ID)
}

// A volume of a zone stays there, and one of Cinder's common zone can be attached everywhere. The device's path follows from the bus.
func TestVolumeZonesAndDevices(t *testing.T) {
	s, h := harness(t, nil)
	p := h.Open(t).(*Provider)
	one, two := machineIn(t, h, p, "one", "az1"), machineIn(t, h, p, "two", "az2")
	v, err := p.CreateVolume(t.Context(), conformance.VolumeSpec("zoned", "az1"))
	if err != nil || v.Zone != "az1" {
		t.Fatalf("%+v, %v", v, err)
	}
	if _, err := p.AttachVolume(t.Context(), family.VolumeAttachment{Volume: v.ID, Machine: two.ID}); app.CodeOf(err) != app.EInvalid {
		t.Errorf("attach across zones: %v", err)
	}
	at, err := p.AttachVolume(t.Context(), family.VolumeAttachment{Volume: v.ID, Machine: one.ID})
	if want := "/dev/disk/by-id/virtio-" + v.ID[:20]; err != nil || at.Device != want {
		t.Errorf("device %q, want %q, %v", at.Device, want, err)
	}
	s.With(func(c *fake.Cloud) { c.DiskZones, c.Bus = []string{"nova"}, "sd" })
	common, err := p.CreateVolume(t.Context(), conformance.VolumeSpec("common", "az2"))
	if err != nil || common.Zone != "" {
		t.Fatalf("%+v, %v", common, err)
	}
	at, err = p.AttachVolume(t.Context(), family.VolumeAttachment{Volume: common.ID, Machine: one.ID})
	if app.CodeOf(err) != app.EInvalid {
		t.Errorf("%+v, %v", at, err)
	}
	s.With(func(c *fake.Cloud) { c.DiskZones = nil })
	at, err = p.AttachVolume(t.Context(), family.VolumeAttachment{Volume: common.ID, Machine: one.ID})
	if want := "/dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_" + common.ID; err != nil || at.Device != want {
		t.Errorf("device %q, want %q, %v", at.Device, want, err)
	}
	for _, id := range []string{v.ID, common.ID} {
		if err := p.DetachVolume(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
}

// What the cloud refuses has its code, and leaves nothing.
func TestVolumesThatCannotBe(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*fake.Cloud)
		code   app.Code
	}{
		"too many":           {func(c *fake.Cloud) { c.Limits.Volumes = 0 }, app.EQuota},
		"too large":          {func(c *fake.Cloud) { c.Limits.VolumeGB = 9 }, app.EQuota},
		"not allowed":        {func(c *fake.Cloud) { c.Forbidden = "POST /volumes" }, app.ECredentials},
		"no room":            {func(c *fake.Cloud) { c.NoDisks = true }, app.ECapacity},
		"no volume service":  {func(c *fake.Cloud) { c.Services = []string{"compute", "network", "image"} }, app.EInvalid},
		"a type that is not": {nil, app.EInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			settings := map[string]any{}
			if c.change == nil {
				settings["volume_type"] = "none"
			}
			s, h := harness(t, settings)
			if c.change != nil {
				s.With(c.change)
			}
			p := h.Open(t).(*Provider)
			if v, err := p.CreateVolume(t.Context(), conformance.VolumeSpec("never", "az1")); app.CodeOf(err) != c.code {
				t.Errorf("%+v, %v, want %s", v, err, c.code)
			}
		})
	}
}

// TestSnapshotsThatFailedToBeDeleted are neither whole nor on their way: they have failed, and can be deleted again.
func TestSnapshotsThatFailedToBeDeleted(t *testing.T) {
	s, h := harness(t, nil)
	p := h.Open(t).(*Provider)
	disk, err := p.CreateVolume(t.Context(), conformance.VolumeSpec("disk1", "az1"))
	if err != nil {
		t.Fatal(err)
	}
	made, err := p.CreateSnapshot(t.Context(), conformance.SnapshotSpec("copy1", disk.ID))
	if err != nil || made.Pending || made.Failed {
		t.Fatalf("%+v, %v", made, err)
	}
	one := func() family.Snapshot {
		t.Helper()
		all, err := p.ListSnapshots(t.Context(), made.Tags)
		if err != nil || len(all) != 1 {
			t.Fatalf("%+v, %v", all, err)
		}
		return all[0]
	}
	for status, want := range map[string]family.Snapshot{"available": {}, "in-use": {}, "creating": {Pending: true}, "error": {Failed: true},
		"maintenance": {Pending: true}, "deleting": {Pending: true}, "error_deleting": {Failed: true}, "error_managing": {Failed: true}} {
		back := s.SetStatus(made.ID, status)
		if x := one(); x.Pending != want.Pending || x.Failed != want.Failed {
			t.Errorf("%s: %+v", status, x)
		}
		back()
	}
	s.With(func(c *fake.Cloud) { c.SpoilDeletes = 1 })
	if err := p.DeleteSnapshot(t.Context(), made.ID); err != nil {
		t.Errorf("a deletion that fails once: %v", err)
	}
	if all, err := p.ListSnapshots(t.Context(), made.Tags); err != nil || len(all) > 0 {
		t.Errorf("%+v, %v", all, err)
	}
}
