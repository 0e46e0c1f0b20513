package secret

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"muster/app"
	"muster/app/template"
)

// Bounds of tenants' secrets.
const (
	MaxSecret  = 64 << 10 // bytes of a value
	MaxSecrets = 1000     // of one tenant
)

// Secrets lists the names of the tenant's secrets, who set them, and when they were last used.
func (a *Service) Secrets(ctx context.Context, actor app.Actor) ([]app.Secret, error) {
	if err := actor.Authorize("Secrets"); err != nil {
		return nil, err
	}
	return a.Store.Secrets(ctx, actor.Tenant)
}

// SetSecret keeps a value under a name, in place of one that is there.
func (a *Service) SetSecret(ctx context.Context, actor app.Actor, name string, value []byte) error {
	if err := actor.Authorize("SetSecret"); err != nil {
		return err
	}
	if err := app.CheckSecretName(name); err != nil {
		return err
	}
	switch {
	case len(value) == 0:
		return &app.Error{Code: app.EInvalid, Field: "value", Message: "A secret can't be empty.", Hint: "To remove the secret, delete it."}
	case len(value) > MaxSecret:
		return &app.Error{Code: app.ETooLarge, Field: "value", Message: fmt.Sprintf("A secret must be at most %d bytes.", MaxSecret)}
	}
	return a.Store.SetSecret(ctx, actor, name, value, a.Now())
}

// DeleteSecret deletes a value. Steps that ask for it fail from then on, and say so.
func (a *Service) DeleteSecret(ctx context.Context, actor app.Actor, name string) error {
	if err := actor.Authorize("DeleteSecret"); err != nil {
		return err
	}
	if err := app.CheckSecretName(name); err != nil {
		return err
	}
	if err := a.KeepNeeded(ctx, actor.Tenant, name); err != nil {
		return err
	}
	return a.Store.DeleteSecret(ctx, actor, name, a.Now())
}

// WithSecrets returns a value in which references stand for the tenant's secrets. What has none is given back itself, not
// copied; nothing is changed. A value that was put in is not looked into again.
func WithSecrets[T any](value T, secrets map[string]string) T {
	if out, ok := putSecrets(value, secrets).(T); ok {
		return out
	}
	return value
}

func putSecrets(v any, secrets map[string]string) any {
	switch v := v.(type) {
	case string:
		if !strings.Contains(v, "${secret:") {
			return v
		}
		return app.SecretReference.ReplaceAllStringFunc(v, func(ref string) string {
			if s, ok := secrets[app.SecretReference.FindStringSubmatch(ref)[1]]; ok {
				return s
			}
			return ref
		})
	case map[string]any:
		if len(app.SecretNames(v)) == 0 {
			return v
		}
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = putSecrets(x, secrets)
		}
		return out
	case map[string]string:
		if len(app.SecretNames(v)) == 0 {
			return v
		}
		out := make(map[string]string, len(v))
		for k, x := range v {
			out[k], _ = putSecrets(x, secrets).(string)
		}
		return out
	case []any:
		if len(app.SecretNames(v)) == 0 {
			return v
		}
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = putSecrets(x, secrets)
		}
		return out
	}
	return v
}

// CheckSecrets refuses what refers to secrets that the tenant does not have. Where says in which part of the catalog or
// request they are asked for.
func (a *Service) CheckSecrets(ctx context.Context, tenant string, where func(name string) string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	have, err := a.Store.Secrets(ctx, tenant)
	if err != nil {
		return err
	}
	for _, n := range names {
		if !slices.ContainsFunc(have, func(s app.Secret) bool { return s.Name == n }) {
			return MissingSecret(tenant, n, where(n))
		}
	}
	return nil
}

func MissingSecret(tenant, name, where string) error {
	if app.CheckSecretName(name) != nil {
		return &app.Error{Code: app.EInvalid, Reason: "secret", Message: fmt.Sprintf("%s has an invalid secret name.", where),
			Hint: "Use ${secret:NAME}. Names start with a capital letter and have capital letters, digits and underscores."}
	}
	return &app.Error{Code: app.EInvalid, Reason: "secret", Message: fmt.Sprintf("%s needs secret %s, which tenant %s doesn't have.", where, name, tenant),
		Hint: fmt.Sprintf("An admin can set it with `muster secret set %s`, or on the Secrets page.", name)}
}

// SecretValues returns what names stand for, or says which is missing.
func (a *Service) SecretValues(ctx context.Context, tenant string, names []string, where string) (map[string]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	values, err := a.Store.SecretValues(ctx, tenant, names, a.Now())
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		if _, ok := values[n]; !ok {
			return nil, MissingSecret(tenant, n, where)
		}
	}
	return values, nil
}

// SecretsOf returns the spec of a provider with a tenant's secrets in its settings, for what manages accounts. It is EInvalid
// where the tenant does not have one of them.
func (a *Service) SecretsOf(ctx context.Context, tenant string, spec template.ProviderSpec) (template.ProviderSpec, error) {
	values, err := a.SecretValues(ctx, tenant, app.SecretNames(spec.Settings), "Provider "+spec.Name)
	if err == nil {
		spec.Settings = WithSecrets(spec.Settings, values)
	}
	return spec, err
}

// KeepNeeded refuses to delete a secret without which machines could not be given back.
func (a *Service) KeepNeeded(ctx context.Context, tenant, name string) error {
	live, err := a.Store.Clusters(ctx, tenant, app.ClusterFilter{Limit: 1000})
	if err != nil {
		return err
	}
	catalog, err := a.Catalogs.CatalogOf(ctx, tenant)
	if err != nil {
		return err
	}
	specs := catalog.Providers
	for _, c := range live {
		if spec := specs[c.Provider]; spec != nil && slices.Contains(app.SecretNames(spec.Settings), name) {
			return &app.Error{Code: app.EConflict, Reason: "in_use", Message: fmt.Sprintf("Cluster %q runs at provider %s, which needs secret %s to delete it.", c.Name, c.Provider, name),
				Hint: "Delete the cluster first, or change the secret's value."}
		}
	}
	return nil
}
