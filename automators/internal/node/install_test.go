package node

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Missing package managers are replaced by programs that say how they were called.
func TestInstallWith(t *testing.T) {
	software := Software{Name: "Tool", Program: "the-tool", APT: []string{"tool-a", "tool-b"}, RPM: []string{"tool-r", "tool-s"}, Zypper: []string{"tool-z"}, APK: []string{"tool-k"}, After: "echo after"}
	const makes = `printf '#!/bin/sh\n' >"${0%/*}/the-tool"; chmod 755 "${0%/*}/the-tool"`
	for name, tc := range map[string]struct {
		programs map[string]string
		says     []string
		exit     int
	}{
		"there":       {map[string]string{"the-tool": "true", "dnf": "exit 9"}, nil, 0},
		"no root":     {map[string]string{"id": "echo 1000", "dnf": "exit 9"}, []string{"Tool is not installed, and installing it requires root"}, 1},
		"no manager":  {map[string]string{}, []string{"the node has no apt-get, dnf, yum, zypper or apk"}, 1},
		"dnf":         {map[string]string{"dnf": `echo "dnf $*"; [ "$3" = tool-s ] || exit 1; ` + makes, "yum": "exit 9"}, []string{"dnf -y install tool-r", "dnf -y install tool-s", "after"}, 0},
		"yum":         {map[string]string{"yum": `echo "yum $*"; ` + makes}, []string{"Installing Tool with yum (tool-r)", "yum -y install tool-r", "after"}, 0},
		"zypper":      {map[string]string{"zypper": `echo "zypper $* $ZYPP_LOCK_TIMEOUT"; ` + makes}, []string{"zypper --non-interactive install tool-z 600"}, 0},
		"apk":         {map[string]string{"apk": `echo "apk $*"; ` + makes}, []string{"apk --wait 600 add tool-k", "after"}, 0},
		"none has it": {map[string]string{"dnf": "exit 1"}, []string{"No repository of dnf has Tool (package tool-r tool-s)"}, 1},
		"not in it":   {map[string]string{"dnf": "true"}, []string{"The installed package has no program the-tool"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if _, ok := tc.programs["id"]; !ok {
				tc.programs["id"] = "echo 0"
			}
			for p, text := range tc.programs {
				if err := os.WriteFile(filepath.Join(dir, p), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for _, p := range []string{"sh", "mkdir", "rm", "chmod"} {
				at, err := exec.LookPath(p)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(at, filepath.Join(dir, p)); err != nil {
					t.Fatal(err)
				}
			}
			// The directories of every user hold what this machine has.
			line := strings.Replace(software.line(), "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:", "/nowhere:", 1)
			cmd := exec.Command(filepath.Join(dir, "sh"), "-c", line)
			cmd.Env = []string{"PATH=" + dir, "MUSTER_STATE_ROOT=" + filepath.Join(dir, "state")}
			out, _ := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != tc.exit {
				t.Errorf("exit code %d, want %d", cmd.ProcessState.ExitCode(), tc.exit)
			}
			rest := string(out)
			for _, want := range tc.says {
				_, after, ok := strings.Cut(rest, want)
				if !ok {
					t.Fatalf("%q is not said in\n%s", want, out)
				}
				rest = after
			}
			if tc.says == nil && len(out) > 0 {
				t.Errorf("%s", out)
			}
		})
	}
}
