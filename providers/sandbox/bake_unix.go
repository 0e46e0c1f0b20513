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
	"time"

	"muster/app"
	"muster/app/family"
)

var _ family.Baker = (*Provider)(nil)

// bakedRecord is what image.json of a baked image holds. Its directory has its final name only when all of it is there.
type bakedRecord struct {
	ID      string            `json:"id"`
	Mode    string            `json:"mode"`
	Image   string            `json:"image"` // that the machine was made from
	Tags    map[string]string `json:"tags"`
	Created time.Time         `json:"created"`
}

var bakedForm = regexp.MustCompile(`^baked-[0-9a-f]{24}$`)

func bakedID(tag string) string {
	sum := sha256.Sum256([]byte(tag))
	return "baked-" + hex.EncodeToString(sum[:12])
}

func (l layout) bakes() string          { return filepath.Join(l.dir, "images") }
func (l layout) baked(id string) string { return filepath.Join(l.dir, "images", id) }

// loadBaked reads an image's record; fs.ErrNotExist where there is none, also for an id that no image can have.
func (l layout) loadBaked(id string) (*bakedRecord, error) {
	if !bakedForm.MatchString(id) {
		return nil, fs.ErrNotExist
	}
	b, err := os.ReadFile(filepath.Join(l.baked(id), "image.json"))
	if err != nil {
		return nil, err
	}
	r := new(bakedRecord)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("%s: %w", l.baked(id), err)
	}
	return r, nil
}

// Bake copies the files of a machine: in process mode its home, in namespaces mode the layers in which its changes are. Host key, host name and login key
// are the machine's alone, and new for each machine that starts from the image.
func (p *Provider) Bake(ctx context.Context, machine string, spec family.BakeSpec) (family.BakedImage, error) {
	r, unlock, err := p.hold(ctx, machine)
	if err != nil {
		return family.BakedImage{}, err
	}
	defer unlock()
	id := bakedID(spec.Tags[family.TagBake])
	if b, err := p.files.loadBaked(id); err == nil {
		return b.view(), nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return family.BakedImage{}, err
	}
	if err := p.usage.roomOnDisk(ctx); err != nil {
		return family.BakedImage{}, err
	}
	if r.InMemory {
		return family.BakedImage{}, invalid("machine", "the files of machine %s are in memory, so no image can be made of it", machine)
	}
	build, err := os.MkdirTemp(p.files.trash(), id+"-")
	if err != nil {
		return family.BakedImage{}, err
	}
	defer func() { _ = os.RemoveAll(build) }()
	trees, err := p.files.treesOf(r)
	if err != nil {
		return family.BakedImage{}, err
	}
	for _, tree := range trees {
		if err := cloneTree(ctx, p.files.file(r.ID, tree), filepath.Join(build, tree)); err != nil {
			return family.BakedImage{}, fmt.Errorf("copy %s: %w", tree, err)
		}
	}
	if err := forgetMachine(build); err != nil {
		return family.BakedImage{}, err
	}
	b := &bakedRecord{ID: id, Mode: r.Mode, Image: r.Image, Tags: maps.Clone(spec.Tags), Created: time.Now().UTC()}
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return family.BakedImage{}, err
	}
	if err := writeFile(filepath.Join(build, "image.json"), append(text, '\n'), 0o600); err != nil {
		return family.BakedImage{}, err
	}
	if err := os.MkdirAll(p.files.bakes(), 0o700); err != nil {
		return family.BakedImage{}, err
	}
	if err := os.Rename(build, p.files.baked(id)); err != nil {
		return family.BakedImage{}, err
	}
	return b.view(), nil
}

// treesOf names the directories, in a machine's own, that an image of it consists of.
func (l layout) treesOf(r *record) ([]string, error) {
	if r.Mode == ModeProcess {
		return []string{"home"}, nil
	}
	trees := []string{"upper"}
	more, err := filepath.Glob(filepath.Join(l.node(r.ID), "*-upper"))
	for _, t := range more {
		trees = append(trees, filepath.Base(t))
	}
	return trees, err
}

// ownFiles are those of a machine of namespaces that say which one it is. All but the last are written again when a machine starts.
var ownFiles = []string{"etc/hostname", "etc/hosts", "etc/machine-id", "etc/ssh/ssh_host_ed25519_key", "etc/ssh/ssh_host_ed25519_key.pub",
	"root/.ssh", "root/.bash_history"}

// forgetMachine takes out of an image's files what is one machine's alone.
func forgetMachine(dir string) error {
	for _, f := range ownFiles {
		if err := os.RemoveAll(filepath.Join(dir, "upper", f)); err != nil {
			return err
		}
	}
	return os.RemoveAll(filepath.Join(dir, "home", ".ssh"))
}

func (b *bakedRecord) view() family.BakedImage {
	return family.BakedImage{ID: b.ID, Ready: true, Tags: maps.Clone(b.Tags), CreatedAt: b.Created}
}

// BakedImages lists the images that carry all of the tags.
func (p *Provider) BakedImages(ctx context.Context, tags map[string]string) (out []family.BakedImage, err error) {
	entries, err := os.ReadDir(p.files.bakes())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b, err := p.files.loadBaked(e.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if carries(b.Tags, tags) {
			out = append(out, b.view())
		}
	}
	return out, nil
}

// DeleteBaked removes an image. Machines have copies of its files.
func (p *Provider) DeleteBaked(_ context.Context, id string) error {
	if !bakedForm.MatchString(id) {
		return nil
	}
	grave, err := os.MkdirTemp(p.files.trash(), id+"-")
	if err != nil {
		return err
	}
	if err := os.Rename(p.files.baked(id), filepath.Join(grave, id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(grave)
}

// fromBaked copies to a new machine the files of the image that it starts from.
func (l layout) fromBaked(ctx context.Context, r *record) error {
	if r.Baked == "" {
		return nil
	}
	entries, err := os.ReadDir(l.baked(r.Baked))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := cloneTree(ctx, filepath.Join(l.baked(r.Baked), e.Name()), l.file(r.ID, e.Name())); err != nil {
				return fmt.Errorf("copy %s of image %s: %w", e.Name(), r.Baked, err)
			}
		}
	}
	return nil
}

// bakedFor returns the image that a spec names; nil for one that is no baked one.
func (p *Provider) bakedFor(image string) (*bakedRecord, error) {
	if !bakedForm.MatchString(image) {
		return nil, nil
	}
	b, err := p.files.loadBaked(image)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, app.Errorf(app.ENotFound, "baked image %q doesn't exist in the sandbox", image)
	}
	if err == nil && b.Mode != p.mode {
		return nil, invalid("image", "baked image %q is of a %s machine, and this sandbox makes %s machines", image, b.Mode, p.mode)
	}
	return b, err
}

// cloneTree copies a tree as it is: with owners, modes, links, attributes, and the devices by which an overlay says that a file is deleted.
func cloneTree(ctx context.Context, from, to string) error {
	if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	out, err := exec.CommandContext(ctx, "cp", "-a", from, to).CombinedOutput()
	if err != nil && ctx.Err() == nil && len(out) > 0 {
		return fmt.Errorf("%w: %.300s", err, out)
	}
	return err
}
