//go:build real

package userdata

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// disks are loop devices that the script takes for the disks of a machine: its lsblk knows no others, so that none of the host's own is ever looked
// at. All else
// that it runs is the host's, in a mount namespace of its own, with an fstab and directories of its own.
type disks struct {
	dir, root string
	names     []string // of loop devices, in the machine's order
}

func newDisks(t *testing.T, sizes ...string) *disks {
	t.Helper()
	for _, program := range []string{"losetup", "lsblk", "blkid", "blockdev", "mkfs.ext4", "unshare", "mkswap"} {
		_, err := exec.LookPath(program)
		if err == nil && os.Geteuid() == 0 {
			continue
		}
		if os.Getenv("CI") == "true" {
			t.Fatalf("disks are made by root, with %s: %v", program, err)
		}
		t.Skipf("disks are made by root, with %s: %v", program, err)
	}
	d := &disks{dir: t.TempDir()}
	d.root = filepath.Join(d.dir, "root")
	d.must(t, "mkdir", "-p", d.root+"/bin", d.root+"/etc", d.root+"/mounted")
	for i, size := range sizes {
		file := filepath.Join(d.dir, "disk"+string(rune('a'+i)))
		d.must(t, "truncate", "-s", size, file)
		name := strings.TrimSpace(d.must(t, "losetup", "--find", "--show", "--partscan", file))
		d.names = append(d.names, name)
		t.Cleanup(func() { d.must(t, "losetup", "--detach", name) })
	}
	d.write(t, "etc/fstab", "# of the image\nUUID=0000 / ext4 defaults 0 1\n")
	// The machine's lsblk: the host's own, of our loop devices alone, which it calls disks.
	d.write(t, "bin/lsblk", `#!/bin/sh
case $1 in
-dnpo) for disk in $DISKS; do echo "$disk disk"; done; echo "/dev/cd0 rom" ;;
*) exec /usr/bin/env PATH="$HOST_PATH" lsblk "$@" ;;
esac
`)
	// Every format and mount is written down before it is done.
	for _, program := range []string{"mkfs.ext4", "mount"} {
		d.write(t, "bin/"+program, "#!/bin/sh\necho \""+program+" $*\" >>\"$ROOT/did\"\nexec /usr/bin/env PATH=\"$HOST_PATH\" "+program+" \"$@\"\n")
	}
	return d
}

func (d *disks) must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (d *disks) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(d.root, name), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func (d *disks) read(name string) string {
	b, _ := os.ReadFile(filepath.Join(d.root, name))
	return string(b)
}

// boot starts the machine: what fstab has is mounted, what before says is done, the script runs twice, what after says is done, and all mounts go
// with the namespace. It returns
// what was formatted and mounted by the script, and what after printed.
func (d *disks) boot(t *testing.T, before, after string) (did, said string) {
	t.Helper()
	_ = os.Remove(filepath.Join(d.root, "did"))
	d.write(t, "script", diskScript)
	c := exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-euc", `
mount --bind "$ROOT/etc/fstab" /etc/fstab
mount -t tmpfs none /mnt
mkdir /mnt/data /mnt/data2
for dir in $(awk '$2 ~ "^/data" { print $2 }' /etc/fstab); do mkdir -p "$dir"; mount "$dir"; done
`+before+`
PATH="$ROOT/bin:$PATH" sh "$ROOT/script" >&2
PATH="$ROOT/bin:$PATH" sh "$ROOT/script" >&2
`+after)
	c.Env = append(os.Environ(), "ROOT="+d.root, "HOST_PATH="+os.Getenv("PATH"), "DISKS="+strings.Join(d.names, " "))
	var errs strings.Builder
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	return d.read("did"), string(out)
}

// table writes the table of a disk's partitions, of the oldest kind: with one of 100 MiB, or with none.
func (d *disks) table(t *testing.T, i int, one bool) {
	t.Helper()
	b := make([]byte, 512)
	b[510], b[511] = 0x55, 0xaa
	if one {
		b[446+4] = 0x83
		binary.LittleEndian.PutUint32(b[446+8:], 2048)
		binary.LittleEndian.PutUint32(b[446+12:], 100<<11)
	}
	if err := os.WriteFile(d.names[i], b, 0); err != nil {
		t.Fatal(err)
	}
	d.must(t, "blockdev", "--rereadpt", d.names[i])
}

func (d *disks) fstab() (entries [][]string) {
	for _, line := range strings.Split(d.read("etc/fstab"), "\n") {
		if f := strings.Fields(line); len(f) == 6 && strings.HasPrefix(f[1], "/data") {
			entries = append(entries, f)
		}
	}
	return entries
}

func (d *disks) uuid(t *testing.T, i int) string {
	t.Helper()
	return strings.TrimSpace(d.must(t, "blkid", "-p", "-s", "UUID", "-o", "value", d.names[i]))
}

// noData skips where the host has directories of its own at the places where disks are mounted: the test makes them, and removes them.
func noData(t *testing.T) {
	t.Helper()
	for _, dir := range []string{"/data", "/data2", "/data3"} {
		if _, err := os.Lstat(dir); err == nil {
			t.Fatalf("%s is there already; this test makes it", dir)
		}
		t.Cleanup(func() {
			if err := os.Remove(dir); err != nil && !os.IsNotExist(err) { // only an empty one goes
				t.Error(err)
			}
		})
	}
}

func TestEmptyDisksAreFormattedOnce(t *testing.T) {
	noData(t)
	d := newDisks(t, "1100M", "1200M")
	did, said := d.boot(t, "", `echo first >/data/which; echo second >/data2/which; stat -c %m /data /data2`)
	if want := "mkfs.ext4 -q -F " + d.names[0] + "\nmount /data\nmkfs.ext4 -q -F " + d.names[1] + "\nmount /data2\n"; did != want {
		t.Errorf("did %q, want %q", did, want)
	}
	if said != "/data\n/data2\n" {
		t.Errorf("mounted: %s", said)
	}
	entries := d.fstab()
	for i, e := range entries {
		if i > 1 || e[0] != "UUID="+d.uuid(t, i) || e[1] != []string{"/data", "/data2"}[i] || e[2] != "ext4" || e[3] != "defaults,nofail" || e[4] != "0" || e[5] != "2" {
			t.Errorf("%q", e)
		}
	}
	if len(entries) != 2 || !strings.HasPrefix(d.read("etc/fstab"), "# of the image\nUUID=0000 / ext4") {
		t.Errorf("%s", d.read("etc/fstab"))
	}
	// At the next start the disks have changed their names: what is on them is where it was, and nothing is done.
	before := d.read("etc/fstab")
	d.names[0], d.names[1] = d.names[1], d.names[0]
	did, said = d.boot(t, "", `cat /data/which /data2/which`)
	if did != "" || said != "first\nsecond\n" || d.read("etc/fstab") != before {
		t.Errorf("at the second start: %q, %q, %s", did, said, d.read("etc/fstab"))
	}
	// Nor is anything done to disks that hold something and are not mounted, since someone has taken the entries out.
	d.write(t, "etc/fstab", "")
	if did, _ = d.boot(t, "", ""); did != "" || d.read("etc/fstab") != "" {
		t.Errorf("without entries: %q, %q", did, d.read("etc/fstab"))
	}
}

func TestDisksWithDataAreKept(t *testing.T) {
	noData(t)
	d := newDisks(t, "1100M", "1100M", "1100M", "1100M", "1100M", "900M", "1100M")
	const root, formatted, parted, label, swap, small, empty = 0, 1, 2, 3, 4, 5, 6
	d.must(t, "mkfs.ext4", "-q", d.names[root])
	d.must(t, "mkfs.ext4", "-q", "-F", d.names[formatted])
	d.table(t, parted, true)
	d.table(t, label, false)
	d.must(t, "mkswap", d.names[swap])
	sums := func() (list []string) {
		for i := range empty {
			list = append(list, d.must(t, "sh", "-c", "head -c 33554432 "+d.names[i]+" | sha256sum"))
		}
		return list
	}
	before := sums()
	did, _ := d.boot(t, `mount -o ro "`+d.names[root]+`" /mnt/data`, "")
	if want := "mkfs.ext4 -q -F " + d.names[empty] + "\nmount /data\n"; did != want {
		t.Errorf("did %q, want %q", did, want)
	}
	for i, sum := range sums() {
		if sum != before[i] {
			t.Errorf("disk %d was written to", i)
		}
	}
	if e := d.fstab(); len(e) != 1 || e[0][0] != "UUID="+d.uuid(t, empty) {
		t.Errorf("%q", e)
	}
}
