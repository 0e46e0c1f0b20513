package jobs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/volume"
	"muster/jobs/internal/loop"
)

// volumeWork is what a step does to the volumes of its node.
type volumeWork struct {
	*actions
	cloud   family.Provider
	volumes family.Volumes
	as      *execution.Assignment
	out     family.Output
	report  *execution.Report
}

// onVolumes opens the provider of a step, which has to make volumes.
func onVolumes(ctx context.Context, w *actions, as *execution.Assignment, out family.Output, r *execution.Report) (*volumeWork, error) {
	p, err := w.Providers.Provider(ctx, as.Provider)
	if err != nil {
		return nil, err
	}
	v, ok := family.PowerOf[family.Volumes](p)
	if !ok {
		return nil, errNoVolumes(as)
	}
	return &volumeWork{w, p, v, as, out, r}, nil
}

func errNoVolumes(as *execution.Assignment) error {
	return &app.Error{Code: app.EInvalid, Reason: "no_volumes",
		Message: fmt.Sprintf("Provider %s doesn't make volumes, which the services of node %s need.", as.Provider.Name, as.Node.Name),
		Hint:    "Choose another provider, or services without volumes."}
}

func (w *volumeWork) say(format string, args ...any) {
	w.out(family.StreamSystem, fmt.Sprintf(format, args...))
}

// attach brings each volume of the node: the one that it had, from whatever machine has it, or else a new one. All of it can be done again at any point.
func attach(ctx context.Context, w *actions, as *execution.Assignment, out family.Output, r *execution.Report) error {
	v, err := onVolumes(ctx, w, as, out, r)
	if err != nil {
		return err
	}
	for _, want := range as.Volumes {
		if err := v.bring(ctx, want); err != nil {
			return fmt.Errorf("%s: volume %s (%s): %w", as.Provider.Name, want.Name, want.ID, err)
		}
	}
	return nil
}

func (w *volumeWork) bring(ctx context.Context, want volume.ForStep) error {
	v, err := w.findOrCreate(ctx, want)
	if err != nil {
		return err
	}
	seen := volume.Seen{ID: want.ID, External: v.ID, Zone: v.Zone, SizeGB: v.SizeGB, Machine: v.Machine}
	w.see(seen)
	if v.Machine != "" && v.Machine != w.as.Node.MachineID {
		w.say("Volume %s is still attached to machine %s, which the node had before. Detaching it.", want.Name, v.Machine)
		if err := w.detached(ctx, want.ID, v.ID); err != nil {
			return err
		}
	}
	at, err := w.volumes.AttachVolume(ctx, family.VolumeAttachment{Volume: v.ID, Machine: w.as.Node.MachineID, Mount: want.Mount})
	if err != nil {
		return err
	}
	if err := w.await(ctx, want.ID, v.ID, w.as.Node.MachineID); err != nil {
		return err
	}
	seen.Machine = w.as.Node.MachineID
	w.see(seen)
	if at.Path == "" {
		if err := w.mount(ctx, want, at.Device); err != nil {
			return err
		}
	}
	seen.Mounted = true
	w.see(seen)
	w.say("Volume %s (%d GB) is mounted on %s.", want.Name, v.SizeGB, cmp.Or(at.Path, want.Mount))
	return nil
}

// see notes what is known of a volume by now.
func (w *volumeWork) see(x volume.Seen) { seeVolume(w.report, x) }

func seeVolume(r *execution.Report, x volume.Seen) {
	if i := slices.IndexFunc(r.Volumes, func(y volume.Seen) bool { return y.ID == x.ID }); i >= 0 {
		r.Volumes[i] = x
		return
	}
	r.Volumes = append(r.Volumes, x)
}

func (w *volumeWork) list(ctx context.Context, id string) ([]family.Volume, error) {
	return w.volumes.ListVolumes(ctx, map[string]string{family.TagInstallation: w.as.Machine.Tags[family.TagInstallation], family.TagIntent: id})
}

// findOrCreate returns the volume of an intent. Where an attempt before may have asked for it, and the provider lists late, it's looked for several times. One that
// was there before and is not any more is never replaced by an empty one.
func (w *volumeWork) findOrCreate(ctx context.Context, want volume.ForStep) (v family.Volume, err error) {
	found, err := w.list(ctx, want.ID)
	if err != nil {
		return v, err
	}
	if late := family.ListsLate(w.cloud); len(found) == 0 && late > 0 && (want.Asked || want.External != "") {
		err := family.AfterLost(ctx, 0, late, func() (bool, error) {
			found, err = w.list(ctx, want.ID)
			return len(found) > 0, err
		})
		if err != nil {
			return v, err
		}
	}
	failed := len(found)
	if found, err = w.withoutFailed(ctx, want, found); err != nil {
		return v, err
	}
	if failed -= len(found); len(found) > 0 {
		return w.oneOf(ctx, want, found)
	}
	if failed > 0 { // it never held anything
		return w.create(ctx, want)
	}
	if want.External != "" || !want.MountedAt.IsZero() {
		w.see(volume.Seen{ID: want.ID, External: want.External}) // no machine has it: it can be forgotten
		return v, &app.Error{Code: app.EConflict, Reason: "volume_lost", Message: fmt.Sprintf("Volume %s no longer exists at the provider.",
			cmp.Or(want.External, want.ID)),
			Hint: fmt.Sprintf("Restore it there with its tags, or run muster volume forget %s to continue with an empty one. Its data is lost then.", want.ID)}
	}
	return w.create(ctx, want)
}

// withoutFailed deletes those volumes of an intent that their cloud couldn't create, and returns the others. What a machine
// has had is never deleted.
func (w *volumeWork) withoutFailed(ctx context.Context, want volume.ForStep, found []family.Volume) (whole []family.Volume, err error) {
	for _, v := range found {
		switch {
		case !v.Failed:
			whole = append(whole, v)
		case !want.MountedAt.IsZero() || v.Machine != "":
			e := &app.Error{Code: app.EConflict, Reason: "volume_failed",
				Message: fmt.Sprintf("Volume %s has failed at the provider, and it holds data.", v.ID),
				Hint:    "Repair or restore it there, or repair the cluster with another machine for the node."}
			if v.Machine == "" {
				w.see(volume.Seen{ID: want.ID, External: v.ID}) // no machine has it: it can be forgotten
				e.Hint = fmt.Sprintf("Repair or restore it there, or run muster volume forget %s to continue with an empty one. Its data is lost then.", want.ID)
			}
			return nil, e
		default:
			if err := w.volumes.DeleteVolume(ctx, v.ID); err != nil {
				return nil, err
			}
			w.say("The provider couldn't create volume %s. It was deleted, and is created again.", v.ID)
		}
	}
	return whole, nil
}

// create asks for the volume of an intent, in the zone of the node's machine.
func (w *volumeWork) create(ctx context.Context, want volume.ForStep) (v family.Volume, err error) {
	m := family.Machine{Zone: w.as.Machine.Zone}
	if !w.as.VolumesFirst {
		if m, err = w.cloud.Describe(ctx, w.as.Node.MachineID); err != nil {
			return v, err
		}
	}
	spec := family.VolumeSpec{Intent: want.ID, Name: "muster-" + want.ID, SizeGB: want.SizeGB, Zone: m.Zone,
		Tags: execution.VolumeTags(w.as.Machine.Tags, want.ID)}
	if want.Snapshot == "" {
		v, err = w.volumes.CreateVolume(ctx, spec)
	} else if snapshots, ok := family.PowerOf[family.VolumeSnapshots](w.cloud); ok {
		v, err = snapshots.CreateVolumeFrom(ctx, spec, want.Snapshot)
	} else {
		err = app.Errorf(app.EInvalid, "provider %s doesn't make snapshots of volumes any more", w.as.Provider.Name)
	}
	if err == nil && v.Failed {
		return v, app.Errorf(app.ETransient, "the provider couldn't create volume %s", v.ID) // the next attempt deletes it
	}
	if err == nil {
		w.say("Created volume %s (%s, %d GB).", want.Name, v.ID, v.SizeGB)
	}
	return v, err
}

// oneOf chooses among volumes of one intent: the one that is known, or that a machine has, or the oldest. The others were created by
// attempts whose answers were lost; nothing was ever mounted of them, and they are deleted.
func (w *volumeWork) oneOf(ctx context.Context, want volume.ForStep, found []family.Volume) (family.Volume, error) {
	rank := func(v family.Volume) int {
		switch {
		case v.ID == want.External:
			return 0
		case v.Machine != "":
			return 1
		}
		return 2
	}
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b family.Volume) int {
		return cmp.Or(rank(a)-rank(b), a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	for _, other := range found[1:] {
		if other.Machine != "" || want.External == "" && !want.MountedAt.IsZero() {
			return found[0], app.Errorf(app.EConflict, "volumes %s and %s have the same intent, and both are in use", found[0].ID, other.ID)
		}
		if err := w.volumes.DeleteVolume(ctx, other.ID); err != nil {
			return found[0], err
		}
		w.say("Deleted volume %s, which an earlier attempt created besides.", other.ID)
	}
	return found[0], nil
}

// detached takes a volume off its machine and returns when the provider lists it so.
func (w *volumeWork) detached(ctx context.Context, id, external string) error {
	if err := w.volumes.DetachVolume(ctx, external); err != nil {
		return err
	}
	return w.await(ctx, id, external, "")
}

// look returns the volume with the provider's ID, in a list; the list of its intent where it can't be looked up.
func (w *volumeWork) look(ctx context.Context, id, external string) ([]family.Volume, error) {
	one, ok := family.PowerOf[family.VolumeGetter](w.cloud)
	if !ok {
		return w.list(ctx, id)
	}
	v, err := one.Volume(ctx, external)
	if app.CodeOf(err) == app.ENotFound {
		return nil, nil
	}
	return []family.Volume{v}, err
}

// volumeLooks is how often a volume is looked at before its change is called failed for now.
const volumeLooks = 40

// await returns when a machine has a volume, or none does where machine is "". One that isn't there any more has none.
func (w *volumeWork) await(ctx context.Context, id, external, machine string) error {
	for try := 1; ; try++ {
		list, err := w.look(ctx, id, external)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(list, func(v family.Volume) bool { return v.ID == external })
		if i < 0 && machine == "" || i >= 0 && list[i].Machine == machine {
			return nil
		}
		if try == volumeLooks {
			on := "isn't listed"
			if i >= 0 {
				on = "is attached to " + cmp.Or(list[i].Machine, "no machine")
			}
			return app.Errorf(app.ETransient, "volume %s %s, not to %s", external, on, cmp.Or(machine, "no machine"))
		}
		if err := loop.Pause(ctx, min(loop.BackOff(firstLook, try), longPause)); err != nil {
			return err
		}
	}
}

// detach unmounts the node's volumes and takes them off its machine, which is about to be deleted, or doesn't run their services any more.
// Where the node doesn't answer, or something can't be ended, they stay for the delete step, which waits until the machine's end has detached them.
func detach(ctx context.Context, w *actions, as *execution.Assignment, out family.Output, r *execution.Report) error {
	v, err := onVolumes(ctx, w, as, out, r)
	if err != nil {
		return err
	}
	if as.Node.MachineID == "" {
		return nil
	}
	if as.VolumesFirst {
		v.say("Volumes stay mounted until machine %s is deleted.", as.Node.MachineID)
		return nil
	}
	if v.machineIsDown(ctx) {
		v.say("Machine %s isn't running, so there is nothing to unmount.", as.Node.MachineID)
		for _, x := range as.Volumes {
			if !x.NodeStays || x.External == "" {
				continue // its delete step sees to it
			}
			if err := v.detached(ctx, x.ID, x.External); err != nil {
				return fmt.Errorf("%s: detach volume %s: %w", as.Provider.Name, x.ID, err)
			}
			v.see(volume.Seen{ID: x.ID, External: x.External})
		}
		return nil
	}
	for _, x := range as.Volumes {
		if x.External == "" {
			continue
		}
		if err := v.unmount(ctx, x); err != nil {
			if ctx.Err() != nil || x.NodeStays {
				return err
			}
			v.say("Volume %s couldn't be unmounted, so it stays attached until its machine is deleted: %s", x.Name, app.AsError(err).ForPeople())
			continue
		}
		if err := v.detached(ctx, x.ID, x.External); err != nil {
			return fmt.Errorf("%s: detach volume %s: %w", as.Provider.Name, x.Name, err)
		}
		v.see(volume.Seen{ID: x.ID, External: x.External})
		v.say("Volume %s is unmounted and detached.", x.Name)
	}
	return nil
}

// machineIsDown reports whether the provider says for sure that the node's machine doesn't exist or run. One that doesn't answer then isn't waited for.
func (w *volumeWork) machineIsDown(ctx context.Context) bool {
	m, err := w.cloud.Describe(ctx, w.as.Node.MachineID)
	return app.CodeOf(err) == app.ENotFound || err == nil && m.State != family.MachineRunning
}

// unmountKept unmounts, as far as that can be done within unmountTime, the volumes of a machine that is about to be deleted and which outlive it, so
// that all that was written is on them.
func unmountKept(ctx context.Context, w *actions, as *execution.Assignment, out family.Output, r *execution.Report) {
	if as.Node.MachineID == "" || len(as.SSHKey) == 0 || as.VolumesFirst {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(as.Volumes), func(x volume.ForStep) bool { return x.Discard || x.Machine != as.Node.MachineID })
	if len(kept) == 0 {
		return
	}
	v, err := onVolumes(ctx, w, as, out, r)
	if err != nil || v.machineIsDown(ctx) {
		return // the delete step says why, if anything is wrong
	}
	ctx, cancel := context.WithTimeout(ctx, unmountTime)
	defer cancel()
	for _, x := range kept {
		if err := v.unmount(ctx, x); err != nil {
			v.say("Volume %s couldn't be unmounted before its machine is deleted: %s", x.Name, app.AsError(err).ForPeople())
		}
	}
}

// release follows the end of a node's machine: its volumes are detached, for sure, and those that go with the node are deleted, which a list proves.
func release(ctx context.Context, w *actions, as *execution.Assignment, out family.Output, r *execution.Report) error {
	if len(as.Volumes) == 0 {
		return nil
	}
	v, err := onVolumes(ctx, w, as, out, r)
	if err != nil {
		return err
	}
	for _, x := range as.Volumes {
		if err := v.give(ctx, x); err != nil {
			return fmt.Errorf("%s: volume %s: %w", as.Provider.Name, x.Name, err)
		}
	}
	return nil
}

func (w *volumeWork) give(ctx context.Context, x volume.ForStep) error {
	found, err := w.list(ctx, x.ID)
	if err != nil {
		return err
	}
	for _, v := range found {
		if v.Machine != "" {
			if err := w.detached(ctx, x.ID, v.ID); err != nil {
				return err
			}
		}
		if !x.Discard {
			w.see(volume.Seen{ID: x.ID, External: v.ID, Zone: v.Zone, SizeGB: v.SizeGB})
			w.say("Volume %s (%s) is detached and stays.", x.Name, v.ID)
			continue
		}
		if err := w.volumes.DeleteVolume(ctx, v.ID); err != nil {
			return err
		}
		w.say("Volume %s (%s) was deleted.", x.Name, v.ID)
	}
	if !x.Discard || x.External == "" && len(found) == 0 && !x.Asked {
		return nil
	}
	return w.proveDeleted(ctx, x)
}

// proveDeleted returns when the provider lists nothing for the intent: twice where it lists late.
func (w *volumeWork) proveDeleted(ctx context.Context, x volume.ForStep) error {
	late := family.ListsLate(w.cloud)
	for try := 1; ; try++ {
		if late > 0 {
			if err := loop.Pause(ctx, late); err != nil {
				return err
			}
		}
		left, err := w.list(ctx, x.ID)
		if err != nil {
			return err
		}
		if len(left) == 0 {
			w.see(volume.Seen{ID: x.ID, External: x.External, Deleted: true,
				Proof: fmt.Sprintf("Account %s was queried for volumes tagged %s=%s and listed none.", w.as.Provider.Name, family.TagIntent, x.ID)})
			return nil
		}
		if try == volumeLooks {
			return app.Errorf(app.ETransient, "%s still lists volume %s after deletion", w.as.Provider.Name, left[0].ID)
		}
		if err := loop.Pause(ctx, min(loop.BackOff(firstLook, try), longPause)); err != nil {
			return err
		}
	}
}
