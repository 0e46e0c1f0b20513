//go:build real

package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/layout"
)

// person is someone with an SSH key of their own, who signs in to nodes as people do: past Muster.
type person struct {
	name, key, public string
}

func newPerson(t *testing.T, name string) person {
	t.Helper()
	key := filepath.Join(t.TempDir(), name)
	if out, err := exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name+"@laptop", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v: %s", err, out)
	}
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	return person{name, key, strings.TrimSpace(string(public))}
}

// says runs a command on a node under the person's own account.
func (u person) says(ctx context.Context, n app.Node, line string) (string, error) {
	known := u.key + "." + n.Name
	if err := os.WriteFile(known, []byte(address(n)+" "+n.HostKey+"\n"), 0o600); err != nil {
		return "", err
	}
	return tool(ctx, nil, "ssh", "-F", "/dev/null", "-i", u.key, "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "LogLevel=ERROR",
		"-o", "UserKnownHostsFile="+known, "-o", "StrictHostKeyChecking=yes", u.name+"@"+address(n), "--", line)
}

// meets finds that every node reaches every other one through the tunnel, and that both have shaken hands for it.
func (p *process) meets(v cluster.View) {
	p.t.Helper()
	nodes := of(v, "wireguard")
	if len(nodes) != len(v.Nodes) {
		p.t.Fatalf("%d of %d nodes have wireguard", len(nodes), len(v.Nodes))
	}
	for _, n := range nodes {
		var inside []string
		for _, o := range nodes {
			number, err := strconv.Atoi(strings.TrimPrefix(o.Name, "n"))
			if err != nil {
				p.t.Fatal(err)
			}
			inside = append(inside, fmt.Sprintf("10.222.%d.%d", number/250, number%250+1))
		}
		p.until(n.Name+" reaches all", strconv.Itoa(len(nodes)), func() (string, error) {
			// What goes to itself needs no tunnel, and counts as one.
			return p.on(v, n, "k=0; for a in "+strings.Join(inside, " ")+`; do ping -q -c 1 -W 2 "$a" >/dev/null 2>&1 && k=$((k+1)); done; echo $k`), nil
		})
		if got := p.on(v, n, "wg show muster0 latest-handshakes | awk '$2 > 0' | wc -l"); got != strconv.Itoa(len(nodes)-1) {
			p.t.Errorf("%s has shaken hands with %s, want %d", n.Name, got, len(nodes)-1)
		}
	}
}

// TestRealTemplateMesh has people sign in as they were let, and nodes speak through their own network, while the cluster changes.
func TestRealTemplateMesh(t *testing.T) {
	t.Parallel()
	p := newTemplates(t, "wg", "wireguard-go", "ping", "sudo", "useradd", "ssh-keygen")
	ada, bob := newPerson(t, "ada"), newPerson(t, "bob")
	v, err := p.client().Create(t.Context(), cluster.CreateRequest{Name: "mesh", Request: layout.Request{Template: "mesh", Size: 3},
		Config: map[string]any{"users": map[string]any{"keys": map[string]any{"ada": ada.public, "bob": bob.public}}}})
	if err != nil {
		t.Fatal(err)
	}
	v = p.stands(v.ID)
	p.publishes(v, "addresses", "%s", ",", v.Nodes)
	p.meets(v)
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationResize, Size: 4})
	p.meets(v)

	may := func(u person, n app.Node, line, want string) {
		t.Helper()
		if out, err := u.says(t.Context(), n, line); err != nil || out != want {
			t.Errorf("%s on %s: %s: %q, %v; want %q", u.name, n.Name, line, out, err, want)
		}
	}
	mayNot := func(u person, n app.Node, line, why string) {
		t.Helper()
		if out, err := u.says(t.Context(), n, line); err == nil || !strings.Contains(out, why) {
			t.Errorf("%s on %s: %s: %q, %v; want %q", u.name, n.Name, line, out, err, why)
		}
	}
	const root = "sudo -n id -un"
	for _, n := range v.Nodes {
		may(ada, n, "id -un; pwd; touch kept", "ada\n/home/ada")
		may(bob, n, "id -un", "bob")
		mayNot(person{name: "ada", key: bob.key}, n, "id -un", "Permission denied")
		p.rules(v, n)
		mayNot(ada, n, root, "a password is required")
	}

	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationReconfigure, Parameters: map[string]any{"admins": "ada"}})
	for _, n := range v.Nodes {
		may(ada, n, root, "root")
		mayNot(bob, n, root, "a password is required")
	}

	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationReconfigure, Config: map[string]any{"users": map[string]any{"keys": map[string]any{"bob": nil}}}, Parameters: map[string]any{"admins": ""}})
	for _, n := range v.Nodes {
		mayNot(bob, n, "id -un", "Permission denied")
		may(ada, n, "ls", "kept")
		mayNot(ada, n, root, "a password is required")
		if out := p.on(v, n, "ls -d /home/bob; ls /etc/sudoers.d"); out != "/home/bob" {
			t.Errorf("%s keeps %q", n.Name, out)
		}
	}

	// A node whose machine dies comes back with the same keys, so no one has to accept new ones.
	p.dies(v.Nodes[0])
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationRepair, Nodes: []string{v.Nodes[0].Name}})
	p.meets(v)
	may(ada, v.Nodes[0], "id -un", "ada")

	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationRemoveServices, Services: []string{"users", "wireguard"}})
	for _, n := range v.Nodes {
		mayNot(ada, n, "id -un", "Permission denied")
		if out := p.on(v, n, "ip -brief link show type tun; ps -C wireguard-go -o pid= || true"); out != "" {
			t.Errorf("of the tunnel %s has left %q", n.Name, out)
		}
	}
	p.goes(v, 5)
}

// rules adds to a machine what Debian's package sudo has in /etc: machines of the sandbox have the host's programs, and no /etc of its packages.
func (p *process) rules(v cluster.View, n app.Node) {
	p.t.Helper()
	for _, file := range []string{"/etc/sudoers", "/etc/pam.d/sudo", "/etc/pam.d/common-auth", "/etc/pam.d/common-account", "/etc/pam.d/common-session-noninteractive", "/etc/security/limits.conf"} {
		b, err := os.ReadFile(file)
		if err != nil {
			p.t.Fatal(err)
		}
		p.on(v, n, fmt.Sprintf("mkdir -p %s; echo %s | base64 -d >%s; chmod 440 %s", filepath.Dir(file), base64.StdEncoding.EncodeToString(b), file, file))
	}
}

// TestRealWireGuardInARunningCluster takes the private network into a cluster whose template says nothing of it.
func TestRealWireGuardInARunningCluster(t *testing.T) {
	t.Parallel()
	p := newTemplates(t, "memcached", "wg", "wireguard-go", "ping")
	v := p.made("fast", "memcached", 2)
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationReconfigure, Config: map[string]any{
		"wireguard": map[string]any{"peers": "%join(ip.service.wireguard,' ')%", "hosts": "%join(host.service.wireguard,' ')%"}}})
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationAddServices, Services: []string{"wireguard"}})
	p.meets(v)
	v, _ = p.update(v.ID, cluster.Update{Kind: app.OperationResize, Size: 3})
	p.meets(v)
	secret := p.on(v, v.Nodes[0], "sed -n 's/^PrivateKey = //p' /var/lib/muster/wireguard/*/wg.conf")
	for what, said := range map[string]string{"the cluster's log": p.lines(v.ID), "the server's": fmt.Sprint(p.out)} {
		if len(secret) != 44 || strings.Contains(said, secret) {
			t.Errorf("a key of %d characters, in %s: %t", len(secret), what, strings.Contains(said, secret))
		}
	}
	p.goes(v, 3)
}
