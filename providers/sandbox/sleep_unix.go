//go:build unix

package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"muster/app"
	"muster/app/family"
)

var _ family.Sleeper = (*Provider)(nil)

// Sleep ends all that runs on a machine and keeps its files, its keys and its address. EInvalid where its files are in memory:
// they would be lost.
func (p *Provider) Sleep(ctx context.Context, id string) error {
	r, unlock, err := p.hold(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	if r.InMemory {
		e := app.Errorf(app.EInvalid, "machine %s can't be stopped: its files are in memory and would be lost", id)
		e.Reason, e.Hint = "cannot_sleep", "Put the sandbox's data directory on a file system that supports overlays, such as ext4."
		return e
	}
	r.Asleep = true // from here on no one takes it up again by themselves
	if err := p.files.save(r); err != nil {
		return err
	}
	return p.kinds[r.Mode].rest(ctx, r)
}

// Wake runs a machine again that was put to sleep, or that has stopped. One that runs is success.
func (p *Provider) Wake(ctx context.Context, id string) error {
	r, unlock, err := p.hold(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	b := p.kinds[r.Mode]
	if r.Asleep {
		r.Asleep = false
		if err := p.files.save(r); err != nil {
			return err
		}
	}
	if alive, _ := b.alive(r); alive {
		return nil
	}
	if r.InMemory {
		return app.Errorf(app.EInvalid, "the files of machine %s were in memory and are lost", id)
	}
	return b.rouse(ctx, r)
}

// hold returns a machine that Create has finished, under its lock; ENotFound where there is none.
func (p *Provider) hold(ctx context.Context, id string) (*record, func(), error) {
	absent := app.Errorf(app.ENotFound, "machine %q doesn't exist in the sandbox", id)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if !idForm.MatchString(id) {
		return nil, nil, absent
	}
	unlock, err := p.files.lockNode(ctx, id, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, absent
	}
	if err != nil {
		return nil, nil, err
	}
	r, err := p.files.load(id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = absent
	case err == nil && !r.Ready:
		err = app.Errorf(app.ETransient, "machine %s isn't created yet", id)
	case err == nil && p.kinds[r.Mode] == nil:
		err = app.Errorf(app.EInvalid, "machine %s has mode %s, which this process can't run", id, r.Mode)
	}
	if err != nil {
		unlock()
		return nil, nil, err
	}
	return r, unlock, nil
}

func (p *process) rest(ctx context.Context, r *record) error { return p.stop(ctx, r) }

func (p *process) rouse(ctx context.Context, r *record) error {
	if err := os.Remove(p.files.file(r.ID, goneFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	l, err := p.listenAgain(ctx, r)
	if err != nil {
		return err
	}
	return p.serve(r, l)
}
