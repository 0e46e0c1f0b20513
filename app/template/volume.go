package template

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"muster/app"
)

// Volume is a disk that a service needs on each of its nodes, with a life of its own: it outlives the machine that it is attached to.
type Volume struct {
	Name   string `json:"name"`
	SizeGB int    `json:"size_gb"`
	// Mount is where the service finds it: an absolute path, or one in the home of the SSH user, such as ~/data.
	Mount      string       `json:"mount"`
	Filesystem string       `json:"filesystem,omitempty"` // "" means ext4
	OnDelete   VolumeChoice `json:"on_delete,omitempty"`  // "" means delete
	Snapshots  Snapshots    `json:"snapshots,omitzero"`   // by schedule
}

// VolumeChoice says what happens to a volume whose node is deleted.
type VolumeChoice string

// The choices.
const (
	VolumeDelete VolumeChoice = "delete" // it is deleted with all that is on it
	VolumeKeep   VolumeChoice = "keep"   // it is kept for a while, and another cluster can use it
)

// Bounds of volumes.
const (
	MaxVolumes  = 8      // of a service
	MaxVolumeGB = 16_384 // of one volume
)

// Filesystems are those that a volume can have.
var Filesystems = []string{"ext4", "xfs"}

var (
	volumeName  = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$`)
	volumeMount = regexp.MustCompile(`^(/|~/)[A-Za-z0-9._/-]{1,200}$`)
	// systemMounts are what a machine itself needs: a volume on one of them would hide it.
	systemMounts = []string{"bin", "boot", "dev", "etc", "lib", "lib64", "proc", "root", "run", "sbin", "sys", "tmp", "usr", "var", "home", "var/lib"}
)

// CheckVolumeName refuses a name that no volume can have.
func CheckVolumeName(name string) error {
	if volumeName.MatchString(name) {
		return nil
	}
	return volumeError("name", fmt.Sprintf("Volume name %.40q isn't valid.", name), "Use 1 to 32 lowercase letters, digits and hyphens, such as data.")
}

func volumeError(field, message, hint string) *app.Error {
	return &app.Error{Code: app.EInvalid, Reason: "volume", Field: field, Message: message, Hint: hint}
}

// Check refuses a choice that does not exist; "" is none.
func (c VolumeChoice) Check() error {
	if c == "" || c == VolumeDelete || c == VolumeKeep {
		return nil
	}
	return volumeError("volumes", fmt.Sprintf("Unknown choice %.40q for volumes.", string(c)), "Use keep or delete.")
}

// Check refuses what no volume can be, with EInvalid.
func (v Volume) Check() error {
	if err := CheckVolumeName(v.Name); err != nil {
		return err
	}
	if v.SizeGB < 1 || v.SizeGB > MaxVolumeGB {
		return volumeError("size_gb", fmt.Sprintf("Volume %s can't have %d GB.", v.Name, v.SizeGB), fmt.Sprintf("Choose 1 to %d GB.", MaxVolumeGB))
	}
	tail := strings.TrimPrefix(strings.TrimPrefix(v.Mount, "~"), "/")
	if !volumeMount.MatchString(v.Mount) || path.Clean("/"+tail) != "/"+tail {
		return volumeError("mount", fmt.Sprintf("Volume %s can't be mounted on %.60q.", v.Name, v.Mount),
			"Use a path such as /var/lib/postgresql, without spaces, .. or a slash at the end.")
	}
	if first, _, _ := strings.Cut(tail, "/"); v.Mount[0] == '/' && (slices.Contains(systemMounts, tail) || slices.Contains([]string{"bin", "boot", "dev",
		"etc", "lib", "lib64", "proc", "run", "sbin", "sys", "usr"}, first)) {
		return volumeError("mount", fmt.Sprintf("Volume %s can't be mounted on %s, which the machine itself needs.", v.Name, v.Mount),
			"Use a folder of the service, such as /var/lib/postgresql or /srv/data.")
	}
	if v.Filesystem != "" && !slices.Contains(Filesystems, v.Filesystem) {
		return volumeError("filesystem", fmt.Sprintf("Volume %s can't have file system %.40q.", v.Name, v.Filesystem), "Use "+strings.Join(Filesystems, " or ")+".")
	}
	if err := v.Snapshots.Check(); err != nil {
		return err
	}
	return v.OnDelete.Check()
}

// FS is the file system that an empty volume gets.
func (v Volume) FS() string { return cmp.Or(v.Filesystem, Filesystems[0]) }

// CheckVolumes refuses a service's volumes, with the place of the first that is wrong.
func (s *Service) CheckVolumes() (place int, err error) {
	if len(s.Volumes) > MaxVolumes {
		return MaxVolumes, volumeError("volumes", fmt.Sprintf("A service can have at most %d volumes, not %d.", MaxVolumes, len(s.Volumes)),
			"Put what belongs together on one volume.")
	}
	names, mounts := map[string]bool{}, map[string]bool{}
	for i, v := range s.Volumes {
		if err := v.Check(); err != nil {
			return i, err
		}
		if names[v.Name] || mounts[v.Mount] {
			return i, volumeError("name", fmt.Sprintf("Volume %s has the name or the mount of another volume of the service.", v.Name),
				"Give each volume its own name and mount.")
		}
		names[v.Name], mounts[v.Mount] = true, true
	}
	return 0, nil
}

// NodeVolume is a volume that a node needs for one of its services.
type NodeVolume struct {
	Service string `json:"service"`
	Volume
}

// Key names it among those of its node.
func (v NodeVolume) Key() string { return v.Service + "/" + v.Name }

// VolumesOf returns what a node with some services needs, by service and in the order in which each declares them. The configuration may
// give another size, and say what happens when the node is deleted: volumes.NAME.size_gb and volumes.NAME.on_delete.
func VolumesOf(services map[string]*Service, names []string, config map[string]any) (list []NodeVolume, err error) {
	overrides, _ := config["volumes"].(map[string]any)
	mounts := map[string]string{}
	for _, name := range slices.Sorted(slices.Values(names)) {
		s := services[name]
		if s == nil {
			continue
		}
		for _, v := range s.Volumes {
			if v, err = v.with(overrides[v.Name]); err != nil {
				return nil, err
			}
			if other := mounts[v.Mount]; other != "" {
				return nil, volumeError("mount", fmt.Sprintf("Services %s and %s on the same node both mount a volume on %s.", other, name, v.Mount),
					"Change one of the mounts, or keep the services on different nodes with cant_coexist.")
			}
			mounts[v.Mount] = name
			list = append(list, NodeVolume{Service: name, Volume: v})
		}
	}
	return list, nil
}

// with takes over what the configuration says.
func (v Volume) with(override any) (Volume, error) {
	o, ok := override.(map[string]any)
	if !ok {
		return v, nil
	}
	if size, is := o["size_gb"]; is {
		n, ok := wholeNumber(size)
		if !ok {
			return v, volumeError("config.volumes."+v.Name+".size_gb", fmt.Sprintf("The size of volume %s must be a whole number of GB, not %.40q.", v.Name,
				fmt.Sprint(size)), "Use a number such as 20.")
		}
		v.SizeGB = n
	}
	if choice, is := o["on_delete"]; is {
		v.OnDelete = VolumeChoice(fmt.Sprint(choice))
	}
	if copies, is := o["snapshots"]; is {
		var err error
		if v.Snapshots, err = snapshotsOf(copies); err != nil {
			return v, err
		}
	}
	return v, v.Check()
}

func wholeNumber(x any) (int, bool) {
	switch n := x.(type) {
	case int:
		return n, true
	case int64:
		return int(n), n >= 0 && n <= MaxVolumeGB
	case float64:
		return int(n), n == float64(int(n)) && n <= MaxVolumeGB
	case string:
		var i int
		_, err := fmt.Sscanf(n+" ", "%d ", &i)
		return i, err == nil && fmt.Sprint(i) == n
	}
	return 0, false
}
