package output

import (
	"fmt"
	"io"
	"strings"

	"muster/app"
	"muster/app/output"
	"muster/app/template"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/cluster"

	"github.com/spf13/cobra"
)

func kubeconfigCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "kubeconfig ID|NAME",
		Short: "Print the kubeconfig of a Kubernetes cluster",
		Long: "Print the kubeconfig that a cluster's outputs have: a file that is named kubeconfig, or ends in _kubeconfig.\n" +
			"Anyone who has it can use the cluster, so save it in a private file.",
		Example: "  muster cluster kubeconfig kube >kube.yaml\n  chmod 600 kube.yaml\n  kubectl --kubeconfig kube.yaml get nodes",
		Args:    cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
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
					return printFile(c, list, o)
				}
			}
			return &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("cluster %s has no kubeconfig among its outputs", v.Name),
				Hint: "List its outputs: muster cluster outputs " + v.Name}
		},
	}
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
