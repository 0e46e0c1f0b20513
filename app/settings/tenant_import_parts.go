package settings

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/build"
	"muster/app/catalog"
	"muster/app/identity"
	"muster/app/pool"
	"muster/app/resource"
	"muster/app/secret"
	"muster/app/template"
	"muster/app/webhook"
)

// catalog lays all own entries that are other than they were over the catalog at once.
func (p *tenantPlan) catalog(ctx context.Context) error {
	if p.want.Catalog == nil {
		return nil
	}
	c := catalog.Change{Note: "Imported with the tenant's settings.", Whole: true, Lenient: map[template.CatalogKey]bool{}, Coming: p.want.Secrets}
	for _, name := range slices.Sorted(maps.Keys(p.want.Catalog)) {
		w := p.want.Catalog[name]
		k, err := parseEntryName(name)
		if err != nil {
			if err := p.refused("catalog."+name, err); err != nil {
				return err
			}
			continue
		}
		if had, have := p.is.Catalog[name]; have && had.Text == w.Text { // the same text is the same entry, no matter who saved it
			p.report.Unchanged++
			continue
		}
		c.Files = append(c.Files, catalog.File{Name: name + ".yaml", Text: w.Text})
		c.Lenient[k] = w.Coopr
	}
	if p.in.Prune {
		for _, name := range slices.Sorted(maps.Keys(p.is.Catalog)) {
			if _, stays := p.want.Catalog[name]; !stays {
				k, err := parseEntryName(name)
				if err != nil {
					return err
				}
				c.Remove = append(c.Remove, k)
			}
		}
	}
	if len(c.Files)+len(c.Remove) == 0 {
		return nil
	}
	if p.a.Catalogs.Reader == nil {
		return catalog.ErrNoTenantCatalog
	}
	p.oneEach(c.Files)
	d, err := p.a.Catalogs.WorkOutChange(ctx, p.actor, c)
	if err != nil {
		return p.refused("catalog", err)
	}
	for _, x := range d.Report.Problems {
		p.entryProblem(x)
	}
	for _, e := range d.Report.Changes {
		p.edit(TenantEdit{Part: "catalog", Name: e.Kind + "/" + e.Name, Act: e.Act, Fields: e.Fields, Warnings: e.Warnings})
	}
	p.after = d.After
	p.report.Unchanged += d.Report.Unchanged
	if len(d.Entries) == 0 {
		return nil
	}
	p.step(turnCatalog, "catalog", func(ctx context.Context) error {
		_, err := p.a.Entries.SaveTenantCatalog(ctx, p.actor, catalog.TenantCatalogSave{At: p.at, Entries: d.Entries, Revision: d.Revision, AsOf: -1,
			Accounts:  d.Accounts,
			Templates: d.After.TemplatesSince(d.Before, d.Base, p.actor.Name(), p.at)})
		return err
	})
	return nil
}

// oneEach refuses texts that hold another entry than the one that they stand for.
func (p *tenantPlan) oneEach(files []catalog.File) {
	for _, f := range files {
		name := strings.TrimSuffix(f.Name, ".yaml")
		texts, problems := p.a.Catalogs.Reader.Split([]catalog.File{f})
		if len(problems) > 0 {
			continue // they are notified with the others
		}
		if len(texts) != 1 || texts[0].Kind+"/"+texts[0].Name != name {
			p.wrong("catalog."+name, &app.Error{Message: fmt.Sprintf("The text isn't a single entry %s.", name), Hint: "Use the same kind and name in the text as in its key."})
		}
	}
}

// entryProblem takes over what is wrong with an entry, with its place in the file as far as that can be reported.
func (p *tenantPlan) entryProblem(x catalog.Problem) {
	name := strings.TrimSuffix(x.File, ".yaml")
	if x.File == "" {
		name = x.Kind + "/" + x.Name
	}
	path := "catalog." + name
	t := TenantProblem{TenantPlace: p.place(path), Path: path, Severity: x.Severity, Message: x.Message, Hint: x.Hint}
	if at, ok := p.places[path+".text"]; ok && x.Line > 0 && x.File != "" {
		t.TenantPlace = TenantPlace{Line: at.Line + x.Line} // the text begins on the line after its key
	}
	if x.Field != "" {
		t.Message = x.Field + ": " + t.Message
	}
	p.report.Problems = append(p.report.Problems, t)
}

func (p *tenantPlan) hooks(context.Context) error {
	want := p.want.Hooks
	for name, w := range want { // where a secret belongs is no difference
		w.Format = cmp.Or(w.Format, webhook.HookMuster)
		if to, err := webhook.CheckRecipients(w.To); err == nil {
			w.To = to
		}
		slices.Sort(w.Kinds)
		slices.Sort(w.Operations)
		slices.Sort(w.Services)
		if is, have := p.is.Hooks[name]; have && w.Script == "" && is.Script == "" {
			w.URL, w.Secret = is.URL, is.Secret
		}
		want[name] = w
	}
	return eachPart(p, "webhooks", want, p.is.Hooks, func(path, name string, w HookSettings, is *HookSettings) error {
		r := webhook.EndpointRequest{Name: name, Kinds: &w.Kinds, Format: w.Format, To: &w.To, Enabled: new(!w.Disabled), When: w.When, Script: w.Script}
		if w.When != "" {
			r.Operations, r.Timeout, r.OnTimeout, r.Services = &w.Operations, new(time.Duration(w.Timeout)), w.OnTimeout, &w.Services
		} else if len(w.Operations)+len(w.Services) > 0 || w.Timeout != 0 || w.OnTimeout != "" {
			return &app.Error{Code: app.EInvalid, Field: "when", Message: "Operations, timeouts and services apply only to operation hooks.", Hint: "Set when to before, after, failure or template."}
		}
		if is == nil && w.Script == "" {
			r.URL, r.Secret = p.filled(path+".url", w.URL), p.filled(path+".secret", w.Secret)
		}
		if is != nil && (w.Script == "") != (is.Script == "") {
			return &app.Error{Code: app.EInvalid, Field: "script", Message: "A webhook can't become a script, or a script a webhook.", Hint: "Create a hook with another name, and delete this one."}
		}
		if is != nil && is.OnTimeout != "" && w.OnTimeout == "" {
			return &app.Error{Code: app.EInvalid, Field: "on_timeout", Message: "on_timeout can be changed, but not removed.", Hint: "Use veto or continue."}
		}
		c, err := p.a.Hooks.CheckHook(r)
		if err != nil {
			return err
		}
		c.New = make([]byte, 32)
		_, _ = rand.Read(c.New) // never fails: crypto/rand ends the process instead
		p.step(turnHooks, path, func(ctx context.Context) error {
			if is == nil && w.Script == "" && (c.URL == "" || len(c.Secret) == 0) {
				return nil // its places have no values, which has been reported
			}
			_, _, err := p.a.Integrations.SaveHook(ctx, p.actor, c, p.at)
			return err
		})
		return nil
	}, func(path, name string) error {
		p.step(turnGone, path, func(ctx context.Context) error { return p.a.Integrations.DeleteHook(ctx, p.actor, name, p.at) })
		return nil
	})
}

func (p *tenantPlan) buildHooks(ctx context.Context) error {
	want := p.want.BuildHooks
	for name, w := range want {
		if is, have := p.is.BuildHooks[name]; have {
			w.Secret = is.Secret
			want[name] = w
		}
	}
	return eachPart(p, "build_hooks", want, p.is.BuildHooks, func(path, name string, w BuildHookSettings, is *BuildHookSettings) error {
		r := build.BuildHookRequest{Name: name, System: w.System, Owner: &w.Owner, Rules: &w.Rules, Enabled: new(!w.Disabled)}
		was := build.BuildHook{}
		if is != nil {
			was = build.BuildHook{Name: name, System: is.System, Owner: is.Owner, Rules: is.Rules}
		} else if r.Secret = p.filled(path+".secret", w.Secret); r.Secret == "" {
			return nil
		}
		c, err := p.a.BuildHooks.CheckBuildHook(ctx, p.actor, r, was, is == nil, p.user)
		if err != nil {
			return err
		}
		if is == nil {
			id, key := make([]byte, 16), make([]byte, 32)
			_, _ = rand.Read(id) // never fails: crypto/rand ends the process instead
			_, _ = rand.Read(key)
			c.ID, c.TokenKey = hex.EncodeToString(id), key
			p.report.Changes[len(p.report.Changes)-1].Warnings = []string{"The hook gets a new URL. Set it in the build system: muster build hook show " + name + "."}
		}
		p.step(turnHooks, path, func(ctx context.Context) error {
			_, _, err := p.a.Integrations.SaveBuildHook(ctx, p.actor, c, p.at)
			return err
		})
		return nil
	}, func(path, name string) error {
		p.step(turnGone, path, func(ctx context.Context) error { return p.a.Integrations.DeleteBuildHook(ctx, p.actor, name, p.at) })
		return nil
	})
}

// user returns an account as it will be.
func (p *tenantPlan) user(ctx context.Context, tenant, name string) (identity.User, error) {
	if w, ok := p.want.Users[name]; ok {
		u := identity.User{Tenant: tenant, Name: name, Role: w.Role}
		if w.Disabled {
			u.DisabledAt = p.at
		}
		return u, nil
	}
	if p.want.Users != nil && p.in.Prune {
		return identity.User{}, app.Errorf(app.ENotFound, "User %q doesn't exist.", name)
	}
	return p.a.People.User(ctx, tenant, name)
}

func (p *tenantPlan) pools(ctx context.Context) error {
	if p.after != nil {
		ctx = catalog.Trying(ctx, p.actor.Tenant, p.after)
	}
	want := p.want.Pools
	for name, w := range want {
		w.Mode = cmp.Or(w.Mode, pool.ModeOn)
		if w.MaxAge == 0 {
			w.MaxAge = TimeLength(pool.DefaultPoolAge)
		}
		want[name] = w
	}
	return eachPart(p, "pools", want, p.is.Pools, func(path, name string, w PoolSettings, is *PoolSettings) error {
		x := pool.Pool{Tenant: p.actor.Tenant, Name: name, Hardware: w.Hardware, Image: w.Image, Provider: w.Provider, Zone: w.Zone, Count: w.Count, MaxAge: time.Duration(w.MaxAge),
			Mode: w.Mode, CreatedBy: p.actor.Name(), CreatedAt: p.at}
		if w.Mode == pool.ModeDeleted || !pool.NamePattern.MatchString(name) {
			return &app.Error{Code: app.EInvalid, Message: "A pool's name must start with a lowercase letter and have at most 30 lowercase letters, digits and '-'; its mode must be on, off or drained."}
		}
		if is != nil && (is.Hardware != w.Hardware || is.Image != w.Image || is.Provider != w.Provider || is.Zone != w.Zone) {
			return &app.Error{Code: app.EInvalid, Message: "A pool's hardware, image, provider and zone can't be changed.", Hint: "Create a pool with another name, and delete this one."}
		}
		if err := p.a.Pools.CheckPool(ctx, x); err != nil {
			return err
		}
		if err := p.poolSecrets(ctx, w.Provider); err != nil {
			return err
		}
		p.step(turnPools, path, func(ctx context.Context) error {
			if is == nil {
				_, err := p.a.Entries.CreatePool(ctx, p.actor, x)
				return err
			}
			act := "pool.change"
			if w.Mode == pool.ModeDrained && is.Mode != pool.ModeDrained {
				act = "pool.drain"
			}
			_, err := p.a.Entries.ChangePool(ctx, p.actor, x, act, p.at)
			return err
		})
		return nil
	}, func(path, name string) error {
		p.step(turnGone, path, func(ctx context.Context) error {
			_, err := p.a.Entries.ChangePool(ctx, p.actor, pool.Pool{Tenant: p.actor.Tenant, Name: name, Mode: pool.ModeDeleted, Count: p.is.Pools[name].Count,
				MaxAge: time.Duration(p.is.Pools[name].MaxAge)}, "pool.delete", p.at)
			return err
		})
		return nil
	})
}

// poolSecrets refuses a pool whose provider needs a secret that neither is nor comes.
func (p *tenantPlan) poolSecrets(ctx context.Context, provider string) error {
	c, err := p.a.Catalogs.CatalogOf(ctx, p.actor.Tenant)
	if err != nil {
		return err
	}
	for _, name := range app.SecretNames(c.Providers[provider].Settings) {
		_, have := p.is.Secrets[name]
		_, comes := p.want.Secrets[name]
		if !have && !comes {
			return secret.MissingSecret(p.actor.Tenant, name, "Provider "+provider)
		}
	}
	return nil
}

// resources: contents do not come along, so what is missing is only reported.
func (p *tenantPlan) resources(context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(p.want.Resources)) {
		path := "resources." + name
		id, err := resource.ParseResourceID(name)
		if err != nil {
			if err := p.refused(path, err); err != nil {
				return err
			}
			continue
		}
		w, is := p.want.Resources[name], p.is.Resources[name]
		if template.CatalogText(w) == template.CatalogText(is) {
			p.report.Unchanged++
			continue
		}
		for _, number := range slices.Sorted(maps.Keys(w.Versions)) {
			hash := w.Versions[number]
			if !slices.Contains(slices.Collect(maps.Values(is.Versions)), hash) {
				p.warn(path+".versions."+number, fmt.Sprintf("The tenant doesn't have this content (version %s, SHA-256 %.12s…); the file doesn't include it.", number, hash),
					fmt.Sprintf("Push it: muster resource push %s FILE.", id))
			}
		}
		if now := is.Versions[fmt.Sprint(is.InUse)]; w.InUse != 0 && now != w.Versions[fmt.Sprint(w.InUse)] {
			p.warn(path+".in_use", "Another version is in use, or none.", "Activate this version with muster resource stage and muster resource sync.")
		}
	}
	return nil
}
