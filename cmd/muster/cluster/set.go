package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"muster/app/secret"
	"muster/cmd/muster/cli"
	rest "muster/portal/client"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

// clusterConfigCommand shows the configuration that set changes.
func clusterConfigCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "config ID|NAME",
		Short: "Show the configuration of a cluster as JSON",
		Long:  "Show the configuration of a cluster as JSON. Values that may be secret are shown as " + secret.HiddenValue + ". Change it with `muster cluster set`.",
		Args:  cli.Exactly("ID|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, v, err := ConnectTo(cmd.Context(), c, args[0], false)
			if err != nil {
				return err
			}
			var out struct {
				Config map[string]any `json:"config"`
			}
			if err := cl.CallInto(cmd.Context(), rest.ClusterPath(v.ID, "config"), nil, &out); err != nil {
				return err
			}
			return c.PrintJSON(out.Config)
		},
	}
}

// changes reads changes of a configuration: a file or an object first, then assignments over it.
func changes(c *cli.Context, assignments []string, config string) (map[string]any, error) {
	all, err := readConfig(c, config)
	if err != nil {
		return nil, err
	}
	if all == nil {
		all = map[string]any{}
	}
	if config == "" && len(assignments) == 0 {
		return nil, cli.Usagef("PATH=VALUE or --config is required").Hint("For example: nginx.port=8080.")
	}
	for _, a := range assignments {
		if err := assign(all, a); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// assign applies PATH=VALUE. The path is keys separated by dots; the value is parsed as JSON, or else taken as text.
func assign(all map[string]any, assignment string) error {
	path, text, ok := strings.Cut(assignment, "=")
	keys := strings.Split(path, ".")
	for _, k := range keys {
		ok = ok && k != ""
	}
	if !ok {
		return cli.Usagef("%q isn't PATH=VALUE", assignment).Hint("For example: nginx.port=8080. For keys with dots, use --config.")
	}
	at := all
	for i, k := range keys[:len(keys)-1] {
		next, isMap := at[k].(map[string]any)
		if !isMap {
			if _, taken := at[k]; taken {
				return cli.Usagef("%s can't have both a value and keys below it", strings.Join(keys[:i+1], "."))
			}
			next = map[string]any{}
			at[k] = next
		}
		at = next
	}
	last := keys[len(keys)-1]
	if _, taken := at[last].(map[string]any); taken {
		return cli.Usagef("%s can't have both a value and keys below it", path)
	}
	at[last] = valueOf(text)
	return nil
}

// valueOf reads a value: JSON, or else the text itself.
func valueOf(text string) any {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return text
	}
	if _, err := dec.Token(); err != io.EOF {
		return text
	}
	return v
}

// jsonOf turns YAML into JSON. JSON, which is YAML too, stays as it is, so that errors refer to the original text.
func jsonOf(b []byte) ([]byte, error) {
	text := bytes.TrimSpace(b)
	if len(text) == 0 || text[0] == '{' {
		return b, nil
	}
	var fields map[string]any
	dec := yaml.NewDecoder(bytes.NewReader(b))
	if err := dec.Decode(&fields); err != nil {
		return nil, err
	}
	if err := dec.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, errors.New("it has more than one document")
	}
	return json.Marshal(fields)
}
