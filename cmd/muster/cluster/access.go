package cluster

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/sshaccess"
	"muster/cmd/muster/cli"

	"github.com/spf13/cobra"
)

// MaxKeyFile is how much is read of a file that should hold a public key.
const MaxKeyFile = 16 << 10

func clusterCertificateCommand(c *cli.Context) *cobra.Command {
	var file, ttl string
	cmd := &cobra.Command{
		Use:   "certificate ID|NAME --public-key FILE",
		Short: "Get a short-lived SSH certificate for the nodes of a cluster",
		Long: "Get a short-lived SSH certificate for your public key, which signs you in to the nodes of a cluster. The certificate is written beside\n" +
			"the key, where ssh finds it: id_ed25519-cert.pub for id_ed25519.pub. With --public-key -, the key is read from stdin and the\n" +
			"certificate is written to stdout.",
		Args: cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if file == "" {
				return cli.Usagef("--public-key is required").Hint("For example: muster cluster certificate %s --public-key ~/.ssh/id_ed25519.pub", args[0])
			}
			key, err := publicKey(c, file)
			if err != nil {
				return err
			}
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			cert, err := cl.Clusters.Certificate(cmd.Context(), v.ID, key, ttl)
			if err != nil {
				return err
			}
			return keepCertificate(c, file, cert)
		},
	}
	cmd.Flags().StringVar(&file, "public-key", "", "`file` with the public key, or - for stdin")
	cmd.Flags().StringVar(&ttl, "ttl", "", "how long the certificate is valid: a `duration` of at most 8h (default 1h)")
	return cmd
}

// publicKey reads a public key file.
func publicKey(c *cli.Context, file string) (string, error) {
	in := c.Stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return "", err
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, MaxKeyFile+1))
	if err != nil {
		return "", err
	}
	if len(b) > MaxKeyFile {
		return "", cli.Usagef("%s is too large to be a public key", file)
	}
	if strings.Contains(string(b), "PRIVATE KEY") { // it must not leave this host
		return "", cli.Usagef("%s is a private key", file).Hint("Use the public key, which usually ends in .pub.")
	}
	return string(b), nil
}

// keepCertificate writes the certificate beside its key.
func keepCertificate(c *cli.Context, file string, cert sshaccess.ClusterCertificate) error {
	if c.JSON() {
		return c.PrintJSON(cert)
	}
	if file == "-" {
		_, err := fmt.Fprintln(c.Bytes(), cert.Certificate)
		return err
	}
	to := strings.TrimSuffix(file, ".pub") + "-cert.pub"
	if err := cli.WritePrivate(to, []byte(cert.Certificate+"\n")); err != nil {
		return err
	}
	fmt.Fprintf(c.Stdout, "Wrote certificate %s: sign in as %s until %s\n", to, cert.User, cert.ValidUntil.Local().Format(time.DateTime))
	return nil
}

// Visited returns the named node, which has an address and a host key.
func Visited(v appcluster.View, name string) (app.Node, error) {
	var names []string
	for _, n := range reachableNodes(v) {
		if n.HostKey == "" {
			continue
		}
		if name == "" || n.Name == name {
			return n, nil
		}
		names = append(names, n.Name)
	}
	if len(names) == 0 {
		return app.Node{}, &app.Error{Code: app.EConflict, Message: fmt.Sprintf("cluster %s has no reachable machine", v.Name),
			Hint: "See: muster cluster show " + v.Name}
	}
	return app.Node{}, &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("node %[2]s of cluster %[1]s doesn't exist or isn't reachable", v.Name, name),
		Hint: "Reachable: " + strings.Join(names, ", ")}
}
