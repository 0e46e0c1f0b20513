package catalog

import (
	"context"
	"slices"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/portal/site"
)

type typeList struct {
	Body struct {
		Types []family.Descriptor `json:"types"`
	}
}

type typeName struct {
	Type string `path:"type" maxLength:"100" doc:"Name of the type"`
}

type typeShown struct{ Body family.Descriptor }

// typesOf returns the types of a family: provider or automator.
func (p *Service) typesOf(ctx context.Context, a app.Actor, of string) ([]family.Descriptor, error) {
	all, err := p.Catalogs.CatalogFamilies(ctx, a)
	if of == familyAutomator {
		return all.Automators, err
	}
	return all.Providers, err
}

// typeOf returns one type of a family.
func (p *Service) typeOf(ctx context.Context, a app.Actor, of, name string) (family.Descriptor, error) {
	all, err := p.typesOf(ctx, a, of)
	if err != nil {
		return family.Descriptor{}, err
	}
	names := make([]string, len(all))
	for i, d := range all {
		names[i] = d.Name
	}
	i := slices.Index(names, name)
	if i < 0 {
		return family.Descriptor{}, &app.Error{Code: app.ENotFound, Message: familyTitle(of) + " type " + humanize.Clip(name) + " doesn't exist.",
			Hint: humanize.Suggest(name, names)}
	}
	return all[i], nil
}

func (p *Service) apiTypes(of string) func(context.Context, *struct{}) (*typeList, error) {
	return func(ctx context.Context, _ *struct{}) (*typeList, error) {
		all, err := p.typesOf(ctx, site.Caller(ctx), of)
		if err != nil {
			return nil, p.Fail(ctx, err)
		}
		out := &typeList{}
		out.Body.Types = append([]family.Descriptor{}, all...)
		return out, nil
	}
}

func (p *Service) apiType(of string) func(context.Context, *typeName) (*typeShown, error) {
	return func(ctx context.Context, in *typeName) (*typeShown, error) {
		d, err := p.typeOf(ctx, site.Caller(ctx), of, in.Type)
		if err != nil {
			return nil, p.Fail(ctx, err)
		}
		return &typeShown{Body: d}, nil
	}
}
