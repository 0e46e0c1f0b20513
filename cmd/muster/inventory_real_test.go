//go:build real

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"muster/app"
	"muster/app/inventory"
	"muster/cmd/muster/cluster"
)

// inventoryUses say how the tool that each form is for uses it: a shell's words, with the file as $f, the first node's host name as $host, its
// address as $address and its port as $port; and what they print of a cluster of three nodes.
var inventoryUses = map[inventory.Format][2]string{
	inventory.FormatSSH:         {`for n in "$host" "n1.web"; do ssh -F "$f" -o BatchMode=yes -o IdentityAgent=none "$n" echo opened; done`, "opened\nopened\n"},
	inventory.FormatAnsible:     {`ansible -i "$f" all -m ping | grep -c SUCCESS; ansible-inventory -i "$f" --list | jq -r '.muster_web.hosts | length'`, "3\n3\n"},
	inventory.FormatAnsibleYAML: {`ansible -i "$f" all -m ping | grep -c SUCCESS; ansible-inventory -i "$f" --list | jq -r '.muster_web.hosts | length'`, "3\n3\n"},
	inventory.FormatKnownHosts:  {`ssh-keygen -F "$host" -f "$f" | grep -c '^[^#]'; ssh-keygen -F "$([ "$port" = 22 ] && echo "$address" || echo "[$address]:$port")" -f "$f" | grep -c '^[^#]'; ssh-keygen -l -f "$f" | wc -l`, "1\n1\n3\n"},
	inventory.FormatHosts:       {`python3 -c 'import sys,ipaddress; print(sum(1 for l in open(sys.argv[1]) if l.split("#")[0].split() and ipaddress.ip_address(l.split()[0]) and sys.argv[2] in l.split()))' "$f" "$host"`, "1\n"},
	inventory.FormatJSON:        {`jq -r '.hosts | length' "$f"; test -s "$(jq -r .known_hosts "$f")"; ssh-keygen -y -P '' -f "$(jq -r .key_file "$f")" >/dev/null && echo key`, "3\nkey\n"},
	inventory.FormatEnv:         {`set -a; . "$f"; echo "$MUSTER_NODES"; test "$MUSTER_NODE_N1" = "$address"; ssh-keygen -y -P '' -f "$MUSTER_SSH_KEY" >/dev/null && echo key`, "n1,n2,n3\nkey\n"},
}

// Every form of an inventory is used by the tool that it is for, as the command line writes it, with nothing added by hand.
func TestRealInventories(t *testing.T) {
	for _, f := range inventory.Formats {
		if inventoryUses[f][0] == "" {
			t.Errorf("nothing uses inventories of the form %s: say how in inventoryUses", f)
		}
	}
	p := newProcess(t)
	v := p.await(p.create(3).ID)
	if v.Status != app.ClusterActive {
		t.Fatalf("%+v\n%s", v, p.out)
	}
	dir := t.TempDir()
	env := append(os.Environ(), "HOME="+dir, "MUSTER_HOME="+filepath.Join(dir, "own"), "host="+v.Nodes[0].Hostname, "address="+v.Nodes[0].Address(app.AddressAccess), fmt.Sprintf("port=%d", cluster.SSHPort(v.Nodes[0])))
	for _, f := range inventory.Formats {
		ctx, cancel := context.WithTimeout(t.Context(), hangs)
		_, name, _, err := (inventory.Inventory{Cluster: v.ID}).File(f)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, name) // Ansible tells YAML by the file's name
		made := exec.CommandContext(ctx, "muster", "cluster", "inventory", v.ID, "--format", string(f), "--data", p.data)
		made.Env = env
		text, err := made.Output()
		if err != nil || os.WriteFile(file, text, 0o600) != nil {
			t.Fatalf("%s: %v\n%s", f, err, text)
		}
		use := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", inventoryUses[f][0])
		use.Env = append(env, "f="+file)
		var errs strings.Builder
		use.Stderr = &errs
		out, err := use.Output()
		cancel()
		if err != nil || string(out) != inventoryUses[f][1] {
			t.Errorf("%s: %q, want %q, %v\n%s\n%s", f, out, inventoryUses[f][1], err, errs.String(), text)
		}
	}
}
