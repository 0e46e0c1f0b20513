package docker

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/api/types/volume"
	"github.com/moby/moby/client"
	"muster/app"
	"muster/app/family"
)

var (
	_ family.Volumes      = (*engine)(nil)
	_ family.VolumeGetter = (*engine)(nil)
)

const (
	localDriver = "local"
	labelSize   = "muster.size-gb" // the engine knows no size
)

// volumeName is of a volume alone, among those of all installations.
func volumeName(tags map[string]string) string {
	sum := sha256.Sum256([]byte(tags[family.TagInstallation] + "\x00" + tags[family.TagIntent]))
	return "muster-vol-" + hex.EncodeToString(sum[:12])
}

func errNoVolume(id string) error {
	return app.Errorf(app.ENotFound, "Volume %q doesn't exist on the engine.", id)
}

// CreateVolume makes a named volume. The engine answers with the one that is there where the name is taken.
func (e *engine) CreateVolume(ctx context.Context, spec family.VolumeSpec) (family.Volume, error) {
	if spec.Intent == "" || spec.SizeGB < 1 {
		return family.Volume{}, app.Errorf(app.EInvalid, "A volume requires an intent and a size of at least 1 GB.")
	}
	ctx, h, err := e.asking(ctx)
	if err != nil {
		return family.Volume{}, err
	}
	labels := map[string]string{labelSize: strconv.Itoa(spec.SizeGB)}
	for k, v := range spec.Tags {
		labels[tagPrefix+k] = v
	}
	name := volumeName(spec.Tags)
	r, err := e.api.VolumeCreate(ctx, client.VolumeCreateOptions{Name: name, Driver: localDriver, Labels: labels})
	taken := h.code() == 409
	if err = failure(ctx, h, err); err != nil && !taken {
		return family.Volume{}, err
	}
	has := tagsOf(r.Volume.Labels)
	for _, k := range []string{family.TagInstallation, family.TagTenant, family.TagIntent} {
		if taken || has[k] != spec.Tags[k] {
			return family.Volume{}, app.Errorf(app.EInvalid, "Volume %s already exists and wasn't created by Muster.", name)
		}
	}
	return e.Volume(ctx, name)
}

// inspectVolume returns a volume of Muster's.
func (e *engine) inspectVolume(ctx context.Context, id string) (v volume.Volume, err error) {
	if !idForm.MatchString(id) {
		return v, errNoVolume(id)
	}
	h, _ := ctx.Value(heardKey{}).(*heard)
	r, err := e.api.VolumeInspect(ctx, id, client.VolumeInspectOptions{})
	if err = failure(ctx, h, err); absent(err) || err == nil && tagsOf(r.Volume.Labels)[family.TagIntent] == "" {
		return v, errNoVolume(id)
	}
	return r.Volume, err
}

// Volume implements family.VolumeGetter.
func (e *engine) Volume(ctx context.Context, id string) (family.Volume, error) {
	ctx, h, err := e.asking(ctx)
	if err != nil {
		return family.Volume{}, err
	}
	v, err := e.inspectVolume(ctx, id)
	if err != nil {
		return family.Volume{}, err
	}
	holders, err := e.holders(ctx, h, client.Filters{}.Add("volume", v.Name))
	return viewOf(v, holders), err
}

// ListVolumes returns those that carry all of the tags, by name.
func (e *engine) ListVolumes(ctx context.Context, tags map[string]string) ([]family.Volume, error) {
	ctx, h, err := e.asking(ctx)
	if err != nil {
		return nil, err
	}
	r, err := e.api.VolumeList(ctx, client.VolumeListOptions{Filters: client.Filters{}.Add("label", labelSize)})
	if err = failure(ctx, h, err); err != nil {
		return nil, err
	}
	ours := slices.DeleteFunc(r.Items, func(v volume.Volume) bool { return !carries(tagsOf(v.Labels), tags) })
	if len(ours) == 0 {
		return nil, nil
	}
	used := client.Filters{}.Add("label", tagPrefix+family.TagInstallation)
	if len(ours) == 1 {
		used = client.Filters{}.Add("volume", ours[0].Name)
	}
	holders, err := e.holders(ctx, h, used)
	if err != nil {
		return nil, err
	}
	out := make([]family.Volume, 0, len(ours))
	for _, v := range ours {
		out = append(out, viewOf(v, holders))
	}
	slices.SortFunc(out, func(a, b family.Volume) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

// holders returns, by the names of volumes, a container that has each, whether it runs or not.
func (e *engine) holders(ctx context.Context, h *heard, which client.Filters) (map[string]string, error) {
	r, err := e.api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: which})
	if err = failure(ctx, h, err); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, c := range r.Items {
		for _, m := range c.Mounts {
			if m.Type == mount.TypeVolume {
				out[m.Name] = c.ID
			}
		}
	}
	return out, nil
}

// viewOf is a volume in app's words.
func viewOf(v volume.Volume, holders map[string]string) family.Volume {
	out := family.Volume{ID: v.Name, Name: v.Name, Machine: holders[v.Name], Tags: maps.Clone(tagsOf(v.Labels))}
	out.SizeGB, _ = strconv.Atoi(v.Labels[labelSize])
	if at, err := time.Parse(time.RFC3339Nano, v.CreatedAt); err == nil {
		out.CreatedAt = at
	}
	return out
}

// mounts are the volumes that a container is created with. Those of other tenants don't exist for it.
func (e *engine) mounts(ctx context.Context, spec family.MachineSpec) (out []mount.Mount, err error) {
	for _, want := range spec.Volumes {
		v, err := e.Volume(ctx, want.Volume)
		if err != nil && !absent(err) {
			return nil, err
		}
		for _, k := range []string{family.TagInstallation, family.TagTenant} {
			if err != nil || v.Tags[k] != spec.Tags[k] {
				return nil, app.Errorf(app.EConflict, "Volume %s doesn't exist on the engine.", want.Volume)
			}
		}
		if v.Machine != "" {
			return nil, family.ErrVolumeAttached(v.ID, v.Machine)
		}
		labels := map[string]string{labelSize: strconv.Itoa(v.SizeGB)} // of one that the engine makes, should it go meanwhile
		for k, tag := range v.Tags {
			labels[tagPrefix+k] = tag
		}
		out = append(out, mount.Mount{Type: mount.TypeVolume, Source: v.ID, Target: target(want.Mount, spec.Image.SSHUser),
			VolumeOptions: &mount.VolumeOptions{NoCopy: true, Labels: labels}})
	}
	return out, nil
}

// target is where a container finds a volume. Its users are unknown before there is a container, so homes are where systems have them.
func target(mount, user string) string {
	rest, inHome := strings.CutPrefix(mount, "~/")
	switch user = cmp.Or(user, "root"); {
	case !inHome:
		return path.Clean(mount)
	case user == "root":
		return path.Join("/root", rest)
	}
	return path.Join("/home", user, rest)
}

// AttachVolume only looks: a container has the volumes that it was created with.
func (e *engine) AttachVolume(ctx context.Context, at family.VolumeAttachment) (family.Volume, error) {
	ctx, _, err := e.asking(ctx)
	if err != nil {
		return family.Volume{}, err
	}
	v, err := e.Volume(ctx, at.Volume)
	if err != nil {
		return v, err
	}
	c, err := e.inspect(ctx, at.Machine)
	if err != nil {
		return v, err
	}
	i := slices.IndexFunc(c.Mounts, func(m container.MountPoint) bool { return m.Type == mount.TypeVolume && m.Name == v.ID })
	switch {
	case i >= 0:
		want := target(at.Mount, c.Config.Labels[labelUser])
		if v.Machine, v.Path = c.ID, c.Mounts[i].Destination; v.Path == want {
			return v, nil
		}
		return v, atCreation(fmt.Sprintf("Volume %s is mounted on %s of the container, not on %s.", v.ID, v.Path, want))
	case v.Machine != "":
		return v, family.ErrVolumeAttached(v.ID, v.Machine)
	}
	return v, atCreation(fmt.Sprintf("Container %s was created without volume %s.", c.ID, v.ID))
}

func atCreation(message string) *app.Error {
	return &app.Error{Code: app.EConflict, Reason: family.ReasonVolumeAtCreation, Message: message,
		Hint: "Docker mounts volumes only when it creates a container. Run muster cluster repair NAME NODE to create it again."}
}

// DetachVolume can't take a volume from a container: it's free once the container is deleted.
func (e *engine) DetachVolume(ctx context.Context, id string) error {
	v, err := e.Volume(ctx, id)
	if absent(err) || err == nil && v.Machine == "" {
		return nil
	}
	if err != nil {
		return err
	}
	held := family.ErrVolumeAttached(v.ID, v.Machine)
	held.Hint = "It's detached when the container is deleted."
	return held
}

// DeleteVolume removes a volume that no container has.
func (e *engine) DeleteVolume(ctx context.Context, id string) error {
	ctx, h, err := e.asking(ctx)
	if err != nil {
		return err
	}
	v, err := e.inspectVolume(ctx, id)
	if absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = e.api.VolumeRemove(ctx, v.Name, client.VolumeRemoveOptions{})
	inUse := h.code() == 409
	if err = failure(ctx, h, err); err == nil || absent(err) {
		return nil
	}
	if !inUse {
		return err
	}
	holders, err := e.holders(ctx, h, client.Filters{}.Add("volume", v.Name))
	if err != nil {
		return err
	}
	return family.ErrVolumeAttached(v.Name, cmp.Or(holders[v.Name], "another container"))
}
