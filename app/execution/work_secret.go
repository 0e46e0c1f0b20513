package execution

import (
	"context"
	"maps"
	"slices"

	"muster/app"
	"muster/app/secret"
)

// giveSecrets puts values in place of the references of a step that is handed out, and lists them for its worker.
func (a *Service) giveSecrets(ctx context.Context, as *Assignment, oc *operationConfig) error {
	named, where := []string(nil), "Service "+as.Service
	switch {
	case as.Call != nil:
		named = append(slices.Clone(oc.named), app.SecretNames(as.Call.Fields)...)
	case as.Health != nil:
		named = oc.named // so that nothing that the check says shows one
	case as.Provider.Settings != nil:
		named, where = app.SecretNames(as.Provider.Settings), "Provider "+as.Provider.Name
	}
	if len(named) == 0 {
		return nil
	}
	var generated []string
	if as.Call != nil || as.Health != nil {
		named, generated = secret.CutGenerated(named)
	}
	values, err := a.Secrets.SecretValues(ctx, as.Tenant, named, where)
	if err != nil {
		return err
	}
	if len(generated) > 0 {
		all := secret.GeneratedValues(oc.secrets.PrivateKey, generated)
		maps.Copy(all, values)
		values = all
	}
	if as.Call != nil {
		call := *as.Call
		call.Fields = secret.WithSecrets(call.Fields, values)
		as.Call, as.Config = &call, secret.WithSecrets(as.Config, values)
	} else if as.Health == nil {
		as.Provider.Settings = secret.WithSecrets(as.Provider.Settings, values)
	}
	as.Secrets = slices.Sorted(slices.Values(slices.AppendSeq(as.Secrets, maps.Values(values))))
	return nil
}
