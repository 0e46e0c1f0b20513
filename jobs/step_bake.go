package jobs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/bake"
	"muster/app/execution"
	"muster/app/family"
	"muster/jobs/internal/loop"
)

// bake makes an image of a node's machine, once all that is that machine's alone is gone from it.
func (w *actions) bake(ctx context.Context, as *execution.Assignment, out family.Output, r *execution.Report) error {
	if as.Baked == nil {
		return app.Errorf(app.EInternal, "node %s is of no baked image", as.Node.Name)
	}
	p, err := w.Providers.Provider(ctx, as.Provider)
	if err != nil {
		return err
	}
	b, ok := family.PowerOf[family.Baker](p)
	if !ok {
		return &app.Error{Code: app.EInvalid, Reason: "cannot_bake", Message: fmt.Sprintf("Provider %s can't make images of machines.", as.Provider.Name)}
	}
	spec := family.BakeSpec{Name: "muster-" + as.Baked.Key, Tags: map[string]string{
		family.TagInstallation: as.Machine.Tags[family.TagInstallation], family.TagTenant: as.Tenant, family.TagBake: as.Baked.Key}}
	made, err := bakedBefore(ctx, b, spec)
	if err != nil {
		return fmt.Errorf("%s: list images: %w", as.Provider.Name, err)
	}
	if made == nil { // else the machine may be stopped, or the image may be of it as it was before
		if err := cleanForBake(ctx, w, as, out); err != nil {
			return err
		}
		i, err := b.Bake(family.WithProgress(ctx, out), as.Node.MachineID, spec)
		if err != nil {
			return fmt.Errorf("%s: bake: %w", as.Provider.Name, err)
		}
		made = &i
		out(family.StreamSystem, fmt.Sprintf("%s is making image %s.", as.Provider.Name, made.ID))
	}
	for try := 1; !made.Ready; try++ {
		if made.Failed != "" {
			_ = b.DeleteBaked(ctx, made.ID)
			return app.Errorf(app.ETransient, "%s couldn't make image %s: %s", as.Provider.Name, made.ID, made.Failed)
		}
		if err := loop.Pause(ctx, min(loop.BackOff(firstLook, try), longPause)); err != nil {
			return err
		}
		next, err := bakedBefore(ctx, b, spec)
		if err != nil {
			return fmt.Errorf("%s: list images: %w", as.Provider.Name, err)
		}
		if next == nil {
			return app.Errorf(app.ETransient, "%s doesn't list image %s any more.", as.Provider.Name, made.ID)
		}
		made = next
	}
	out(family.StreamSystem, fmt.Sprintf("Image %s is ready.", made.ID))
	r.Image = &execution.ImageReport{Image: made.ID}
	return nil
}

// bakedBefore returns the image that an earlier attempt has begun; nil for none.
func bakedBefore(ctx context.Context, b family.Baker, spec family.BakeSpec) (*family.BakedImage, error) {
	list, err := b.BakedImages(ctx, spec.Tags)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// markFile, where state is kept on a node, names the image that its machine started from.
const markFile = "image"

// stateLine finds where state is kept on a node.
const stateLine = `if [ -n "${MUSTER_STATE_ROOT-}" ]; then d=$MUSTER_STATE_ROOT
elif [ -O / ] 2>/dev/null || [ "$(id -u)" = 0 ]; then d=/var/lib/muster
else d=$HOME/.muster; fi
`

// cleanLine removes what one machine has and another must not: claims and caches of Muster, host keys, login keys, the machine's id, and what
// cloud-init has noted of it, so that it runs again. $1 names the image.
const cleanLine = `for f in "$d"/.[!.]* "$d"/..?*; do case $f in */.claims) ;; *) rm -rf "$f" ;; esac; done
mkdir -p "$d" && printf '%s\n' "$key" >"$d/` + markFile + `" || exit 1
`

// cleanRootLine is for machines with files of their own. It is the last command on the machine: its login key goes, too.
const cleanRootLine = `rm -rf "$HOME/.muster/.claims" /var/lib/muster/.claims 2>/dev/null
s=; [ "$(id -u)" = 0 ] || s="sudo -n"
$s rm -rf /var/lib/cloud/instance /var/lib/cloud/instances /var/lib/cloud/data /var/lib/cloud/sem 2>/dev/null
[ ! -e /etc/machine-id ] || $s sh -c ': >/etc/machine-id' 2>/dev/null
$s sh -c 'rm -f /etc/ssh/ssh_host_*_key /etc/ssh/ssh_host_*_key.pub /etc/ssh/muster_* /root/.bash_history' 2>/dev/null
$s rm -f /var/lib/systemd/random-seed /var/lib/dbus/machine-id 2>/dev/null
rm -f "$HOME/.ssh/authorized_keys" "$HOME/.bash_history" 2>/dev/null
sync; exit 0
`

// cleanForBake removes from a machine what is its own.
func cleanForBake(ctx context.Context, w *actions, as *execution.Assignment, out family.Output) error {
	sh, release, err := w.shell(ctx, w.target(as, as.SSHKey))
	if as.Tries > 1 && app.CodeOf(err) == app.ECredentials {
		return nil // the login key is the last that goes
	}
	if err != nil {
		return err
	}
	line := "key=" + as.Baked.Key + "\n" + stateLine + cleanLine
	if as.Node.OwnRoot {
		line += cleanRootLine
	} else {
		line += `rm -rf "$d/.claims"; exit 0` + "\n"
	}
	exit, err := sh.Run(ctx, family.Command{Line: line}, out)
	release(false)
	if err == nil && exit != 0 {
		err = app.Errorf(app.EScript, "Can't clean up machine %s before the image is made: exit code %d.", as.Node.MachineID, exit)
	}
	return err
}

// startedFrom reports whether a node's machine started from a baked image, by the mark on it.
func startedFrom(ctx context.Context, sh family.Shell, i *bake.Image) (bool, error) {
	var found strings.Builder
	exit, err := sh.Run(ctx, family.Command{Line: stateLine + `[ ! -e "$d/` + markFile + `" ] || cat "$d/` + markFile + `"`}, func(s app.Stream, line string) {
		if s == family.StreamOut {
			found.WriteString(line)
		}
	})
	return exit == 0 && strings.TrimSpace(found.String()) == i.Key, err
}

// installBaked runs the installs that were to be in the image of a node's machine, where it does not have them: the image was gone, or the machine came from a
// pool. The plan has no steps for them.
func installBaked(ctx context.Context, w *actions, as *execution.Assignment, sh family.Shell, out family.Output) error {
	if as.Baked == nil || as.Baked.Image == "" {
		return nil
	}
	has, err := startedFrom(ctx, sh, as.Baked)
	if err != nil || has {
		return err
	}
	out(family.StreamSystem, "The machine didn't start from the baked image, so "+strings.Join(as.Baked.Services, ", ")+" are installed now.")
	for _, name := range as.Baked.Services {
		call := as.Installs[name]
		if call == nil {
			return app.Errorf(app.EInternal, "service %s has no action %s", name, app.ActionInstall)
		}
		a, err := w.automator(call.Automator)
		if err != nil {
			return err
		}
		began := time.Now()
		if err := a.Run(ctx, sh, family.ServiceCall{NodeContext: nodeContext(as), Operation: as.Fence.Operation,
			Step:    as.Node.Name + "." + name + "." + string(app.ActionInstall),
			Service: name, Action: app.ActionInstall, Fields: call.Fields, Config: as.Baked.Configs[name], Services: as.Node.Services}, out); err != nil {
			return err
		}
		out(family.StreamSystem, fmt.Sprintf("Installed %s in %s.", name, time.Since(began).Round(time.Millisecond)))
	}
	return nil
}
