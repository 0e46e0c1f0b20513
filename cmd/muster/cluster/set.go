package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
	"muster/app/secret"
	"muster/cmd/muster/cli"
	rest "muster/portal/client"
)

// clusterConfigCommand shows what `set` changes.
func clusterConfigCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "config ID|NAME",
		Short: "Show the configuration of a cluster as JSON",
		Long:  "Show the configuration of a cluster as JSON. What may be secret is shown as " + secret.HiddenValue + ". `muster cluster set` changes it.",
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

// changes reads what is laid over a configuration: a file or an object first, then assignments over it.
func changes(c *cli.Context, assignments []string, config string) (map[string]any, error) {
	all, err := readConfig(c, config)
	if err != nil {
		return nil, err
	}
	if all == nil {
		all = map[string]any{}
	}
	if config == "" && len(assignments) == 0 {
		return nil, cli.Usagef("nothing is to be changed").Hint("Give PATH=VALUE, such as nginx.port=8080, or --config FILE.")
	}
	for _, a := range assignments {
		if err := assign(all, a); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// assign carries out PATH=VALUE. The path is keys separated by dots; the value is JSON where it can be read so, else a text.
func assign(all map[string]any, assignment string) error {
	path, text, ok := strings.Cut(assignment, "=")
	keys := strings.Split(path, ".")
	for _, k := range keys {
		ok = ok && k != ""
	}
	if !ok {
		return cli.Usagef("%q is not PATH=VALUE", assignment).Hint("It looks like nginx.port=8080; keys with dots in them can be given with --config only.")
	}
	at := all
	for i, k := range keys[:len(keys)-1] {
		next, isMap := at[k].(map[string]any)
		if !isMap {
			if _, taken := at[k]; taken {
				return cli.Usagef("%s gets a value, and another one below it", strings.Join(keys[:i+1], "."))
			}
			next = map[string]any{}
			at[k] = next
		}
		at = next
	}
	last := keys[len(keys)-1]
	if _, taken := at[last].(map[string]any); taken {
		return cli.Usagef("%s gets a value, and another one below it", path)
	}
	at[last] = valueOf(text)
	return nil
}

// valueOf reads a value: one JSON value, or else the text itself.
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

// jsonOf turns YAML into JSON. JSON is YAML too, and is left as it is, so that complaints are about what was written.
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
	if err := dec.Decode(new(any)); err != io.EOF {
		return nil, errors.New("it holds more than one document")
	}
	return json.Marshal(fields)
}
