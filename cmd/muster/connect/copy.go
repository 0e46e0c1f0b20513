package connect

import (
	"fmt"
	"strings"

	"muster/app/humanize"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/cluster"

	"github.com/spf13/cobra"
)

func copyCommand(c *cli.Context) *cobra.Command {
	var recursive bool
	cmd := &cobra.Command{
		Use:   "cp SOURCE TARGET",
		Short: "Copy files to or from a node",
		Long: "Copy a file or, with -r, a directory to or from a node, through the server and the provisioner that reaches the node. One of SOURCE and\n" +
			"TARGET is CLUSTER/NODE:PATH; without NODE, it's the first node. A relative PATH starts in the home directory of the node's user.",
		Example: "  muster cluster cp site.tar.gz shop/n1:/srv/\n  muster cluster cp -r shop/n2:/var/log/nginx ./logs",
		Args:    cli.Exactly("SOURCE", "TARGET"),
		RunE: func(cmd *cobra.Command, args []string) error {
			from, source, down := onNode(args[0])
			to, target, up := onNode(args[1])
			if down == up {
				return cli.Usagef("exactly one of SOURCE and TARGET must be CLUSTER/NODE:PATH").Hint("For example: muster cluster cp site.tar.gz shop/n1:/srv/")
			}
			at := from
			if up {
				at = to
			}
			name, node, _ := strings.Cut(at, "/")
			s, err := newVisits(cmd.Context(), c, name)
			if err != nil {
				return err
			}
			defer s.close()
			if node != "" {
				if node, err = nodeOf(s.now(), node); err != nil {
					return err
				}
			} else if n, err := cluster.Visited(s.now(), ""); err == nil {
				node = n.Name
			}
			conn, err := s.to(cmd.Context(), node)
			if err != nil {
				return err
			}
			files, err := conn.Files(cmd.Context())
			if err != nil {
				return err
			}
			defer files.Close()
			files.Copied = func(name string, bytes int64) { fmt.Fprintf(c.Stdout, "%s (%s)\n", name, humanize.Bytes(bytes)) }
			files.Skipped = func(name string) {
				fmt.Fprintf(c.Stderr, "muster: skipped %s, which isn't a file or directory\n", name)
			}
			if down {
				return files.Download(cmd.Context(), source, target, recursive)
			}
			return files.Upload(cmd.Context(), source, target, recursive)
		},
	}
	cmd.Flags().BoolVarP(&recursive, "recursive", "r", false, "copy directories with all that is in them")
	return cmd
}

// onNode splits CLUSTER/NODE:PATH. A path of this host that has a colon begins with ./ or /.
func onNode(word string) (node, path string, on bool) {
	if strings.HasPrefix(word, ".") || strings.HasPrefix(word, "/") {
		return "", word, false
	}
	node, path, on = strings.Cut(word, ":")
	if !on {
		return "", word, false
	}
	return node, path, true
}
