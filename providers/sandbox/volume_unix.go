//go:build unix

package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"muster/app"
	"muster/app/family"
)

var (
	_ family.Volumes = (*Provider)(nil)
	_ mounter        = (*process)(nil)
)

// volume is what volume.json holds. Its files are in the folder beside it.
type volume struct {
	ID      string            `json:"id"`
	Intent  string            `json:"intent"`
	Name    string            `json:"name"`
	SizeGB  int               `json:"size_gb"`
	Tags    map[string]string `json:"tags"`
	Created time.Time         `json:"created"`
	Machine string            `json:"machine,omitempty"` // it counts only as long as that machine exists
	Mount   string            `json:"mount,omitempty"`   // where on the machine
}

var volumeForm = regexp.MustCompile(`^sv-[0-9a-f]{12}$`)

func volumeIDOf(intent string) string {
	sum := sha256.Sum256([]byte(intent))
	return "sv-" + hex.EncodeToString(sum[:6])
}

func (l layout) volumes() string               { return filepath.Join(l.dir, "volumes") }
func (l layout) volumeFiles(id string) string  { return filepath.Join(l.volumes(), id, "files") }
func (l layout) volumeRecord(id string) string { return filepath.Join(l.volumes(), id, "volume.json") }

// loadVolume reads a record; fs.ErrNotExist where there is none.
func (l layout) loadVolume(id string) (*volume, error) {
	if !volumeForm.MatchString(id) {
		return nil, fs.ErrNotExist
	}
	b, err := os.ReadFile(l.volumeRecord(id))
	if err != nil {
		return nil, err
	}
	v := new(volume)
	if err := json.Unmarshal(b, v); err != nil {
		return nil, fmt.Errorf("%s: %w", l.volumeRecord(id), err)
	}
	if v.Machine != "" {
		if _, err := l.load(v.Machine); errors.Is(err, fs.ErrNotExist) {
			v.Machine, v.Mount = "", "" // it went with its machine's mounts
		}
	}
	return v, nil
}

func (l layout) saveVolume(v *volume) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(l.volumeRecord(v.ID), append(b, '\n'), 0o600)
}

// allVolumes returns every volume that has a record. A folder without one was being made when someone died.
func (l layout) allVolumes() (list []*volume, err error) {
	entries, err := os.ReadDir(l.volumes())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		v, err := l.loadVolume(e.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err // a list that silently lacks one would have it made again
		}
		list = append(list, v)
	}
	return list, nil
}

// volumesOf returns those that a machine has.
func (l layout) volumesOf(machine string) (list []*volume, err error) {
	all, err := l.allVolumes()
	for _, v := range all {
		if v.Machine == machine {
			list = append(list, v)
		}
	}
	return list, err
}

func (v *volume) view() family.Volume {
	return family.Volume{ID: v.ID, Name: v.Name, SizeGB: v.SizeGB, Machine: v.Machine, Tags: maps.Clone(v.Tags), CreatedAt: v.Created}
}

// lockVolumes has one at a time work on the volumes of a data directory.
func (p *Provider) lockVolumes(ctx context.Context) (func(), error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(p.files.volumes(), 0o700); err != nil {
		return nil, err
	}
	return lockFile(ctx, filepath.Join(p.files.dir, "volumes.lock"))
}

func errNoVolume(id string) error {
	return app.Errorf(app.ENotFound, "volume %q doesn't exist in the sandbox", id)
}

// CreateVolume makes a folder. Its size is kept, and not enforced.
func (p *Provider) CreateVolume(ctx context.Context, spec family.VolumeSpec) (family.Volume, error) {
	if spec.Intent == "" || spec.SizeGB < 1 {
		return family.Volume{}, invalid("volume", "a volume requires an intent and a size of at least 1 GB")
	}
	unlock, err := p.lockVolumes(ctx)
	if err != nil {
		return family.Volume{}, err
	}
	defer unlock()
	id := volumeIDOf(spec.Intent)
	switch v, err := p.files.loadVolume(id); {
	case err == nil:
		return v.view(), nil
	case !errors.Is(err, fs.ErrNotExist):
		return family.Volume{}, err
	}
	if err := p.usage.roomOnDisk(ctx); err != nil {
		return family.Volume{}, err
	}
	if err := os.MkdirAll(p.files.volumeFiles(id), 0o755); err != nil {
		return family.Volume{}, err
	}
	v := &volume{ID: id, Intent: spec.Intent, Name: spec.Name, SizeGB: spec.SizeGB, Tags: spec.Tags, Created: time.Now().UTC()}
	return v.view(), p.files.saveVolume(v)
}

// ListVolumes returns those that carry all of the tags, by id.
func (p *Provider) ListVolumes(ctx context.Context, tags map[string]string) ([]family.Volume, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all, err := p.files.allVolumes()
	if err != nil {
		return nil, err
	}
	var out []family.Volume
	for _, v := range all {
		if carries(v.Tags, tags) {
			out = append(out, v.view())
		}
	}
	return out, nil
}

// AttachVolume shows the volume's folder on the machine. What is written down first is found again, should this process end.
func (p *Provider) AttachVolume(ctx context.Context, at family.VolumeAttachment) (family.Volume, error) {
	unlock, err := p.lockVolumes(ctx)
	if err != nil {
		return family.Volume{}, err
	}
	defer unlock()
	v, err := p.files.loadVolume(at.Volume)
	if errors.Is(err, fs.ErrNotExist) {
		return family.Volume{}, errNoVolume(at.Volume)
	}
	if err != nil {
		return family.Volume{}, err
	}
	if v.Machine != "" && v.Machine != at.Machine {
		return family.Volume{}, family.ErrVolumeAttached(v.ID, v.Machine)
	}
	r, release, err := p.hold(ctx, at.Machine)
	if err != nil {
		return family.Volume{}, err
	}
	defer release()
	if alive, _ := p.kinds[r.Mode].alive(r); !alive {
		return family.Volume{}, app.Errorf(app.ETransient, "machine %s isn't running", r.ID)
	}
	path, err := p.mounter(r).mountPath(r, at.Mount)
	if err != nil {
		return family.Volume{}, err
	}
	if v.Machine != "" && v.Mount != path {
		return family.Volume{}, app.Errorf(app.EConflict, "volume %s is mounted on %s of the machine, not on %s", v.ID, v.Mount, path)
	}
	v.Machine, v.Mount = r.ID, path
	if err := p.files.saveVolume(v); err != nil {
		return family.Volume{}, err
	}
	if err := p.mounter(r).mount(r, v); err != nil {
		return family.Volume{}, fmt.Errorf("mount volume %s on %s: %w", v.ID, path, err)
	}
	out := v.view()
	out.Path = path
	return out, nil
}

// DetachVolume takes the folder off its machine. ETransient as long as something on the machine uses it.
func (p *Provider) DetachVolume(ctx context.Context, id string) error {
	unlock, err := p.lockVolumes(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	v, err := p.files.loadVolume(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || v.Machine == "" {
		return err
	}
	r, release, err := p.hold(ctx, v.Machine)
	if err == nil {
		defer release()
		if err := p.mounter(r).unmount(r, v); err != nil {
			return err
		}
	} else if app.CodeOf(err) != app.ENotFound {
		return err
	}
	v.Machine, v.Mount = "", ""
	return p.files.saveVolume(v)
}

// DeleteVolume removes a folder that no machine has, with its files.
func (p *Provider) DeleteVolume(ctx context.Context, id string) error {
	unlock, err := p.lockVolumes(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	v, err := p.files.loadVolume(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if v.Machine != "" {
		return family.ErrVolumeAttached(v.ID, v.Machine)
	}
	grave, err := os.MkdirTemp(p.files.trash(), id+"-")
	if err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(p.files.volumes(), id), filepath.Join(grave, id)); err != nil {
		return err
	}
	return os.RemoveAll(grave)
}

// mountPath of a machine that shares the host's files is in its home.
func (p *process) mountPath(r *record, mount string) (string, error) {
	rest, ok := strings.CutPrefix(mount, "~/")
	if !ok || !filepath.IsLocal(rest) {
		e := invalid("mount", "a process machine can't mount a volume on %s, since it shares this host's files", mount)
		e.Hint = "Mount it in the home folder, such as ~/data, or use a sandbox with namespaces."
		return "", e
	}
	return filepath.Join(p.files.file(r.ID, "home"), rest), nil
}

// mount makes a symbolic link, which outlives restarts. What is there already is not touched.
func (p *process) mount(_ *record, v *volume) error {
	target := p.files.volumeFiles(v.ID)
	if got, err := os.Readlink(v.Mount); err == nil && got == target {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(v.Mount), 0o755); err != nil {
		return err
	}
	_ = os.Remove(v.Mount) // an empty folder
	return os.Symlink(target, v.Mount)
}

func (p *process) unmount(_ *record, v *volume) error {
	if got, _ := os.Readlink(v.Mount); got != p.files.volumeFiles(v.ID) { // someone else's, or none
		return nil
	}
	return os.Remove(v.Mount)
}
