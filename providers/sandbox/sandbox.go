//go:build unix

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"muster/app"
	"muster/app/family"
)

// Env is what the sandbox needs from the process that it runs in.
type Env struct {
	DataDir string       // all state is below it; made with mode 0700
	Logger  *slog.Logger // nil means no logging
}

// Provider is one sandbox: the machines of one data directory. Several may be open on the same directory, also in
// different processes.
type Provider struct {
	name     string
	files    layout
	settings settings
	log      *slog.Logger
	mode     string
	why      string
	kinds    map[string]backend // by mode
	usage    *usage
}

var (
	_ family.Provider       = (*Provider)(nil)
	_ family.ProviderCloser = (*Provider)(nil)
)

// backend is one kind of machine. Calls for one machine never overlap, except alive.
type backend interface {
	// possible says in words why machines of this kind cannot be made for the image; nil when they can.
	possible(ctx context.Context, image string) error
	// start makes the machine of r, completes r (address, port, user, init) and saves it on the way. What it leaves
	// after an error, stop removes.
	start(ctx context.Context, r *record, k keys) error
	// alive says whether the machine runs, and describes it for people.
	alive(r *record) (bool, string)
	// stop ends all that runs for the machine and removes what is not a file of it. Nothing to stop is success.
	stop(ctx context.Context, r *record) error
	// rest ends all that runs for the machine and keeps its files; rouse makes it run again, at the same address where that can be,
	// and saves it. What runs already, or no more, is no error of rest.
	rest(ctx context.Context, r *record) error
	rouse(ctx context.Context, r *record) error
	// resume takes up the machines that an earlier process left.
	resume(ctx context.Context, rs []*record)
	// tidy runs after a machine went, under the directory's lock; last says that none is left.
	tidy(ctx context.Context, last bool)
	// close lets go of what this process holds. Machines stay.
	close() error
}

// mounter puts volumes on machines of one kind. Every backend is one.
type mounter interface {
	// mountPath is where a volume is on the machine that is wanted on a path; EInvalid where it can't be there. mount puts it there, and unmount
	// takes it away: ETransient while something uses it. What is so already is success.
	mountPath(r *record, mount string) (string, error)
	mount(r *record, v *volume) error
	unmount(r *record, v *volume) error
}

func (p *Provider) mounter(r *record) mounter { return p.kinds[r.Mode].(mounter) }

// Open opens the sandbox of a data directory, taking up the machines that are in it. With mode namespaces, EInvalid
// where those cannot be made here; with auto, the reason is kept for Mode.
func Open(ctx context.Context, name string, values map[string]any, env Env) (*Provider, error) {
	s, err := parseSettings(values)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(env.DataDir)
	if err != nil || env.DataDir == "" {
		return nil, app.Errorf(app.EInvalid, "sandbox %q requires a data directory", name)
	}
	// The path names the bridge and is compared with mounts, so it must be the same whichever way one got here.
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	p := &Provider{name: name, files: layout{dir}, settings: s, log: env.Logger}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	if err := p.files.prepare(); err != nil {
		return nil, err
	}
	p.usage = &usage{files: p.files, limit: s}
	p.kinds = backends(p.files, s, p.usage, p.log)
	if err := p.chooseMode(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	p.takeUp(ctx)
	return p, nil
}

func (p *Provider) chooseMode(ctx context.Context) error {
	p.mode = p.settings.mode
	if p.mode == ModeProcess {
		p.why = "its mode is set to process"
		return nil
	}
	err := fmt.Errorf("this operating system doesn't support them")
	if b, ok := p.kinds[ModeNamespaces]; ok {
		err = b.possible(ctx, HostImage)
	}
	switch {
	case err == nil:
		p.mode = ModeNamespaces
	case p.mode == ModeNamespaces:
		return invalid("settings.mode", "can't create namespaces machines here: %w", err)
	default:
		p.mode, p.why = ModeProcess, err.Error()
		p.log.Info("sandbox machines share this host's file system", "reason", p.why)
	}
	return nil
}

// Mode is the kind of machine that Create makes: ModeNamespaces or ModeProcess. For the latter, why says what speaks
// against namespaces.
func (p *Provider) Mode() (mode, why string) { return p.mode, p.why }

// takeUp hands each kind its machines. Records that cannot be read are notified of and left for a person to look at.
func (p *Provider) takeUp(ctx context.Context) {
	p.files.sweep()
	ids, err := p.files.ids()
	if err != nil {
		p.log.Error("can't list sandbox machines", "error", err)
		return
	}
	byMode := make(map[string][]*record)
	for _, id := range ids {
		r, err := p.files.load(id)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			p.files.removeUnbegun(ctx, id)
		case err != nil:
			p.log.Error("can't read a sandbox machine", "machine", id, "error", err)
		default:
			byMode[r.Mode] = append(byMode[r.Mode], r)
		}
	}
	for mode, b := range p.kinds {
		b.resume(ctx, byMode[mode])
	}
	p.tidy(ctx)
}

// hostnameForm is a host name of labels; it also keeps anything special out of the files that the name is put in.
var hostnameForm = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$`)

// Create makes the machine of spec.Intent, finishes one that a crash left half made, or returns the existing one.
// EInvalid for a flavor, image, host name or key that cannot be used; ECapacity when the most machines are there.
func (p *Provider) Create(ctx context.Context, spec family.MachineSpec) (family.Machine, error) {
	k, err := p.checkSpec(ctx, spec)
	if err != nil {
		return family.Machine{}, err
	}
	id := idOf(spec.Intent)
	unlock, err := p.files.lockNode(ctx, id, true)
	if err != nil {
		return family.Machine{}, err
	}
	defer unlock()
	r, err := p.files.load(id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return family.Machine{}, err
	case r.Intent != spec.Intent:
		return family.Machine{}, app.Errorf(app.EConflict, "intents %q and %q have the same short name %s", r.Intent, spec.Intent, id)
	case r.Ready:
		return p.view(r), nil
	default:
		// A crash left it half made. Removing it takes the lock's directory away too, so begin again.
		if err := p.remove(ctx, r); err != nil {
			return family.Machine{}, fmt.Errorf("remains of an earlier attempt: %w", err)
		}
		return p.Create(ctx, spec)
	}
	baked, err := p.bakedFor(spec.Image.Image)
	if err != nil {
		return family.Machine{}, err
	}
	r = &record{
		ID: id, Intent: spec.Intent, Hostname: spec.Hostname, Mode: p.mode, Flavor: spec.Flavor.Flavor, Image: imageOf(spec),
		Tags: spec.Tags, HostKey: k.hostPublic, Created: time.Now().UTC(),
	}
	if baked != nil {
		r.Image, r.Baked = baked.Image, baked.ID
	}
	if err := p.admit(ctx, r); err != nil {
		return family.Machine{}, err
	}
	if err := p.start(ctx, r, k); err != nil {
		p.log.Warn("could not create a sandbox machine", "machine", id, "hostname", r.Hostname, "error", err)
		// What was begun is undone although ctx may be done; if that fails too, the record stays for Delete.
		if undo := p.remove(context.WithoutCancel(ctx), r); undo != nil {
			err = errors.Join(err, undo)
		}
		return family.Machine{}, err
	}
	return p.view(r), nil
}

func (p *Provider) start(ctx context.Context, r *record, k keys) error {
	if err := p.files.fromBaked(ctx, r); err != nil {
		return err
	}
	if err := p.kinds[r.Mode].start(ctx, r, k); err != nil {
		return err
	}
	r.Ready = true
	return p.files.save(r)
}

func imageOf(spec family.MachineSpec) string {
	if spec.Image.Image == "" {
		return HostImage
	}
	return spec.Image.Image
}

func (p *Provider) checkSpec(ctx context.Context, spec family.MachineSpec) (keys, error) {
	if err := ctx.Err(); err != nil {
		return keys{}, err
	}
	if err := checkFlavor(spec.Flavor); err != nil {
		return keys{}, err
	}
	if spec.Intent == "" {
		return keys{}, invalid("intent", "a machine requires an intent")
	}
	if !hostnameForm.MatchString(spec.Hostname) || len(spec.Hostname) > 253 {
		return keys{}, invalid("hostname", "%q isn't a valid host name", spec.Hostname)
	}
	image := imageOf(spec)
	if b, err := p.bakedFor(image); err != nil {
		return keys{}, err
	} else if b != nil {
		image = b.Image
	}
	if image != HostImage && !filepath.IsAbs(image) {
		e := invalid("image", "image %q doesn't exist in the sandbox", image)
		e.Hint = `Use "host", or the absolute path of a directory with a root file system.`
		return keys{}, e
	}
	if spec.Isolated && p.mode == ModeProcess {
		return keys{}, &app.Error{Code: app.EForbidden, Reason: "process_mode", Field: "provider", Hint: family.IsolationHint,
			Message: fmt.Sprintf("Machines of provider %s would be processes on this host (%s), and the installation has several tenants: owners of machines could read the data of all tenants.", p.name, p.why)}
	}
	if err := p.kinds[p.mode].possible(ctx, image); err != nil {
		return keys{}, invalid("image", "can't create a machine with image %q: %w", image, err)
	}
	return keysOf(spec)
}

// admit writes the record if there is room for one more. The lock makes the count true.
func (p *Provider) admit(ctx context.Context, r *record) error {
	unlock, err := lockFile(ctx, p.files.lock())
	if err != nil {
		return err
	}
	defer unlock()
	ids, err := p.files.ids()
	if err != nil {
		return err
	}
	others := 0
	for _, id := range ids {
		if _, err := os.Stat(p.files.recordFile(id)); err == nil && id != r.ID {
			others++
		}
	}
	if others >= p.settings.maxMachines {
		e := app.Errorf(app.ECapacity, "the sandbox is at its limit of %d machines", p.settings.maxMachines)
		e.Hint = "Delete machines, or raise the provider's setting max_machines."
		return e
	}
	if err := p.usage.roomForProcess(); err != nil {
		return err
	}
	if err := p.usage.roomOnDisk(ctx); err != nil {
		return err
	}
	return p.files.save(r)
}

// Describe returns a machine as it is now; ENotFound where there is none.
func (p *Provider) Describe(ctx context.Context, id string) (family.Machine, error) {
	if err := ctx.Err(); err != nil {
		return family.Machine{}, err
	}
	r, err := p.files.load(id)
	if errors.Is(err, fs.ErrNotExist) {
		return family.Machine{}, app.Errorf(app.ENotFound, "machine %q doesn't exist in the sandbox", id)
	}
	if err != nil {
		return family.Machine{}, err
	}
	return p.view(r), nil
}

func (p *Provider) view(r *record) family.Machine {
	b, ok := p.kinds[r.Mode]
	if !ok {
		return r.machine(family.MachineStopped, "a "+r.Mode+" machine, which this process can't run")
	}
	alive, note := b.alive(r)
	switch {
	case r.Asleep && !alive:
		return r.machine(family.MachineStopped, "asleep")
	case alive && r.Ready:
		return r.machine(family.MachineRunning, note)
	case alive:
		return r.machine(family.MachineStarting, note)
	}
	return r.machine(family.MachineStopped, note)
}

// List returns the machines that carry all of the tags, by id.
func (p *Provider) List(ctx context.Context, tags map[string]string) ([]family.Machine, error) {
	ids, err := p.files.ids()
	if err != nil {
		return nil, err
	}
	var out []family.Machine
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r, err := p.files.load(id)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err // a list that silently lacks a machine would have it made again
		}
		if carries(r.Tags, tags) {
			out = append(out, p.interrupted(ctx, r, p.view(r)))
		}
	}
	return out, ctx.Err()
}

func carries(has, wanted map[string]string) bool {
	for k, v := range wanted {
		if got, ok := has[k]; !ok || got != v {
			return false
		}
	}
	return true
}

// Delete ends the machine and removes all that was made for it, then what all machines shared, if it was the last. An absent machine is
// success.
func (p *Provider) Delete(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !idForm.MatchString(id) {
		return nil
	}
	unlock, err := p.files.lockNode(ctx, id, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unlock()
	r, err := p.files.load(id)
	if errors.Is(err, fs.ErrNotExist) {
		r = &record{ID: id}
	} else if err != nil {
		return err
	}
	return p.remove(ctx, r)
}

// remove undoes a machine, whichever part of it there is. The caller holds its lock.
func (p *Provider) remove(ctx context.Context, r *record) error {
	for mode, b := range p.kinds {
		if r.Mode != "" && r.Mode != mode {
			continue
		}
		if err := b.stop(ctx, r); err != nil {
			return fmt.Errorf("stop %s: %w", r.ID, err)
		}
	}
	if err := p.files.discard(r.ID); err != nil {
		return err
	}
	p.files.release(r.ID)
	p.tidy(ctx)
	return nil
}

// tidy removes what machines share, once there is none.
func (p *Provider) tidy(ctx context.Context) {
	unlock, err := lockFile(ctx, p.files.lock())
	if err != nil {
		return // the next one to go, or to open, does it
	}
	defer unlock()
	ids, err := p.files.ids()
	if err != nil {
		return
	}
	for _, b := range p.kinds {
		b.tidy(ctx, len(ids) == 0)
	}
}

// Close lets go of what this process holds: process machines stop answering until the provider is opened again. Closing
// twice is harmless.
func (p *Provider) Close() error {
	var errs []error
	for _, b := range p.kinds {
		errs = append(errs, b.close())
	}
	return errors.Join(errs...)
}
