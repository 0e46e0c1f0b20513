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
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"muster/app"
	"muster/app/family"
)

var _ family.VolumeSnapshots = (*Provider)(nil)

// snapshot is what snapshot.json holds. The copy of the volume's files is in the folder beside it.
type snapshot struct {
	ID      string            `json:"id"`
	SizeGB  int               `json:"size_gb"`
	Tags    map[string]string `json:"tags"`
	Created time.Time         `json:"created"`
}

var snapshotForm = regexp.MustCompile(`^ss-[0-9a-f]{12}$`)

func snapshotIDOf(intent string) string {
	sum := sha256.Sum256([]byte(intent))
	return "ss-" + hex.EncodeToString(sum[:6])
}

func (l layout) snapshots() string              { return filepath.Join(l.dir, "snapshots") }
func (l layout) snapshotFiles(id string) string { return filepath.Join(l.snapshots(), id, "files") }

// loadSnapshot reads a record; fs.ErrNotExist where there is none.
func (l layout) loadSnapshot(id string) (*snapshot, error) {
	if !snapshotForm.MatchString(id) {
		return nil, fs.ErrNotExist
	}
	b, err := os.ReadFile(filepath.Join(l.snapshots(), id, "snapshot.json"))
	if err != nil {
		return nil, err
	}
	s := new(snapshot)
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("snapshot %s: %w", id, err)
	}
	return s, nil
}

func (s *snapshot) view() family.Snapshot {
	return family.Snapshot{ID: s.ID, SizeGB: s.SizeGB, Tags: maps.Clone(s.Tags), CreatedAt: s.Created}
}

// copyFiles copies a folder with all that is in it, sharing blocks where the file system can.
func copyFiles(ctx context.Context, from, to string) error {
	if err := os.RemoveAll(to); err != nil { // what someone left who died
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, "cp", "-a", "--reflink=auto", from+"/.", to+"/").CombinedOutput()
	if err != nil && ctx.Err() == nil && strings.Contains(string(out), "reflink") {
		out, err = exec.CommandContext(ctx, "cp", "-a", from+"/.", to+"/").CombinedOutput()
	}
	if err != nil {
		return fmt.Errorf("copy %s: %w: %.300s", from, err, out)
	}
	return nil
}

// CreateSnapshot copies the volume's folder. The record comes last: a folder without one was being copied when someone died.
func (p *Provider) CreateSnapshot(ctx context.Context, spec family.SnapshotSpec) (family.Snapshot, error) {
	if spec.Intent == "" {
		return family.Snapshot{}, invalid("snapshot", "a snapshot requires an intent")
	}
	unlock, err := p.lockVolumes(ctx)
	if err != nil {
		return family.Snapshot{}, err
	}
	defer unlock()
	id := snapshotIDOf(spec.Intent)
	switch s, err := p.files.loadSnapshot(id); {
	case err == nil:
		return s.view(), nil
	case !errors.Is(err, fs.ErrNotExist):
		return family.Snapshot{}, err
	}
	v, err := p.files.loadVolume(spec.Volume)
	if errors.Is(err, fs.ErrNotExist) {
		return family.Snapshot{}, errNoVolume(spec.Volume)
	}
	if err != nil {
		return family.Snapshot{}, err
	}
	if err := p.usage.roomOnDisk(ctx); err != nil {
		return family.Snapshot{}, err
	}
	if err := copyFiles(ctx, p.files.volumeFiles(v.ID), p.files.snapshotFiles(id)); err != nil {
		return family.Snapshot{}, err
	}
	s := &snapshot{ID: id, SizeGB: v.SizeGB, Tags: spec.Tags, Created: time.Now().UTC()}
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return family.Snapshot{}, err
	}
	return s.view(), writeFile(filepath.Join(p.files.snapshots(), id, "snapshot.json"), append(b, '\n'), 0o600)
}

// ListSnapshots returns those that carry all of the tags, by id.
func (p *Provider) ListSnapshots(ctx context.Context, tags map[string]string) ([]family.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(p.files.snapshots())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []family.Snapshot
	for _, e := range entries {
		s, err := p.files.loadSnapshot(e.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if carries(s.Tags, tags) {
			out = append(out, s.view())
		}
	}
	return out, nil
}

// DeleteSnapshot removes the copy. The record goes first.
func (p *Provider) DeleteSnapshot(ctx context.Context, id string) error {
	unlock, err := p.lockVolumes(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if !snapshotForm.MatchString(id) {
		return nil
	}
	if err := os.Remove(filepath.Join(p.files.snapshots(), id, "snapshot.json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(filepath.Join(p.files.snapshots(), id))
}

// CreateVolumeFrom makes a volume whose files are a copy of a snapshot's.
func (p *Provider) CreateVolumeFrom(ctx context.Context, spec family.VolumeSpec, from string) (family.Volume, error) {
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
	s, err := p.files.loadSnapshot(from)
	if errors.Is(err, fs.ErrNotExist) {
		return family.Volume{}, app.Errorf(app.ENotFound, "snapshot %q doesn't exist in the sandbox", from)
	}
	if err != nil {
		return family.Volume{}, err
	}
	if err := p.usage.roomOnDisk(ctx); err != nil {
		return family.Volume{}, err
	}
	if err := copyFiles(ctx, p.files.snapshotFiles(from), p.files.volumeFiles(id)); err != nil {
		return family.Volume{}, err
	}
	v := &volume{ID: id, Intent: spec.Intent, Name: spec.Name, SizeGB: max(spec.SizeGB, s.SizeGB), Tags: spec.Tags,
		Created: time.Now().UTC()}
	return v.view(), p.files.saveVolume(v)
}
