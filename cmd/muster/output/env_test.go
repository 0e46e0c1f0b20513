package output

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"muster/app"
	appcluster "muster/app/cluster"
)

func TestDotenvKeepsValuesAsTheyAre(t *testing.T) {
	for value, want := range map[string]string{
		`plain`: `'plain'`, `$HOME "x" #`: `'$HOME "x" #'`, `it's $HOME`: `"it's \$HOME"`, "a\nb": `"a\nb"`, `a'\<&>`: `"a'\\<&>"`, ``: `''`,
	} {
		if got := dotenv(value); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}

func TestPasswordFiles(t *testing.T) {
	for value, want := range map[string][2]string{
		"postgresql://app:pw@db:5433/shop":        {"db:5433:shop:app:pw\n"},
		"postgres://app:p%3Aw%5C@db":              {`db:5432:*:app:p\:w\\` + "\n"},
		"postgresql://app:pw@a:1,b:2/x?sslmode=y": {"a:1:x:app:pw\nb:2:x:app:pw\n"},
		"postgresql://app:pw@[::1]:5432/x":        {`\:\:1:5432:x:app:pw` + "\n"},
		"postgresql://app@db/shop":                {},
		"https://ada:pw@host:8443/x":              {"", "machine host\nlogin ada\npassword pw\n"},
		"https://ada:p%20w@host/":                 {},
		"https://ada:p%0Aw@host/":                 {},
		"https://host/":                           {},
		"http://ada:pw@ho\x01st/":                 {},
		"a word":                                  {},
		"":                                        {},
	} {
		if got := [2]string{pgpass(value), netrc(value)}; got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

// OpenSSH reads what is written, and hosts whose names could mean something else are left out.
func TestSSHConfiguration(t *testing.T) {
	f := sshFiles{dir: filepath.Join(t.TempDir(), "with space")}
	f.config = filepath.Join(t.TempDir(), "config")
	v := appcluster.View{Cluster: app.Cluster{ID: "c1", Name: "shop"}}
	for i, name := range []string{"n1", "n2", "n3 Host *", "n4"} {
		n := app.Node{Name: name, Status: app.NodeReady, HostKey: "ssh-ed25519 AAAA", SSHUser: "ubuntu", SSHPort: 2222,
			Addresses: map[string]string{app.AddressAccess: "10.0.0." + string(rune('1'+i))}}
		if name == "n4" {
			n.HostKey = ""
		}
		v.Nodes = append(v.Nodes, n)
	}
	text, count := f.hosts(v, "true")
	if count != 2 || strings.Contains(text, ".n3") || strings.Contains(text, ".n4") {
		t.Fatalf("%d hosts:\n%s", count, text)
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{filepath.Join(f.dir, "c1.conf"): text, f.config: "Host other\n    User ada\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the block isn't written twice
		if err := f.include(); err != nil {
			t.Fatal(err)
		}
	}
	if rest, err := f.rest(); err != nil || string(rest) != "Host other\n    User ada\n" {
		t.Fatalf("%q, %v", rest, err)
	}
	ssh, err := exec.LookPath("ssh")
	if err != nil {
		return // the story over the real binary needs it
	}
	for host, want := range map[string][]string{
		"muster.shop":    {"hostname 10.0.0.1", "port 2222", "user ubuntu", "certificatefile " + f.of("c1", certificateFile)},
		"muster.shop.n2": {"hostname 10.0.0.2", "stricthostkeychecking true", "identitiesonly yes"},
		"other":          {"user ada", "hostname other", "port 22"},
	} {
		out, err := exec.CommandContext(t.Context(), ssh, "-F", f.config, "-G", host).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range want {
			if !strings.Contains("\n"+string(out), "\n"+line+"\n") {
				t.Errorf("%s lacks %q:\n%s", host, line, out)
			}
		}
	}
}
