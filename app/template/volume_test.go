package template

import (
	"strings"
	"testing"

	"muster/app"
)

func TestVolumeBounds(t *testing.T) {
	good := Volume{Name: "data", SizeGB: 20, Mount: "/var/lib/postgresql"}
	for name, c := range map[string]struct {
		change func(*Volume)
		field  string
	}{
		"good":              {func(*Volume) {}, ""},
		"in the home":       {func(v *Volume) { v.Mount = "~/data" }, ""},
		"no name":           {func(v *Volume) { v.Name = "" }, "name"},
		"odd name":          {func(v *Volume) { v.Name = "Data!" }, "name"},
		"long name":         {func(v *Volume) { v.Name = strings.Repeat("a", 33) }, "name"},
		"no size":           {func(v *Volume) { v.SizeGB = 0 }, "size_gb"},
		"huge":              {func(v *Volume) { v.SizeGB = MaxVolumeGB + 1 }, "size_gb"},
		"relative mount":    {func(v *Volume) { v.Mount = "data" }, "mount"},
		"root":              {func(v *Volume) { v.Mount = "/" }, "mount"},
		"the whole of /var": {func(v *Volume) { v.Mount = "/var" }, "mount"},
		"below /etc":        {func(v *Volume) { v.Mount = "/etc/x" }, "mount"},
		"up and away":       {func(v *Volume) { v.Mount = "/srv/../etc" }, "mount"},
		"shell":             {func(v *Volume) { v.Mount = "/srv/$(id)" }, "mount"},
		"other file system": {func(v *Volume) { v.Filesystem = "ntfs" }, "filesystem"},
		"other choice":      {func(v *Volume) { v.OnDelete = "burn" }, "volumes"},
	} {
		t.Run(name, func(t *testing.T) {
			v := good
			c.change(&v)
			err := v.Check()
			if (err == nil) != (c.field == "") || err != nil && app.AsError(err).Field != c.field {
				t.Errorf("%v, want field %q", err, c.field)
			}
		})
	}
}

func TestVolumesOfNodes(t *testing.T) {
	services := map[string]*Service{
		"db":    {Volumes: []Volume{{Name: "data", SizeGB: 10, Mount: "/srv/db"}, {Name: "wal", SizeGB: 5, Mount: "/srv/wal"}}},
		"cache": {Volumes: []Volume{{Name: "cache", SizeGB: 1, Mount: "/srv/db"}}},
		"web":   {},
	}
	config := map[string]any{"volumes": map[string]any{"data": map[string]any{"size_gb": 50.0, "on_delete": "keep"}}}
	list, err := VolumesOf(services, []string{"web", "db"}, config)
	if err != nil || len(list) != 2 || list[0].SizeGB != 50 || list[0].OnDelete != VolumeKeep || list[1].SizeGB != 5 || list[0].Key() != "db/data" {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := VolumesOf(services, []string{"db", "cache"}, nil); err == nil {
		t.Error("two volumes on one mount are accepted")
	}
	for _, size := range []any{"many", 1.5, -1, 1e12} {
		if _, err := VolumesOf(services, []string{"db"}, map[string]any{"volumes": map[string]any{"data": map[string]any{"size_gb": size}}}); err == nil {
			t.Errorf("size %v is accepted", size)
		}
	}
}
