package settings

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/humanize"
	"muster/app/identity"
	"muster/app/policy"
	"muster/app/pool"
	"muster/app/resource"
	"muster/app/template"
)

var errNoTenantFiles = &app.Error{Code: app.EInvalid, Reason: "no_tenant_files", Message: "This installation can't export tenant settings."}

// ExportTenant writes down the settings of the actor's tenant. There is no secret in it, and nothing that only this installation knows: the
// same settings give the same text.
func (a *Service) ExportTenant(ctx context.Context, actor app.Actor) (TenantFile, error) {
	if err := actor.Authorize("ExportTenant"); err != nil {
		return TenantFile{}, err
	}
	if a.TenantFiles == nil {
		return TenantFile{}, errNoTenantFiles
	}
	mark, err := a.Store.TenantMark(ctx, actor.Tenant)
	if err != nil {
		return TenantFile{}, err
	}
	s, err := a.tenantSettings(ctx, actor.Tenant)
	if err != nil {
		return TenantFile{}, err
	}
	return TenantFile{Tenant: actor.Tenant, File: a.TenantFiles.WriteTenant(s), AsOf: mark}, nil
}

// tenantSettings reads all settings of a tenant. Every part is there, be it empty.
func (a *Service) tenantSettings(ctx context.Context, tenant string) (s TenantSettings, err error) {
	t, err := a.Tenants.Tenant(ctx, tenant)
	if err != nil {
		return s, err
	}
	s = TenantSettings{Form: TenantForm, About: &t.About, Slots: &t.Slots, SecondFactor: &t.RequireSecondFactor, Currency: t.Currency, ExchangeRate: t.ExchangeRate}
	if s.TimeZone, err = a.Tenants.TimeZone(ctx, tenant); err != nil {
		return s, err
	}
	if s.ClusterVisibility, err = a.Tenants.DefaultVisibility(ctx, tenant); err != nil {
		return s, err
	}
	for _, read := range []func(context.Context, string, *TenantSettings) error{
		a.clusterSettings,
		a.peopleSettings, a.ruleSettings, a.hookSettings, a.poolSettings, a.resourceSettings, a.ownSettings,
	} {
		if err := read(ctx, tenant, &s); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (a *Service) peopleSettings(ctx context.Context, tenant string, s *TenantSettings) error {
	s.Users, s.Groups = map[string]UserSettings{}, map[string]GroupSettings{}
	const page = 500
	for f := (identity.UserFilter{Limit: page}); ; {
		users, more, err := a.People.Users(ctx, tenant, f)
		if err != nil {
			return err
		}
		for _, u := range users {
			s.Users[u.Name] = UserSettings{FullName: u.FullName, Email: u.Email, Role: u.Role, Disabled: u.Disabled()}
			f.After = u.Name
		}
		if !more || len(users) == 0 {
			break
		}
	}
	groups, err := a.People.Groups(ctx, tenant)
	if err != nil {
		return err
	}
	for _, g := range groups {
		var here []string
		for _, m := range g.Members {
			if m.Here {
				here = append(here, m.User)
			}
		}
		if !g.CreatedAt.IsZero() || len(here) > 0 { // others come from where people sign in
			s.Groups[g.Name] = GroupSettings{About: g.About, Members: here}
		}
	}
	return nil
}

func (a *Service) ruleSettings(ctx context.Context, tenant string, s *TenantSettings) error {
	s.Quotas, s.Policies, s.Secrets = map[string]policy.Limits{}, map[string]policy.Policy{}, map[string]template.SecretPlace{}
	quotas, err := a.Rules.QuotaLimits(ctx, tenant)
	if err != nil {
		return err
	}
	for _, q := range quotas {
		s.Quotas[quotaName(q)] = q.Limits
	}
	policies, err := a.Rules.Policies(ctx, tenant)
	if err != nil {
		return err
	}
	for _, p := range policies {
		s.Policies[p.Name] = p
	}
	secrets, err := a.Integrations.Secrets(ctx, tenant)
	if err != nil {
		return err
	}
	for _, x := range secrets {
		s.Secrets[x.Name] = placeOf(x.Name)
	}
	return nil
}

func (a *Service) hookSettings(ctx context.Context, tenant string, s *TenantSettings) error {
	s.Hooks, s.BuildHooks = map[string]HookSettings{}, map[string]BuildHookSettings{}
	places := placeNames{}
	hooks, err := a.Integrations.Hooks(ctx, tenant)
	if err != nil {
		return err
	}
	for _, h := range hooks {
		x := settingsOfHook(h)
		if h.Script == "" {
			x.URL, x.Secret = places.next("WEBHOOK", h.Name, "URL"), places.next("WEBHOOK", h.Name, "SECRET")
		}
		s.Hooks[h.Name] = x
	}
	builds, err := a.Integrations.BuildHooks(ctx, tenant)
	if err != nil {
		return err
	}
	for _, h := range builds {
		s.BuildHooks[h.Name] = BuildHookSettings{System: h.System, Owner: h.Owner, Secret: places.next("BUILD_HOOK", h.Name, "SECRET"), Disabled: !h.Enabled, Rules: h.Rules}
	}
	return nil
}

// placeNames returns places names, each once.
type placeNames map[string]bool

func (p placeNames) next(kind, name, what string) template.SecretPlace {
	text := kind + "_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	const room = 50 // for what comes behind it
	if len(text) > room {
		text = text[:room-9] + "_" + strings.ToUpper(template.Digest(name)[:8])
	}
	place := text + "_" + what
	for n := 2; p[place]; n++ { // a-b and a_b are two hooks
		place = text + "_" + what + strconv.Itoa(n)
	}
	p[place] = true
	return placeOf(place)
}

func (a *Service) poolSettings(ctx context.Context, tenant string, s *TenantSettings) error {
	s.Pools = map[string]PoolSettings{}
	pools, err := a.Entries.PoolViews(ctx, tenant, a.Now())
	if err != nil {
		return err
	}
	for _, p := range pools {
		if p.Mode != pool.ModeDeleted {
			s.Pools[p.Name] = settingsOfPool(p.Pool)
		}
	}
	return nil
}

func (a *Service) resourceSettings(ctx context.Context, tenant string, s *TenantSettings) error {
	s.Resources = map[string]ResourceSettings{}
	for f := (resource.Filter{Limit: resource.MaxResourcePage}); ; {
		list, err := a.Entries.ResourceInfos(ctx, tenant, f)
		if err != nil {
			return err
		}
		for _, r := range list {
			one, err := a.Entries.ResourceInfo(ctx, tenant, r.ID)
			if app.CodeOf(err) == app.ENotFound { // it went meanwhile
				continue
			}
			if err != nil {
				return err
			}
			x := ResourceSettings{InUse: one.Active, Versions: map[string]string{}}
			for _, v := range one.Versions {
				if v.DeletedAt.IsZero() {
					x.Versions[strconv.FormatInt(v.Number, 10)] = v.Hash
				}
			}
			s.Resources[r.ID.String()] = x
			f.After = r.ID.String()
		}
		if len(list) < f.Limit {
			return nil
		}
	}
}

func (a *Service) ownSettings(ctx context.Context, tenant string, s *TenantSettings) error {
	s.Catalog = map[string]CatalogSettings{}
	own, _, err := a.Entries.TenantCatalog(ctx, tenant)
	if err != nil {
		return err
	}
	for _, r := range own {
		s.Catalog[r.Kind+"/"+r.Name] = CatalogSettings{Text: r.Text, Coopr: r.Coopr}
	}
	return nil
}

// parseEntryName reads KIND/NAME.
func parseEntryName(key string) (template.CatalogKey, error) {
	kind, name, _ := strings.Cut(key, "/")
	k := template.CatalogKey{Kind: kind, Name: name}
	if !slices.Contains(template.CatalogKinds, kind) || name == "" {
		return k, &app.Error{Code: app.EInvalid, Message: fmt.Sprintf("Invalid catalog entry %.100q.", key), Hint: "Use KIND/NAME, where KIND is " + humanize.Or(template.CatalogKinds) + "."}
	}
	return k, nil
}
