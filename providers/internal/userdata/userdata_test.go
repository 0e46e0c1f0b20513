package userdata

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"os/exec"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"golang.org/x/crypto/ssh"
	"muster/app"
	"muster/app/family"
)

func spec(t *testing.T) family.MachineSpec {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	return family.MachineSpec{Hostname: "n1.c1.example.org", HostKey: pem.EncodeToMemory(block), AuthorizedKey: "ssh-ed25519 AAAA muster"}
}

func TestCloudConfig(t *testing.T) {
	s := spec(t)
	for _, user := range []string{"", "root", "debian"} {
		text, hostKey, err := CloudConfig(s, Options{User: user, DataDisks: true, Commands: []string{"echo 'x: y' >/etc/odd"}})
		if err != nil || !strings.HasPrefix(text, "#cloud-config\n") || !strings.HasPrefix(hostKey, "ssh-ed25519 ") {
			t.Fatalf("%s, %s, %v", text, hostKey, err)
		}
		var c map[string]any
		if err := yaml.Unmarshal([]byte(text), &c); err != nil {
			t.Fatal(err)
		}
		keys := c["ssh_keys"].(map[string]any)
		if keys["ed25519_private"] != string(s.HostKey) || keys["ed25519_public"] != hostKey || c["ssh_deletekeys"] != true || c["ssh_pwauth"] != false {
			t.Errorf("%v", c)
		}
		asRoot := user != "debian"
		if c["disable_root"] == asRoot || (c["users"] == nil) != asRoot || (c["ssh_authorized_keys"] == nil) == asRoot {
			t.Errorf("%s: %v", user, c)
		}
		if c["hostname"] != "n1" || c["fqdn"] != "n1.c1.example.org" {
			t.Errorf("%v", c)
		}
	}
}

func TestCloudConfigRefuses(t *testing.T) {
	s := spec(t)
	s.HostKey = []byte("none")
	if _, _, err := CloudConfig(s, Options{}); app.CodeOf(err) != app.EInvalid || strings.Contains(err.Error(), "none") {
		t.Error(err)
	}
	if _, _, err := CloudConfig(spec(t), Options{Commands: []string{strings.Repeat("x", most)}}); app.CodeOf(err) != app.ETooLarge {
		t.Error(err)
	}
}

func TestDiskScriptIsShell(t *testing.T) {
	c := exec.Command("sh", "-n")
	c.Stdin = strings.NewReader(diskScript)
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
