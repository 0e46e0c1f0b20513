package jobs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A volume is formatted only where nothing at all is found on it and it was never mounted before.
func TestVolumesAreFormattedOnlyIfEmpty(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		found, code string // what blkid says
		before      string
		exit        int
		formatted   bool
		mounted     bool
	}{
		"empty":                          {code: "2", before: "no", formatted: true, mounted: true},
		"a file system of ours":          {found: "TYPE=ext4\nUUID=1-2", code: "0", before: "no", mounted: true},
		"the same as before":             {found: "TYPE=xfs\nUUID=1-2", code: "0", before: "yes", mounted: true},
		"another file system":            {found: "TYPE=btrfs\nUUID=1-2", code: "0", before: "no", exit: 12},
		"a partition table":              {found: "PTTYPE=gpt", code: "0", before: "no", exit: 12},
		"several signatures":             {code: "8", before: "no", exit: 12},
		"no way to look":                 {code: "127", before: "no", exit: 12},
		"nothing where there was a file": {code: "2", before: "yes", exit: 13},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			log := filepath.Join(dir, "log")
			program := func(name, script string) {
				if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			program("blkid", `[ -e `+log+` ] && grep -q mkfs `+log+` && { echo TYPE=ext4; echo UUID=3-4; exit 0; }
printf '`+strings.ReplaceAll(c.found, "\n", `\n`)+`'; exit `+c.code)
			program("mkfs.ext4", `echo mkfs "$@" >>`+log)
			program("mount", `echo mount "$@" >>`+log)
			program("readlink", `echo /dev/test`)
			mount := filepath.Join(dir, "data")
			fstab := filepath.Join(dir, "fstab")
			if err := os.WriteFile(fstab, []byte("UUID=0 / ext4 defaults 0 1\nUUID=9 /old ext4 x-muster.volume=vol-1 0 2\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			script := mountScript[strings.Index(mountScript, "done\n")+len("done\n"):] // without the wait for a block device
			script = strings.ReplaceAll(script, "/etc/fstab", fstab)
			cmd := exec.Command("sh", "-c", quoted("device", "/dev/test", "mount", mount, "filesystem", "ext4", "before", c.before, "id", "vol-1")+script)
			cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
			out, _ := cmd.CombinedOutput()
			if got := cmd.ProcessState.ExitCode(); got != c.exit {
				t.Errorf("exit code %d, want %d: %s", got, c.exit, out)
			}
			b, _ := os.ReadFile(log)
			done := string(b)
			if strings.Contains(done, "mkfs") != c.formatted || strings.Contains(done, "mount") != c.mounted {
				t.Errorf("done: %q", done)
			}
			if !c.mounted {
				return
			}
			written, err := os.ReadFile(fstab)
			if err != nil || strings.Count(string(written), "x-muster.volume=vol-1") != 1 || !strings.Contains(string(written), mount) || !strings.Contains(string(written), "UUID=0 / ext4") {
				t.Errorf("fstab: %s, %v", written, err)
			}
		})
	}
}

func TestVolumeScriptsAreReadByTheShell(t *testing.T) {
	t.Parallel()
	for _, script := range []string{mountScript, unmountScript} {
		if out, err := exec.Command("sh", "-n", "-c", script).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
}
