package providervalue

import (
	"context"
	"maps"

	"muster/app"
	"muster/app/family"
)

// Resource returns the text of a tenant's resource for a type of provider, and its name with the version that was read: NAME@VERSION. Ref is NAME for
// the version in use, or NAME@VERSION.
type Resource func(ctx context.Context, tenant, providerType, resourceType, ref string) (text, pinned string, err error)

// Version adds to resources that values name the versions in use, so that a request that waits gets what was checked.
func (a *Service) Version(ctx context.Context, tenant, provider string, values Values) (Values, error) {
	return a.pin(ctx, tenant, provider, values, false)
}

// Pin puts the texts of resources that values name beside them, so that a cluster keeps the version that it was created with.
func (a *Service) Pin(ctx context.Context, tenant, provider string, values Values) (Values, error) {
	return a.pin(ctx, tenant, provider, values, true)
}

func (a *Service) pin(ctx context.Context, tenant, provider string, values Values, texts bool) (Values, error) {
	if a == nil || len(values) == 0 {
		return values, nil
	}
	c, err := a.Catalogs.CatalogOf(ctx, tenant)
	if err != nil || c.Providers[provider] == nil {
		return values, err
	}
	d, _ := a.providerType(c.Providers[provider].Type)
	out := values
	for _, f := range d.Fields {
		if f.Resource == "" || values[f.Name] == "" {
			continue
		}
		text, pinned, err := a.readResource(ctx, tenant, d.Name, f, values)
		if err != nil {
			return nil, err
		}
		out = maps.Clone(out)
		if out[f.Name] = pinned; texts {
			out[f.Resource] = text
		}
	}
	return out, nil
}

func (a *Service) readResource(ctx context.Context, tenant, kind string, f family.Field, values Values) (text, pinned string, err error) {
	if values[f.Resource] != "" {
		e := invalid(f.Name, "Set either "+f.Resource+" or "+f.Name+", not both.")
		e.Hint = "Remove one of them."
		return "", "", e
	}
	if a.Resource == nil {
		return "", "", invalid(f.Name, "Resources aren't available here.")
	}
	if text, pinned, err = a.Resource(ctx, tenant, kind, f.Resource, values[f.Name]); err != nil {
		e := *app.AsError(err)
		e.Field = "provider_values." + f.Name
		return "", "", &e
	}
	if reference.MatchString(text) || len(text) > MostBytes {
		e := invalid(f.Name, "Resource "+pinned+" can't be used: it has a reference to a secret or variable, or more than 64 KiB.")
		e.Hint = "Push a version without ${secret:…} and ${env:…}: cloud accounts and machines can read it."
		return "", "", e
	}
	return text, pinned, nil
}

// changed are values after a change. A setting and the resource for it replace each other.
func (a *Service) changed(ctx context.Context, tenant, provider string, values, change Values) (Values, error) {
	next := maps.Clone(values)
	if next == nil {
		next = Values{}
	}
	c, err := a.Catalogs.CatalogOf(ctx, tenant)
	if err != nil {
		return nil, err
	}
	if spec := c.Providers[provider]; spec != nil {
		d, _ := a.providerType(spec.Type)
		for _, f := range d.Fields {
			if _, named := change[f.Name]; f.Resource != "" && named {
				delete(next, f.Resource)
			} else if _, set := change[f.Resource]; f.Resource != "" && set {
				delete(next, f.Name)
			}
		}
	}
	maps.Copy(next, change)
	return next.Clean(), nil
}

// pinChange reads the resources that a change names. What it doesn't name stays as it was read.
func (a *Service) pinChange(ctx context.Context, tenant, provider string, next, change Values) error {
	named, err := a.Pin(ctx, tenant, provider, change.Clean())
	if err == nil {
		maps.Copy(next, named)
	}
	return err
}
