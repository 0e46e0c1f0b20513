package jobs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/volume"
)

// mountPoint turns ~/data into a path in the home of the user who signs in, also under sudo.
const mountPoint = `case $mount in
"~/"*)
	user=${SUDO_USER:-$(id -un)}
	home=$(getent passwd "$user" 2>/dev/null | cut -d: -f6)
	mount=$(readlink -f "${home:-$HOME}")/${mount#"~/"};;
esac
`

// mountScript mounts a block device, now and whenever the machine starts. It is formatted only where nothing at all is found on it and it was never mounted
// before. Exit codes: 10 the device isn't there, 11 something else is mounted there, 12 it has a content that is not a file system of ours, 13 it had one
// before and has none now, 14 the file system can't be made, 15 it can't be mounted, 16 its path has a symbolic link.
const mountScript = `n=0
while [ ! -b "$device" ]; do
	n=$((n+1))
	[ "$n" -ge 60 ] && exit 10
	sleep 1
done
` + mountPoint + `link=$mount
while [ -n "$link" ]; do
	[ -L "$link" ] && exit 16
	link=${link%/*}
done
real=$(readlink -f "$device")
mounted=$(while read -r what where rest; do [ "$where" = "$mount" ] && readlink -f "$what"; done </proc/mounts)
if [ -n "$mounted" ]; then
	[ "$mounted" = "$real" ] || exit 11
else
	code=0
	found=$(blkid -p -o export "$real") || code=$?
	type=$(printf '%s\n' "$found" | sed -n 's/^TYPE=//p')
	case $code in
	0)
		case $type in ext4|xfs) ;; *) exit 12;; esac;;
	2)
		[ -z "$found" ] || exit 12
		[ "$before" = no ] || exit 13
		"mkfs.$filesystem" "$real" </dev/null >/dev/null || exit 14
		type=$filesystem
		echo "Created an empty $filesystem file system.";;
	*)
		exit 12;;
	esac
	mkdir -p "$mount" && mount -t "$type" "$real" "$mount" || exit 15
fi
uuid=$(blkid -p -o export "$real" | sed -n 's/^UUID=//p')
type=$(blkid -p -o export "$real" | sed -n 's/^TYPE=//p')
fstab=/etc/fstab
[ -e "$fstab" ] || : >"$fstab"
{
	grep -v "x-muster.volume=$id 0 2" "$fstab"
	echo "UUID=$uuid $mount $type defaults,nofail,x-muster.volume=$id 0 2"
} >"$fstab.muster" && cat "$fstab.muster" >"$fstab" && rm -f "$fstab.muster"
`

// mountFailures say what went wrong by exit code.
var mountFailures = map[int]struct {
	code    app.Code
	message string
	hint    string
}{
	10: {app.ETransient, "its device didn't appear on the machine within a minute", ""},
	11: {app.EConflict, "something else is mounted in its place", "Unmount it on the node, or change the volume's mount."},
	12: {app.EConflict, "it holds something other than an ext4 or xfs file system, so it isn't formatted",
		"Check on the node with blkid -p, which needs util-linux. Only a volume without any signature is formatted."},
	13: {app.EConflict, "it was mounted before, or created from a snapshot, but has no file system now, so it isn't formatted",
		"Check the volume at the provider, and restore its data there."},
	14: {app.EScript, "its file system couldn't be created", "Check that the image has mkfs for the file system, such as e2fsprogs or xfsprogs."},
	16: {app.EConflict, "its mount path has a symbolic link on the node",
		"Change the volume's mount to the path that the link leads to, or remove the link on the node."},
	15: {app.EScript, "it couldn't be mounted", "Check the node's kernel log, and the file system with fsck."},
}

// quoted makes variables of a script. Values hold no quotes: names, mounts and devices are checked before.
func quoted(pairs ...string) string {
	var b strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		fmt.Fprintf(&b, "%s='%s'\n", pairs[i], strings.ReplaceAll(pairs[i+1], "'", `'\''`))
	}
	return b.String()
}

// mount has a block device mounted on the node.
func (w *volumeWork) mount(ctx context.Context, want volume.ForStep, device string) error {
	before := "no"
	if !want.MountedAt.IsZero() || want.Snapshot != "" { // one made from a snapshot is never formatted
		before = "yes"
	}
	line := quoted("device", device, "mount", want.Mount, "filesystem", want.Filesystem, "before", before, "id", want.ID) + mountScript
	return w.onNode(ctx, w.as, func(sh family.Shell) error {
		exit, err := sh.Run(ctx, family.Command{Line: line, Sudo: true}, w.out)
		if err != nil || exit == 0 {
			return err
		}
		f, known := mountFailures[exit]
		if !known {
			return app.Errorf(app.EScript, "its mount script ended with exit code %d", exit)
		}
		return &app.Error{Code: f.code, Reason: "volume_mount", Message: f.message + ".", Hint: f.hint}
	})
}

// unmountScript ends what uses a mount, and unmounts it. Exit code 20: something can't be ended.
const unmountScript = mountPoint + `if grep -q "x-muster.volume=$id 0 2" /etc/fstab 2>/dev/null; then
	grep -v "x-muster.volume=$id 0 2" /etc/fstab >/etc/fstab.muster
	cat /etc/fstab.muster >/etc/fstab
	rm -f /etc/fstab.muster
fi
is_mounted() {
	while read -r what where rest; do [ "$where" = "$mount" ] && return 0; done </proc/mounts
	return 1
}
end_users() {
	for p in /proc/[0-9]*; do
		[ "${p#/proc/}" = $$ ] && continue
		if ls -l "$p/cwd" "$p/root" "$p/exe" "$p/fd" 2>/dev/null | grep -qF -e " -> $mount/" || ls -l "$p/cwd" "$p/fd" 2>/dev/null | grep -q -e " -> $mount\$"; then
			kill "$1" "${p#/proc/}" 2>/dev/null
		fi
	done
}
sync
n=0
while is_mounted; do
	umount "$mount" 2>/dev/null && continue
	n=$((n+1))
	[ "$n" -gt 30 ] && exit 20
	if [ "$n" -gt 20 ]; then end_users -KILL; else end_users -TERM; fi
	sleep 1
done
exit 0
`

// unmountTime is how long a node that may be ill has to unmount a volume.
const unmountTime = time.Minute

// unmount ends what uses a volume on the node, and unmounts it.
func (w *volumeWork) unmount(ctx context.Context, x volume.ForStep) error {
	ctx, cancel := context.WithTimeout(ctx, unmountTime)
	defer cancel()
	return w.onNode(ctx, w.as, func(sh family.Shell) error {
		exit, err := sh.Run(ctx, family.Command{Line: quoted("mount", x.Mount, "id", x.ID) + unmountScript, Sudo: true}, w.out)
		if err == nil && exit != 0 {
			err = app.Errorf(app.EScript, "something on the node still uses %s", x.Mount)
		}
		return err
	})
}
