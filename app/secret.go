package app

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Secret is a named value of a tenant, without the value: no face ever reads that back.
type Secret struct {
	Name  string    `json:"name"`
	SetBy string    `json:"set_by"`
	SetAt time.Time `json:"set_at"`
	// UsedAt is when a step or an account was last given the value, to the minute; nil where it never was.
	UsedAt *time.Time `json:"used_at,omitempty"`
}

// Bounds of tenants' secrets.
const (
	MaxSecret  = 64 << 10 // bytes of a value
	MaxSecrets = 1000     // of one tenant
)

// SecretName is the form of names.
const SecretName = `[A-Z][A-Z0-9_]{0,63}`

var (
	secretName      = regexp.MustCompile(`^` + SecretName + `$`)
	secretReference = regexp.MustCompile(`\$\{secret:([^}]*)\}`)
)

// SecretStore keeps tenants' secrets, sealed.
type SecretStore interface {
	// SetSecret keeps a value, in place of the one that has the name. EConflict where the tenant has too many.
	SetSecret(ctx context.Context, who Actor, name string, value []byte, at time.Time) error
	// DeleteSecret is ENotFound where there is none.
	DeleteSecret(ctx context.Context, who Actor, name string, at time.Time) error
	// Secrets gives a tenant's, by name.
	Secrets(ctx context.Context, tenant string) ([]Secret, error)
	// SecretValues gives the values of those of the names that there are, and notes that they were used.
	SecretValues(ctx context.Context, tenant string, names []string, at time.Time) (map[string]string, error)
}

// Secrets lists the names of the tenant's secrets, who set them, and when they were last used.
func (a *App) Secrets(ctx context.Context, actor Actor) ([]Secret, error) {
	if err := actor.may("Secrets"); err != nil {
		return nil, err
	}
	return a.Store.Secrets(ctx, actor.Tenant)
}

// SetSecret keeps a value under a name, in place of one that is there.
func (a *App) SetSecret(ctx context.Context, actor Actor, name string, value []byte) error {
	if err := actor.may("SetSecret"); err != nil {
		return err
	}
	if err := checkSecretName(name); err != nil {
		return err
	}
	switch {
	case len(value) == 0:
		return &Error{Code: EInvalid, Field: "value", Message: "A secret cannot be empty.", Hint: "Delete it, if nothing shall have it any more."}
	case len(value) > MaxSecret:
		return &Error{Code: ETooLarge, Field: "value", Message: fmt.Sprintf("A secret has at most %d bytes.", MaxSecret)}
	}
	return a.Store.SetSecret(ctx, actor, name, value, a.Now())
}

// DeleteSecret deletes a value. Steps that ask for it fail from then on, and say so.
func (a *App) DeleteSecret(ctx context.Context, actor Actor, name string) error {
	if err := actor.may("DeleteSecret"); err != nil {
		return err
	}
	if err := checkSecretName(name); err != nil {
		return err
	}
	if err := a.keepNeeded(ctx, actor.Tenant, name); err != nil {
		return err
	}
	return a.Store.DeleteSecret(ctx, actor, name, a.Now())
}

func checkSecretName(name string) error {
	if secretName.MatchString(name) {
		return nil
	}
	return &Error{Code: EInvalid, Field: "name", Message: "That is not the name of a secret.",
		Hint: "A name begins with a capital letter and has at most 64 capital letters, digits and underscores, as in REGISTRY_TOKEN."}
}

// secretNames gives the names that values refer to as ${secret:NAME}, sorted, each once.
func secretNames(values ...any) []string {
	found := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if !strings.Contains(v, "${secret:") {
				return
			}
			for _, m := range secretReference.FindAllStringSubmatch(v, -1) {
				found[m[1]] = true
			}
		case map[string]any:
			for _, x := range v {
				walk(x)
			}
		case map[string]string:
			for _, x := range v {
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	for _, v := range values {
		walk(v)
	}
	return slices.Sorted(maps.Keys(found))
}

// withSecrets gives a value in which references stand for the tenant's secrets. What has none is given back itself, not
// copied; nothing is changed. A value that was put in is not looked into again.
func withSecrets[T any](value T, secrets map[string]string) T {
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
		return secretReference.ReplaceAllStringFunc(v, func(ref string) string {
			if s, ok := secrets[secretReference.FindStringSubmatch(ref)[1]]; ok {
				return s
			}
			return ref
		})
	case map[string]any:
		if len(secretNames(v)) == 0 {
			return v
		}
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = putSecrets(x, secrets)
		}
		return out
	case map[string]string:
		if len(secretNames(v)) == 0 {
			return v
		}
		out := make(map[string]string, len(v))
		for k, x := range v {
			out[k], _ = putSecrets(x, secrets).(string)
		}
		return out
	case []any:
		if len(secretNames(v)) == 0 {
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

// checkSecrets refuses what refers to secrets that the tenant does not have. Where says in which part of the catalog or
// request they are asked for.
func (a *App) checkSecrets(ctx context.Context, tenant string, where func(name string) string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	have, err := a.Store.Secrets(ctx, tenant)
	if err != nil {
		return err
	}
	for _, n := range names {
		if !slices.ContainsFunc(have, func(s Secret) bool { return s.Name == n }) {
			return missingSecret(tenant, n, where(n))
		}
	}
	return nil
}

func missingSecret(tenant, name, where string) error {
	if checkSecretName(name) != nil {
		return &Error{Code: EInvalid, Reason: "secret", Message: fmt.Sprintf("%s refers to a secret by something that is no name.", where),
			Hint: "Write ${secret:NAME}. A name begins with a capital letter and has capital letters, digits and underscores."}
	}
	return &Error{Code: EInvalid, Reason: "secret", Message: fmt.Sprintf("%s needs the secret %s, which tenant %s does not have.", where, name, tenant),
		Hint: fmt.Sprintf("An admin sets it with `muster secret set %s`, or on the page Secrets.", name)}
}

// secretValues gives what names stand for, or says which is missing.
func (a *App) secretValues(ctx context.Context, tenant string, names []string, where string) (map[string]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	values, err := a.Store.SecretValues(ctx, tenant, names, a.Now())
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		if _, ok := values[n]; !ok {
			return nil, missingSecret(tenant, n, where)
		}
	}
	return values, nil
}

// checkSecretsOf refuses a request whose cluster would need secrets that the tenant does not have. Only the catalog may refer to
// secrets: who asks for a cluster gets a shell on it, and could else read any of them.
func (a *App) checkSecretsOf(ctx context.Context, tenant string, r ClusterRequest, d draft, provider string) error {
	if named := secretNames(r.Config); len(named) > 0 {
		return &Error{Code: EInvalid, Field: "config", Reason: "secret", Message: "The configuration of a request cannot refer to secrets.",
			Hint: "Ask an admin to let the template or a service refer to it."}
	}
	where := map[string]string{}
	note := func(place string, values ...any) {
		for _, n := range secretNames(values...) {
			if where[n] == "" {
				where[n] = place
			}
		}
	}
	note("Template "+r.Template, d.definition.Config)
	for _, name := range slices.Sorted(maps.Keys(d.definition.Services)) {
		for _, act := range d.definition.Services[name].Actions {
			note("Service "+name, act.Fields)
		}
	}
	c, err := a.catalogSoon(ctx, tenant) // the layout was just made by it
	if err != nil {
		return err
	}
	maps.DeleteFunc(where, func(n, _ string) bool { return isGenerated(n) }) // each cluster has those by itself; accounts do not
	if spec := c.Providers[provider]; spec != nil {
		note("Provider "+provider, spec.Settings)
	}
	return a.checkSecrets(ctx, tenant, func(n string) string { return where[n] }, slices.Sorted(maps.Keys(where)))
}

// SecretsOf gives the spec of a provider with a tenant's secrets in its settings, for what looks after accounts. It is EInvalid
// where the tenant does not have one of them.
func (a *App) SecretsOf(ctx context.Context, tenant string, spec ProviderSpec) (ProviderSpec, error) {
	values, err := a.secretValues(ctx, tenant, secretNames(spec.Settings), "Provider "+spec.Name)
	if err == nil {
		spec.Settings = withSecrets(spec.Settings, values)
	}
	return spec, err
}

// HasSecrets tells whether the settings of a provider refer to secrets, so that each tenant has an account of its own there.
func (s ProviderSpec) HasSecrets() bool { return len(secretNames(s.Settings)) > 0 }

// keepNeeded refuses to delete a secret without which machines could not be given back.
func (a *App) keepNeeded(ctx context.Context, tenant, name string) error {
	live, err := a.Store.Clusters(ctx, tenant, ClusterFilter{Limit: 1000})
	if err != nil {
		return err
	}
	catalog, err := a.catalogOf(ctx, tenant)
	if err != nil {
		return err
	}
	specs := catalog.Providers
	for _, c := range live {
		if spec := specs[c.Provider]; spec != nil && slices.Contains(secretNames(spec.Settings), name) {
			return &Error{Code: EConflict, Reason: "in_use", Message: fmt.Sprintf("Cluster %q stands at provider %s, which needs %s to delete it.", c.Name, c.Provider, name),
				Hint: "Delete the cluster first, or set another value."}
		}
	}
	return nil
}
