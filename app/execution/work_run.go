package execution

import (
	"context"
	"maps"
	"slices"

	"muster/app"
	"muster/app/secret"
	"muster/app/template"
)

// assignRun adds the command of its operation to a step. Where a person has typed it, nothing in it is replaced: what looks like the
// reference to a secret stays text, and what is secret in the cluster's configuration is only for the worker, which hides it in the output.
// The script of an action is the template's, so it has the secrets that it names, and the configuration. Values of parameters stay text.
func (a *Service) assignRun(ctx context.Context, as *Assignment, c *ClaimedStep, oc *operationConfig) error {
	r, err := a.Inputs.RunOf(ctx, c.Tenant, c.Step.Operation)
	if err != nil {
		return err
	}
	var hidden []string
	var config map[string]any
	if config, as.Hosts, hidden, err = oc.expand(ctx, a, c.Cluster, c.Node, false); err != nil {
		return err
	}
	as.HostsHash, as.HostsWhole = hostsHash(as.Hosts), oc.tooMany()
	as.Service, as.Timeout = "run", r.Limit()
	fields, named := map[string]string{"script": scriptOf(r.Command)}, oc.named
	if r.Action != "" {
		as.Service, fields["script"] = "action."+r.Action, r.Command
		named = append(slices.Clone(named), app.SecretNames(fields)...)
	}
	values, err := a.valuesOf(ctx, as, oc, named)
	if err != nil {
		return err
	}
	if r.Action != "" {
		fields = secret.WithSecrets(fields, values)
		as.Config = withParameters(secret.WithSecrets(config, values), r.Parameters)
	}
	as.Call = &template.ServiceAction{Automator: "shell", Fields: fields, Timeout: r.Limit()}
	more, err := a.hiddenOf(ctx, as, c, oc)
	if err != nil {
		return err
	}
	as.Secrets = slices.Sorted(slices.Values(slices.AppendSeq(slices.Concat(as.Secrets, hidden, more), maps.Values(values))))
	return nil
}

// withParameters lays values of an action's parameters over a configuration.
func withParameters(config, parameters map[string]any) map[string]any {
	all := maps.Clone(config)
	if all == nil {
		all = map[string]any{}
	}
	values := map[string]any{}
	for name, v := range parameters {
		values[name] = template.ParameterValueText(v)
	}
	all["parameter"] = values
	return all
}

// scriptOf has a command run by sh as people know it, unless its first line asks for another program: scripts of services stop at the
// first error and at variables that aren't set.
func scriptOf(command string) string {
	if len(command) > 1 && command[:2] == "#!" {
		return command
	}
	return "set +eu\n" + command
}

// valuesOf returns the values of secrets, also of those that were generated for the cluster.
func (a *Service) valuesOf(ctx context.Context, as *Assignment, oc *operationConfig, named []string) (map[string]string, error) {
	if len(named) == 0 {
		return nil, nil
	}
	named, generated := secret.CutGenerated(slices.Clone(named))
	values, err := a.Secrets.SecretValues(ctx, as.Tenant, named, "The configuration of cluster "+as.Cluster.Name)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	maps.Copy(all, values)
	if len(generated) > 0 {
		maps.Copy(all, secret.GeneratedValues(oc.secrets.PrivateKey, generated))
	}
	return all, nil
}

// exitOf returns the exit code of a command, by our own bounds whatever the sender says; nil where there is none.
func exitOf(r Report) *int {
	if r.Action != app.ActionRun || r.Exit == nil || *r.Exit < 0 || *r.Exit > 255 || (r.Err == nil) != (*r.Exit == 0) {
		return nil
	}
	return r.Exit
}
