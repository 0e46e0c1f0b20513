package userdata

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
)

// rooted is a directory in place of /, with programs in place of those that would change the host.
type rooted struct{ dir, bin string }

func newRoot(t *testing.T, sshd string) rooted {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("bash is missing")
		}
		t.Skip("bash is missing")
	}
	r := rooted{t.TempDir(), t.TempDir()}
	for _, dir := range []string{"etc/ssh", "etc/sudoers.d", "etc/cloud/cloud.cfg.d", "root"} {
		if err := os.MkdirAll(filepath.Join(r.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.write(t, "etc/ssh/sshd_config", sshd)
	r.write(t, "etc/ssh/ssh_host_rsa_key", "of the image")
	r.write(t, "etc/hosts", "127.0.0.1 localhost\n")
	for program, does := range map[string]string{
		"systemctl": `echo "systemctl $*" >>"$MUSTER_ROOT/did"`, "hostnamectl": `echo "hostnamectl $*" >>"$MUSTER_ROOT/did"`, "curl": `echo "curl $*" >>"$MUSTER_ROOT/did"`,
		"useradd": `echo "useradd $*" >>"$MUSTER_ROOT/did"`, "chown": `echo "chown $*" >>"$MUSTER_ROOT/did"`, "id": `[ "$1" = root ]`,
		"getent": `case $2 in root) echo root:x:0:0:root:/root:/bin/bash ;; *) echo "$2:x:1000:1000::/home/$2:/bin/bash" ;; esac`,
		"lsblk":  `echo "lsblk" >>"$MUSTER_ROOT/did"`,
	} {
		if err := os.WriteFile(filepath.Join(r.bin, program), []byte("#!/bin/sh\n"+does+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func (r rooted) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (r rooted) read(name string) string {
	b, _ := os.ReadFile(filepath.Join(r.dir, name))
	return string(b)
}

// run starts the machine, and returns what was done to the host.
func (r rooted) run(t *testing.T, script string) string {
	t.Helper()
	_ = os.Remove(filepath.Join(r.dir, "did"))
	c := exec.Command("bash")
	c.Stdin = strings.NewReader(script)
	c.Env = []string{"PATH=" + r.bin + ":" + os.Getenv("PATH"), "MUSTER_ROOT=" + r.dir}
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r.read("did")
}

func scriptOf(t *testing.T, s family.MachineSpec, user string, disks bool) (script, hostKey string) {
	t.Helper()
	script, hostKey, err := StartScript(s, StartOptions{User: user, DataDisks: disks, Started: "curl started"})
	if err != nil {
		t.Fatal(err)
	}
	return script, hostKey
}

// named is the spec of a machine.
func named(t *testing.T, name string) family.MachineSpec {
	s := spec(t)
	s.Intent, s.Hostname = name, strings.ReplaceAll(name, " ", "-")+".suite.test"
	return s
}

func TestFirstStart(t *testing.T) {
	const includes = "# an image's\nInclude /etc/ssh/sshd_config.d/*.conf\nPermitRootLogin no\n"
	r := newRoot(t, includes)
	s := named(t, "it's")
	script, hostKey := scriptOf(t, s, "root", true)
	did := r.run(t, script)
	if r.read("etc/ssh/ssh_host_ed25519_key") != string(s.HostKey) || strings.TrimSpace(r.read("etc/ssh/ssh_host_ed25519_key.pub")) != hostKey {
		t.Error("the host key is not the one that was given")
	}
	if info, err := os.Stat(filepath.Join(r.dir, "etc/ssh/ssh_host_ed25519_key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if r.read("etc/ssh/ssh_host_rsa_key") != "" {
		t.Error("the image's host key is left")
	}
	if got := r.read("root/.ssh/authorized_keys"); got != s.AuthorizedKey+"\n" {
		t.Errorf("let in: %q", got)
	}
	if got := r.read("etc/ssh/sshd_config.d/00-muster.conf"); !strings.Contains(got, "PermitRootLogin prohibit-password") || r.read("etc/ssh/sshd_config") != includes {
		t.Errorf("%q, %q", got, r.read("etc/ssh/sshd_config"))
	}
	if !strings.Contains(r.read("etc/default/instance_configs.cfg"), "set_host_keys = false") || !strings.Contains(r.read("etc/cloud/cloud.cfg.d/99-muster.cfg"), "ssh_deletekeys: false") {
		t.Error("others may make host keys")
	}
	for _, want := range []string{"hostnamectl set-hostname it-s", "systemctl restart ssh", "lsblk", "curl started"} {
		if !strings.Contains(did, want) {
			t.Errorf("%q is not among %s", want, did)
		}
	}
	if at, last := strings.Index(did, "restart ssh"), strings.Index(did, "curl"); at > last {
		t.Errorf("it says that it has started before it has: %s", did)
	}

	// What was changed since is left alone, and it says again that it has started.
	r.write(t, "root/.ssh/authorized_keys", "another\n")
	if did := r.run(t, script); strings.Contains(did, "restart") || !strings.Contains(did, "curl") || r.read("root/.ssh/authorized_keys") != "another\n" {
		t.Errorf("a second start does %s", did)
	}
	// The disk of another machine, made of this one's: it starts for the first time.
	other, _ := scriptOf(t, named(t, "other"), "root", false)
	if did := r.run(t, other); !strings.Contains(did, "restart") {
		t.Errorf("the start of a copy does %s", did)
	}
}

func TestFirstStartWithAnotherUser(t *testing.T) {
	r := newRoot(t, "PermitRootLogin no\n")
	s := named(t, "n1")
	script, _ := scriptOf(t, s, "ops", false)
	did := r.run(t, script)
	if !strings.Contains(did, "useradd --create-home --shell /bin/bash ops") || strings.Contains(did, "lsblk") {
		t.Error(did)
	}
	if r.read("etc/sudoers.d/90-muster") != "ops ALL=(ALL) NOPASSWD:ALL\n" || r.read("home/ops/.ssh/authorized_keys") != s.AuthorizedKey+"\n" {
		t.Errorf("%q, %q", r.read("etc/sudoers.d/90-muster"), r.read("home/ops/.ssh/authorized_keys"))
	}
	if got := r.read("etc/ssh/sshd_config"); got != "# muster\nPasswordAuthentication no\nPermitRootLogin no\n" {
		t.Errorf("%q", got)
	}
	if !strings.Contains(r.read("etc/hosts"), "127.0.1.1 n1.suite.test n1") {
		t.Error(r.read("etc/hosts"))
	}
}

func TestFirstStartThatFails(t *testing.T) {
	r := newRoot(t, "")
	if err := os.WriteFile(filepath.Join(r.bin, "useradd"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	script, _ := scriptOf(t, named(t, "n1"), "ops", false)
	c := exec.Command("bash")
	c.Stdin = strings.NewReader(script)
	c.Env = []string{"PATH=" + r.bin + ":" + os.Getenv("PATH"), "MUSTER_ROOT=" + r.dir}
	if out, err := c.CombinedOutput(); err == nil {
		t.Errorf("it succeeds: %s", out)
	}
	if strings.Contains(r.read("did"), "curl") || r.read("var/lib/muster/first-start") != "" {
		t.Error("it says that it has started")
	}
}

func TestScriptRefuses(t *testing.T) {
	s := named(t, "n1")
	s.AuthorizedKey = "a\nb"
	if _, _, err := StartScript(s, StartOptions{User: "root"}); app.CodeOf(err) != app.EInvalid {
		t.Error(err)
	}
	if _, _, err := StartScript(named(t, "n1"), StartOptions{User: "$(reboot)"}); app.CodeOf(err) != app.EInvalid {
		t.Error(err)
	}
}

func TestQuoted(t *testing.T) {
	if got := quoted("it's $HOME"); got != `'it'\''s $HOME'` {
		t.Error(got)
	}
}
