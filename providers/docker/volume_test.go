package docker

import (
	"testing"

	"muster/app"
	"muster/app/family"
	"muster/providers/conformance"
	"muster/providers/providertest"
)

// Tenants share an engine: who knows the name of a volume that is not its own gets no container with it.
func TestVolumesOfOtherTenants(t *testing.T) {
	w := newWorld(t)
	e := w.open(t)
	v, err := e.CreateVolume(t.Context(), conformance.VolumeSpec("disk1", ""))
	if err != nil {
		t.Fatal(err)
	}
	w.volume("postgres-data", nil)
	for what, id := range map[string]string{"another tenant's": v.ID, "foreign": "postgres-data", "no name of a volume": "../x", "absent": "muster-vol-none"} {
		s, _ := providertest.Harness{Flavor: "unlimited", Image: "node:1"}.Spec(t, "thief")
		s.Tags[family.TagTenant] = "other"
		s.Volumes = []family.VolumeAttachment{{Volume: id, Mount: "/srv/data"}}
		_, err := e.Create(t.Context(), s)
		if e := app.AsError(err); e == nil || e.Code != app.EConflict || e.Message != "Volume "+id+" doesn't exist on the engine." {
			t.Errorf("%s: %v", what, err)
		}
	}
	if len(w.containers) > 0 || len(w.volumes) != 2 {
		t.Errorf("the engine has %v and %v", w.containers, w.volumes)
	}
	if list, err := e.ListVolumes(t.Context(), nil); err != nil || len(list) != 1 || list[0].ID != v.ID {
		t.Errorf("listed: %+v, %v", list, err)
	}
	if err := e.DeleteVolume(t.Context(), "postgres-data"); err != nil || w.volumes["postgres-data"] == nil {
		t.Errorf("a foreign volume was deleted, %v", err)
	}
}

// A volume whose name is taken by one that isn't ours is neither handed out nor touched.
func TestVolumeNamesOfOthers(t *testing.T) {
	for what, driver := range map[string]string{"the same driver": "local", "another driver": "nfs"} {
		w := newWorld(t)
		spec := conformance.VolumeSpec("disk1", "")
		w.volume(volumeName(spec.Tags), nil)["Driver"] = driver
		if _, err := w.open(t).CreateVolume(t.Context(), spec); app.CodeOf(err) != app.EInvalid {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A container that isn't ours keeps a volume from being deleted, too.
func TestVolumeInUseByOthers(t *testing.T) {
	w := newWorld(t)
	e := w.open(t)
	v, err := e.CreateVolume(t.Context(), conformance.VolumeSpec("disk1", ""))
	if err != nil {
		t.Fatal(err)
	}
	w.containers["backup"] = &simContainer{id: "backup", name: "backup", status: "exited", config: map[string]any{},
		host: map[string]any{"Mounts": []any{map[string]any{"Type": "volume", "Source": v.ID, "Target": "/backup"}}}}
	if e := app.AsError(e.DeleteVolume(t.Context(), v.ID)); e == nil || e.Reason != family.ReasonVolumeAttached || w.volumes[v.ID] == nil {
		t.Errorf("%v", e)
	}
	if got, err := e.Volume(t.Context(), v.ID); err != nil || got.Machine != "backup" || got.SizeGB != 10 || got.CreatedAt.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestMountTargets(t *testing.T) {
	for _, c := range [][3]string{{"/srv/data", "admin", "/srv/data"}, {"~/data", "", "/root/data"}, {"~/data", "root", "/root/data"}, {"~/data", "admin", "/home/admin/data"}} {
		if got := target(c[0], c[1]); got != c[2] {
			t.Errorf("%s of %s is %s", c[0], c[1], got)
		}
	}
}
