package output

import (
	"fmt"
	"io"
	"strings"

	"muster/app"
	"muster/app/humanize"
	"muster/app/output"
	"muster/app/template"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/cluster"

	"github.com/spf13/cobra"
)

func kubeconfigCommand(c *cli.Context) *cobra.Command {
	var merge, keep bool
	cmd := &cobra.Command{
		Use:   "kubeconfig ID|NAME",
		Short: "Print or merge the kubeconfig of a Kubernetes cluster",
		Long: "Print the kubeconfig that a cluster's outputs have: a file that is named kubeconfig, or ends in _kubeconfig.\n" +
			"Anyone who has it can use the cluster, so save it in a private file. With --merge, it's added to the first file of\n" +
			"$KUBECONFIG, or to ~/.kube/config: names begin with the cluster's name, and replace those of an earlier merge.",
		Example: "  muster cluster kubeconfig kube --merge\n  muster cluster kubeconfig kube >kube.yaml\n" +
			"  chmod 600 kube.yaml\n  kubectl --kubeconfig kube.yaml get nodes",
		Args: cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if keep && !merge {
				return cli.Usagef("--keep-current-context needs --merge")
			}
			cl, v, err := cluster.ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			list, err := cl.Outputs.List(cmd.Context(), v.ID)
			if err != nil {
				return err
			}
			for _, o := range list.Outputs {
				if o.Type == template.OutputFile && isKubeconfig(o) {
					if list, err = cl.Outputs.Reveal(cmd.Context(), v.ID, o.Name); err != nil {
						return err
					}
					if o, err = pick(list, o.Name); err != nil {
						return err
					}
					if merge && o.Missing == "" {
						m := mark{Server: cl.Settings().URL, Tenant: v.Tenant, Cluster: v.Name, ID: v.ID}
						return printMerged(c, "kubeconfig of "+v.Name, o.Value, m, keep)
					}
					return printFile(c, list, o)
				}
			}
			return &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("cluster %s has no kubeconfig among its outputs", v.Name),
				Hint: "List its outputs: muster cluster outputs " + v.Name}
		},
	}
	cmd.Flags().BoolVar(&merge, "merge", false, "merge it into the first file of $KUBECONFIG, or ~/.kube/config")
	cmd.Flags().BoolVar(&keep, "keep-current-context", false, "with --merge: don't change the current context")
	return cmd
}

// printMerged merges a kubeconfig and says how to use it.
func printMerged(c *cli.Context, source, value string, m mark, keep bool) error {
	file, err := kubeconfigPath()
	if err != nil {
		return err
	}
	name, err := mergeKubeconfig(file, source, value, m, keep)
	if err != nil {
		return err
	}
	return c.Say(map[string]any{"file": file, "context": name, "current": !keep},
		"Added context %s to %s. For example: kubectl --context %s get nodes", name, file, humanize.ShellQuote(name))
}

func isKubeconfig(o output.Output) bool {
	return o.Name == "kubeconfig" || strings.HasSuffix(o.Name, "_kubeconfig")
}

// printFile writes a file, in JSON too with all that is known of it.
func printFile(c *cli.Context, list output.List, o output.Output) error {
	if o.Missing != "" || c.JSON() {
		return printOne(c, list, o, "")
	}
	_, err := io.WriteString(c.Bytes(), strings.TrimRight(o.Value, "\n")+"\n")
	return err
}
