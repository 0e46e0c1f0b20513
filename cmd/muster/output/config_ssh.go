package output

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/humanize"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/cluster"

	"github.com/spf13/cobra"
)

// The files of config-ssh: a folder with a configuration, key, certificate and known hosts of each cluster, and a
// block in the user's own configuration of OpenSSH that includes them. Editors read the hosts there. Before each
// connection, ssh runs this program with --refresh, which gets a new certificate when the last one is about to
// expire, so that nothing that lasts opens a machine.
type sshFiles struct {
	config string // the user's own configuration
	dir    string // of the clusters' files
}

const (
	blockStart = "# START MUSTER: hosts of clusters, written by muster cluster config-ssh"
	blockEnd   = "# END MUSTER"
	// mostSSHClusters is how many clusters are written at once.
	mostSSHClusters = 5000
)

func configSSHCommand(c *cli.Context) *cobra.Command {
	var file string
	var refresh, remove bool
	cmd := &cobra.Command{
		Use:   "config-ssh [ID|NAME]",
		Short: "Add the nodes of clusters to your SSH configuration, for ssh and editors",
		Long: "Add the nodes of a cluster, or of all clusters that you can use, to your SSH configuration as\n" +
			"muster.CLUSTER.NODE, so that ssh, scp, rsync, VS Code and JetBrains connect to them. muster.CLUSTER is the first\n" +
			"node. ssh gets a certificate that is valid for 5 min whenever it needs one, while you are signed in to Muster.\n" +
			"Run the command again after nodes were added or replaced.",
		Example: "  muster cluster config-ssh shop\n  ssh muster.shop.n1\n  muster cluster config-ssh --remove",
		Args:    cli.AtMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := sshFilesOf(file)
			if err != nil {
				return err
			}
			switch {
			case refresh && len(args) == 1:
				return refreshSSH(cmd.Context(), c, f, args[0])
			case remove && len(args) == 0:
				return f.remove(c)
			case refresh || remove:
				return cli.Usagef("--refresh takes a cluster, and --remove takes none")
			}
			return configSSH(cmd.Context(), c, f, args)
		},
	}
	cmd.Flags().StringVar(&file, "ssh-config", "", "SSH configuration `file` to change (default ~/.ssh/config)")
	cmd.Flags().BoolVar(&remove, "remove", false, "remove the nodes of all clusters again")
	cmd.Flags().BoolVar(&refresh, "refresh", false, "renew a cluster's certificate, as ssh does")
	_ = cmd.Flags().MarkHidden("refresh")
	return cmd
}

func sshFilesOf(config string) (f sshFiles, err error) {
	home, err := cli.ConfigDir()
	if err != nil {
		return f, err
	}
	if f.dir, err = filepath.Abs(filepath.Join(home, "ssh")); err != nil {
		return f, err
	}
	if f.config = config; config == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return f, err
		}
		f.config = filepath.Join(user, ".ssh", "config")
	}
	if f.config, err = filepath.Abs(f.config); err == nil && strings.ContainsAny(f.dir, "\"\n%$") {
		err = cli.Usagef("ssh can't include files in %s", f.dir).Hint("Set MUSTER_HOME to another folder.")
	}
	return f, err
}

// of is a file of a cluster's folder.
func (f sshFiles) of(id, name string) string { return filepath.Join(f.dir, id, name) }

// The files of a cluster's folder, beside its configuration, which is next to the folder.
const (
	keyFile         = "key"
	certificateFile = "key-cert.pub"
	knownHosts      = "known_hosts"
)

// configSSH writes the files of the named cluster, or of all.
func configSSH(ctx context.Context, c *cli.Context, f sshFiles, args []string) error {
	list, err := sshClusters(ctx, c, args)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	if len(args) == 0 {
		if err := f.clear(); err != nil {
			return err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	nodes := 0
	for _, v := range list {
		text, n := f.hosts(v, refreshLine(c, self, f, v.ID))
		if nodes += n; n == 0 {
			continue
		}
		if err := cli.WritePrivate(filepath.Join(f.dir, v.ID+".conf"), []byte(text)); err != nil {
			return err
		}
	}
	if nodes == 0 {
		return &app.Error{Code: app.EConflict, Message: "no cluster has a node to sign in to",
			Hint: "See: muster cluster list"}
	}
	if err := f.include(); err != nil {
		return err
	}
	if c.JSON() {
		return c.PrintJSON(map[string]any{"config": f.config, "nodes": nodes})
	}
	cli.Line(c.Stdout, "Added %s to %s. For example: ssh muster.%s",
		humanize.Count(nodes, "node"), f.config, firstName(list))
	return nil
}

func firstName(list []appcluster.View) string {
	for _, v := range list {
		if len(reachable(v)) > 0 {
			return v.Name
		}
	}
	return ""
}

// sshClusters are the clusters whose nodes are written.
func sshClusters(ctx context.Context, c *cli.Context, args []string) (list []appcluster.View, err error) {
	if len(args) == 1 {
		_, v, err := cluster.ConnectTo(ctx, c, args[0], false)
		return []appcluster.View{v}, err
	}
	cl, err := c.Connect()
	if err != nil {
		return nil, err
	}
	all, err := cl.Clusters.List(ctx, app.ClusterFilter{Limit: mostSSHClusters})
	if err != nil {
		return nil, err
	}
	if len(all) == mostSSHClusters {
		fmt.Fprintf(c.Stderr, "Only the first %d clusters are written. To add others, name each.\n", mostSSHClusters)
	}
	for _, s := range all {
		v, err := cl.Clusters.Get(ctx, s.ID)
		if err != nil {
			return nil, err
		}
		if v.Access >= app.AccessUser {
			list = append(list, v)
		}
	}
	return list, nil
}

// sshWord is what can stand in a configuration of ssh without quotes, and means nothing to it or to a shell.
var sshWord = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:-]*$`)

// reachable are the nodes that ssh can connect to and recognize.
func reachable(v appcluster.View) (nodes []app.Node) {
	for _, n := range v.Nodes {
		up := (n.Status == app.NodeCreated || n.Status == app.NodeReady) && !n.Lost() && n.HostKey != ""
		user, address := cmp.Or(n.SSHUser, "root"), n.Address(app.AddressAccess)
		if up && sshWord.MatchString(n.Name) && sshWord.MatchString(address) && sshWord.MatchString(user) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// hosts is the configuration of a cluster's nodes.
func (f sshFiles) hosts(v appcluster.View, refresh string) (text string, count int) {
	nodes := reachable(v)
	if !sshWord.MatchString(v.Name) || !sshWord.MatchString(v.ID) {
		return "", 0
	}
	var b strings.Builder
	base := "muster." + v.Name
	fmt.Fprintf(&b, "# Cluster %s. Written by muster cluster config-ssh.\n", v.Name)
	fmt.Fprintf(&b, "Match originalhost %s,%s.* exec \"%s\"\n    CertificateFile \"%s\"\n",
		base, base, refresh, f.of(v.ID, certificateFile))
	for i, n := range nodes {
		names := base + "." + n.Name
		if i == 0 {
			names += " " + base
		}
		fmt.Fprintf(&b, "\nHost %s\n    HostName %s\n    Port %d\n    User %s\n", names,
			n.Address(app.AddressAccess), cluster.SSHPort(n), cmp.Or(n.SSHUser, "root"))
		fmt.Fprintf(&b, "    IdentityFile \"%s\"\n    UserKnownHostsFile \"%s\"\n", f.of(v.ID, keyFile), f.of(v.ID, knownHosts))
		b.WriteString("    GlobalKnownHostsFile none\n    StrictHostKeyChecking yes\n    UpdateHostKeys no\n" +
			"    IdentitiesOnly yes\n    IdentityAgent none\n    PreferredAuthentications publickey\n")
	}
	return b.String(), len(nodes)
}

// refreshLine is what ssh runs before it connects: this program, with the flags that name the server.
func refreshLine(c *cli.Context, self string, f sshFiles, id string) string {
	words := []string{self, "cluster", "config-ssh", "--refresh", id}
	profile := c.ProfileName
	if name, _, err := c.Profile(); err == nil && c.Server == "" {
		profile = name // another one may be current later
	}
	for _, flag := range [][2]string{{"--profile", profile}, {"--server", c.Server}, {"--ca-fingerprint", c.CA}, {"--data", c.Data}} {
		if flag[1] != "" {
			words = append(words, flag[0], flag[1])
		}
	}
	for i, w := range words {
		words[i] = humanize.ShellQuote(w)
	}
	line := "env MUSTER_HOME=" + humanize.ShellQuote(filepath.Dir(f.dir)) + " " + strings.Join(words, " ")
	return strings.NewReplacer("%", "%%", `"`, `\"`).Replace(line)
}

// clear removes the configurations of all clusters, but not keys, which are made again when they are needed.
func (f sshFiles) clear() error {
	list, err := filepath.Glob(filepath.Join(f.dir, "*.conf"))
	for _, file := range list {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}

// remove removes all that config-ssh wrote.
func (f sshFiles) remove(c *cli.Context) error {
	rest, err := f.rest()
	if err == nil {
		err = writeConfig(f.config, rest)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err := errors.Join(err, os.RemoveAll(f.dir)); err != nil {
		return err
	}
	cli.Line(c.Stdout, "Removed the nodes of all clusters from %s.", f.config)
	return nil
}

// rest is the user's configuration without our block.
func (f sshFiles) rest() (rest []byte, err error) {
	text, err := os.ReadFile(f.config)
	if err != nil {
		return nil, err
	}
	from := bytes.Index(text, []byte(blockStart))
	if from < 0 {
		return text, nil
	}
	end := bytes.Index(text[from:], []byte(blockEnd))
	if end < 0 {
		return nil, &app.Error{Code: app.EInvalid,
			Message: fmt.Sprintf("%s has the line %q without %q after it", f.config, blockStart, blockEnd),
			Hint:    "Remove the line, and what Muster wrote after it, and try again."}
	}
	after := bytes.TrimPrefix(text[from+end+len(blockEnd):], []byte("\n"))
	return append(bytes.Clone(text[:from]), after...), nil
}

// include puts our block first, where no host of the user's own limits what it includes.
func (f sshFiles) include() error {
	rest, err := f.rest()
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(filepath.Dir(f.config), 0o700)
	}
	if err != nil {
		return err
	}
	block := blockStart + "\nInclude \"" + filepath.Join(f.dir, "*.conf") + "\"\n" + blockEnd + "\n"
	return writeConfig(f.config, append([]byte(block), rest...))
}

// writeConfig replaces a configuration, which may be a link to where people keep theirs.
func writeConfig(file string, text []byte) error {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	return cli.WritePrivate(file, text)
}
