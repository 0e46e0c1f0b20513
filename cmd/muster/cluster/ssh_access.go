package cluster

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/cmd/muster/cli"
)

// sshAccess is the SSH access to a cluster's nodes: an ssh command line by node name. Note, if set, says why there are none.
type sshAccess struct {
	lines map[string]string
	note  string
}

// fetchSSHAccess fetches a cluster's key and writes it to the client's key directory, with a known_hosts file of the nodes' host keys, so
// that ssh verifies the hosts.
func fetchSSHAccess(ctx context.Context, cl *cli.Client, v cluster.View) (sshAccess, error) {
	nodes := reachableNodes(v)
	if len(nodes) == 0 {
		return sshAccess{}, nil
	}
	user, pem, err := cl.Clusters.Key(ctx, v.ID)
	switch app.CodeOf(err) {
	case "":
	case app.EForbidden, app.ENotFound:
		if e := app.AsError(err); e.Reason == app.Locked {
			return sshAccess{note: e.Message}, nil
		}
		if v.Access >= app.AccessUser {
			return sshAccess{note: "Sign in with a certificate: muster cluster ssh " + v.Name}, nil
		}
		return sshAccess{note: "Only the cluster's owner and admins can get its SSH key."}, nil
	default:
		if app.IsKeyLost(err) {
			return sshAccess{note: "This cluster's SSH key is lost: " + app.AsError(err).Message}, nil
		}
		return sshAccess{}, err
	}
	base, err := keyBase(cl.Home, v.ID)
	if err != nil {
		return sshAccess{}, err
	}
	if err := cli.WritePrivate(base+".pem", pem); err != nil {
		return sshAccess{}, fmt.Errorf("save the key of %s: %w", v.Name, err)
	}
	if err := cli.WritePrivate(base+".known_hosts", []byte(KnownHosts(nodes))); err != nil {
		return sshAccess{}, fmt.Errorf("save the host keys of %s: %w", v.Name, err)
	}
	r := sshAccess{lines: map[string]string{}}
	for _, n := range nodes {
		if n.Lost() {
			continue // no machine to reach
		}
		r.lines[n.Name] = SSHLine(base, cmp.Or(n.SSHUser, user, "root"), n)
	}
	return r, nil
}

// reachableNodes returns the nodes with an address. Text that a shell or ssh could take for an option or several words isn't an
// address.
func reachableNodes(v cluster.View) []app.Node {
	var nodes []app.Node
	for _, n := range v.Nodes {
		addr := n.Address(app.AddressAccess)
		if n.Status != app.NodeCreated && n.Status != app.NodeReady {
			continue
		}
		if addr != "" && !strings.HasPrefix(addr, "-") && !strings.ContainsAny(addr, " \t\r\n") && !strings.HasPrefix(n.SSHUser, "-") {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// keyBase returns the path of a cluster's files in the key directory, without extensions, and creates the directory. Home is the
// client's own directory; "": the user's.
func keyBase(home, id string) (string, error) {
	if id == "" || id != filepath.Base(id) || strings.HasPrefix(id, ".") {
		return "", fmt.Errorf("%q isn't a valid name for a key file", id)
	}
	if home == "" {
		var err error
		if home, err = cli.ConfigDir(); err != nil {
			return "", err
		}
	}
	dir := filepath.Join(home, "keys")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return filepath.Join(dir, id), nil
}

// ForgetKeys removes the files of a deleted cluster.
func ForgetKeys(home, id string) {
	if base, err := keyBase(home, id); err == nil {
		os.Remove(base + ".pem")
		os.Remove(base + ".known_hosts")
	}
}

func SSHPort(n app.Node) int {
	if n.SSHPort == 0 {
		return 22
	}
	return n.SSHPort
}

// KnownHosts returns the lines of a known_hosts file; nodes without a known host key have none.
func KnownHosts(nodes []app.Node) string {
	var b strings.Builder
	for _, n := range nodes {
		key := strings.Fields(n.HostKey)
		if len(key) < 2 {
			continue
		}
		host := n.Address(app.AddressAccess)
		if port := SSHPort(n); port != 22 {
			host = "[" + host + "]:" + strconv.Itoa(port)
		}
		if n.Hostname != "" {
			host = n.Hostname + "," + host // inventories look up the key by name
		}
		fmt.Fprintf(&b, "%s %s %s\n", host, key[0], key[1])
	}
	return b.String()
}

// SSHLine returns the command line that opens a shell on a node.
func SSHLine(base, user string, n app.Node) string {
	known := base + ".known_hosts"
	if strings.ContainsAny(known, " \t") {
		known = `"` + known + `"` // ssh splits the option's value at spaces
	}
	port := ""
	if p := SSHPort(n); p != 22 {
		port = fmt.Sprintf(" -p %d", p)
	}
	return fmt.Sprintf("ssh -i %s -o UserKnownHostsFile=%s%s %s", humanize.ShellQuote(base+".pem"), humanize.ShellQuote(known), port,
		humanize.ShellQuote(user+"@"+n.Address(app.AddressAccess)))
}

// write lists the nodes with their ssh command lines.
func (r sshAccess) write(w io.Writer, v cluster.View) {
	for _, n := range v.Nodes {
		if line := r.lines[n.Name]; line != "" {
			fmt.Fprintf(w, "  %-4s %s\n", n.Name, line)
		}
	}
	if r.note != "" {
		fmt.Fprintf(w, "  %s\n", r.note)
	}
}
