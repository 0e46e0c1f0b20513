package google

import (
	"slices"
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/providers/conformance"
	"muster/providers/google/internal/gcp"
	"muster/providers/providertest"
)

// A volume stays in its zone, and has a device that its machine finds by the volume's name.
func TestVolumesOfZonesAndDevices(t *testing.T) {
	c := newCloud(t, nil)
	p := c.open(t, map[string]any{"volume_type": "hyperdisk-balanced"})
	s := spec(t, "one")
	m, err := p.Create(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	wanted := conformance.VolumeSpec("zoned", otherZone)
	wanted.SizeGB, wanted.Name = 4, "9 Lives!"
	elsewhere, err := p.CreateVolume(t.Context(), wanted)
	if err != nil || elsewhere.Zone != otherZone || elsewhere.SizeGB != 4 {
		t.Fatalf("%+v, %v", elsewhere, err)
	}
	if _, err := p.AttachVolume(t.Context(), family.VolumeAttachment{Volume: elsewhere.ID, Machine: m.ID}); app.CodeOf(err) != app.EInvalid {
		t.Errorf("attach across zones: %v", err)
	}
	// Asked for in another zone, the intent's volume is the one that is there.
	wanted.Zone = testZone
	if again, err := p.CreateVolume(t.Context(), wanted); err != nil || again.ID != elsewhere.ID {
		t.Errorf("%+v, %v", again, err)
	}
	v, err := p.CreateVolume(t.Context(), conformance.VolumeSpec("here", testZone))
	if err != nil {
		t.Fatal(err)
	}
	at, err := p.AttachVolume(t.Context(), family.VolumeAttachment{Volume: v.ID, Machine: m.ID})
	if want := "/dev/disk/by-id/google-" + v.Name; err != nil || at.Device != want {
		t.Errorf("device %q, want %q, %v", at.Device, want, err)
	}
	c.mu.Lock()
	c.unreachable = "us-east1-b"
	c.mu.Unlock()
	if list, err := p.ListVolumes(t.Context(), nil); app.CodeOf(err) != app.ETransient {
		t.Errorf("a zone that can't be asked: %+v, %v", list, err)
	}
}

// An intent whose volume was deleted gets a new one, although the request's id is known.
func TestAVolumeIsCreatedAgainAfterItsDeletion(t *testing.T) {
	p := newCloud(t, nil).open(t, nil)
	for range 2 {
		v, err := p.CreateVolume(t.Context(), conformance.VolumeSpec("again", testZone))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.DeleteVolume(t.Context(), v.ID); err != nil {
			t.Fatal(err)
		}
	}
}

func TestVolumesThatAreRefused(t *testing.T) {
	c := newCloud(t, nil)
	p := c.open(t, nil)
	for code, want := range map[string]app.Code{"QUOTA_EXCEEDED": app.EQuota, "ZONE_RESOURCE_POOL_EXHAUSTED": app.ECapacity, "INTERNAL_ERROR": app.ETransient} {
		c.mu.Lock()
		c.fails, c.failsWith = &gcp.OperationErrorItem{Code: code, Message: "So it is."}, 503
		c.mu.Unlock()
		if v, err := p.CreateVolume(t.Context(), conformance.VolumeSpec("never", testZone)); app.CodeOf(err) != want {
			t.Errorf("%s: %+v, %v, want %s", code, v, err, want)
		}
	}
	p = c.open(t, map[string]any{"volume_type": "floppy"})
	if v, err := p.CreateVolume(t.Context(), conformance.VolumeSpec("never", testZone)); app.CodeOf(err) != app.EInvalid {
		t.Errorf("%+v, %v", v, err)
	}
}

// Accounts without the permissions for volumes still work: the check warns.
func TestCheckWarnsWithoutPermissionsForVolumes(t *testing.T) {
	c := newCloud(t, nil)
	delete(c.granted, "compute.disks.use")
	found, err := c.open(t, nil).CheckAccount(t.Context(), family.AccountNeeds{})
	if err != nil {
		t.Fatal(err)
	}
	warns := func(f family.Finding) bool {
		return f.Warning && f.About == family.AboutPermissions && f.Subject == "volumes"
	}
	if !slices.ContainsFunc(found, warns) || slices.ContainsFunc(found, func(f family.Finding) bool { return !f.OK && !f.Warning }) {
		t.Errorf("%+v", found)
	}
	warned, wrong := providertest.Lacking(found)
	if len(warned)+len(wrong) > 0 {
		t.Errorf("%v %v", warned, wrong)
	}
}
