package settings

import (
	"context"
	"fmt"
	"slices"

	"muster/app"
	"muster/app/catalog"
	"muster/app/identity"
	"muster/app/policy"
	"muster/app/template"
)

// tenant is what the tenant has one of.
func (p *tenantPlan) tenant(context.Context) error {
	var c identity.TenantChange
	var fields []catalog.FieldChange
	if w := p.want.About; w != nil && *w != *p.is.About {
		c.About, fields = w, append(fields, catalog.FieldChange{Path: "about", Before: *p.is.About, After: *w})
		if err := identity.CheckText("about", *w, app.LongestAbout); err != nil {
			return p.refused("", err)
		}
	}
	if w := p.want.Slots; w != nil && *w != *p.is.Slots {
		c.Slots, fields = w, append(fields, catalog.FieldChange{Path: "slots", Before: fmt.Sprint(*p.is.Slots), After: fmt.Sprint(*w)})
		if err := identity.CheckSlots(*w); err != nil {
			return p.refused("", err)
		}
	}
	if code, rate := p.want.Currency, p.want.ExchangeRate; code != "" || rate != 0 {
		if code != p.is.Currency {
			fields = append(fields, catalog.FieldChange{Path: "currency", Before: p.is.Currency, After: code})
		}
		if rate != p.is.ExchangeRate {
			fields = append(fields, catalog.FieldChange{Path: "exchange_rate", Before: rateText(p.is.ExchangeRate), After: rateText(rate)})
		}
		if err := template.CheckExchange(code, rate, p.a.Catalogs.Currency); err != nil {
			return p.refused("", err)
		}
		c.Currency, c.ExchangeRate = &code, &rate
	}
	if len(fields) > 0 {
		p.edit(TenantEdit{Part: "tenant", Act: "change", Fields: fields})
		if p.actor.Authorize("ChangeTenant") != nil {
			for _, f := range fields {
				p.wrong(f.Path, &app.Error{Message: "Only a superadmin can change a tenant's description, slots and currency.", Hint: "Remove the line, or ask a superadmin to import the file."})
			}
		}
		p.step(turnTenant, "", func(ctx context.Context) error {
			_, err := p.a.Tenants.ChangeTenant(ctx, p.actor, p.actor.Tenant, c, p.at)
			return err
		})
	}
	if zone := p.want.TimeZone; zone != "" && zone != p.is.TimeZone {
		p.edit(TenantEdit{Part: "time_zone", Act: "change", Fields: []catalog.FieldChange{{Path: "time_zone", Before: p.is.TimeZone, After: zone}}})
		if err := policy.CheckZone(zone); err != nil {
			return p.refused("", err)
		}
		p.step(turnTenant, "time_zone", func(ctx context.Context) error { return p.a.Tenants.SetTimeZone(ctx, p.actor, zone, p.at) })
	}
	if w := p.want.SecondFactor; w != nil && *w != *p.is.SecondFactor {
		p.edit(TenantEdit{Part: "require_second_factor", Act: "change", Fields: []catalog.FieldChange{{Path: "require_second_factor", Before: fmt.Sprint(*p.is.SecondFactor), After: fmt.Sprint(*w)}}})
		p.step(turnTenant, "require_second_factor", func(ctx context.Context) error { return p.a.Tenants.RequireSecondFactor(ctx, p.actor, *w, p.at) })
	}
	if v := p.want.ClusterVisibility; v != "" && v != p.is.ClusterVisibility {
		p.edit(TenantEdit{Part: "cluster_visibility", Act: "change", Fields: []catalog.FieldChange{{Path: "cluster_visibility", Before: string(p.is.ClusterVisibility), After: string(v)}}})
		if err := v.Check(); err != nil {
			p.wrong("cluster_visibility", app.AsError(err))
			return nil
		}
		p.step(turnTenant, "cluster_visibility", func(ctx context.Context) error { return p.a.Tenants.SetDefaultVisibility(ctx, p.actor, v, p.at) })
	}
	return nil
}

// people are accounts. New ones get a password that no one knows: it is reset, or they sign in elsewhere.
func (p *tenantPlan) people(context.Context) error {
	return eachPart(p, "users", p.want.Users, p.is.Users, func(path, name string, w UserSettings, is *UserSettings) error {
		if is == nil {
			return p.newUser(path, name, w)
		}
		for _, err := range []error{identity.CheckText("full_name", w.FullName, 200), identity.CheckEmail(w.Email)} {
			if err != nil {
				return err
			}
		}
		c := identity.UserChange{FullName: &w.FullName, Email: &w.Email, Disabled: &w.Disabled, Role: &w.Role}
		p.step(turnUsers, path, func(ctx context.Context) error {
			_, err := p.a.People.ChangeUser(ctx, p.actor, name, c, p.at)
			return err
		})
		if w.Role.Privileged() && !w.Disabled { // before those that stop to be: someone has to be left
			last := len(p.steps) - 1
			p.steps[last].turn = turnTenant
		}
		return nil
	}, func(path, name string) error {
		if name == p.actor.User && p.actor.Home == "" {
			return &app.Error{Code: app.EConflict, Message: "You can't delete your own account.", Hint: "Add yourself to the file, or ask someone else to import it."}
		}
		p.step(turnUsersGone, path, func(ctx context.Context) error { return p.a.People.DeleteUser(ctx, p.actor, name, "", p.at) })
		return nil
	})
}

func (p *tenantPlan) newUser(path, name string, w UserSettings) error {
	u, err := p.a.Users.DraftUser(p.actor, p.actor.Tenant, identity.NewUser{Name: name, FullName: w.FullName, Email: w.Email, Role: w.Role})
	if err != nil {
		return err
	}
	if w.Disabled {
		u.DisabledAt = p.at
	}
	last := &p.report.Changes[len(p.report.Changes)-1]
	if w.Role == app.RoleRobot {
		last.Warnings = []string{fmt.Sprintf("The account has no token yet. Create one: muster token create LABEL --user %s.", name)}
	} else {
		last.Warnings = []string{fmt.Sprintf("The account has no password yet. Unless people sign in at an identity provider, set one: muster user reset-password %s.", name)}
		if p.lost == "" {
			p.lost = identity.HashPassword(identity.NewPassword())
		}
		u.PasswordHash, u.MustChange = p.lost, true
	}
	turn := turnUsers
	if w.Role.Privileged() {
		turn = turnTenant
	}
	p.step(turn, path, func(ctx context.Context) error { return p.a.People.AddUser(ctx, p.actor, u) })
	return nil
}

func (p *tenantPlan) groups(context.Context) error {
	for name, w := range p.want.Groups {
		slices.Sort(w.Members)
		w.Members = slices.Compact(w.Members)
		p.want.Groups[name] = w
	}
	return eachPart(p, "groups", p.want.Groups, p.is.Groups, func(path, name string, w GroupSettings, _ *GroupSettings) error {
		c := identity.GroupChange{Name: name, About: &w.About, Members: &w.Members}
		if err := c.Check(); err != nil {
			return err
		}
		p.step(turnGroups, path, func(ctx context.Context) error {
			_, err := p.a.People.SaveGroup(ctx, p.actor, c, p.at)
			return err
		})
		return nil
	}, func(path, name string) error {
		p.step(turnGroupsGone, path, func(ctx context.Context) error { return p.a.People.DeleteGroup(ctx, p.actor, name, p.at) })
		return nil
	})
}

func (p *tenantPlan) quotas(context.Context) error {
	parse := func(name string) (policy.Quota, error) {
		q, err := parseQuotaName(name)
		if err == nil && q.Scope == policy.QuotaTenant && p.actor.Authorize("SetTenantQuota") != nil {
			err = &app.Error{Code: app.EForbidden, Message: "Only a superadmin can change the tenant's own quota.", Hint: "Remove it from the file, or ask a superadmin to import the file."}
		}
		return q, err
	}
	return eachPart(p, "quotas", p.want.Quotas, p.is.Quotas, func(path, name string, w policy.Limits, _ *policy.Limits) error {
		q, err := parse(name)
		if err != nil {
			return err
		}
		if q.Limits = w; q.Check() != nil {
			return q.Check()
		}
		q.ChangedAt, q.ChangedBy = p.at, p.actor.Name()
		p.step(turnRules, path, func(ctx context.Context) error { return p.a.Rules.SetQuota(ctx, p.actor, q) })
		return nil
	}, func(path, name string) error {
		q, err := parse(name)
		if err != nil {
			return err
		}
		p.step(turnRulesGone, path, func(ctx context.Context) error { return p.a.Rules.DeleteQuota(ctx, p.actor, q.Scope, q.Name, p.at) })
		return nil
	})
}

// written returns policies as the file has them.
func (p *tenantPlan) written(policies map[string]policy.Policy) map[string]any {
	if policies == nil {
		return nil
	}
	all := map[string]any{}
	for name, x := range policies {
		all[name] = p.a.TenantFiles.Policy(x)
	}
	return all
}

func (p *tenantPlan) policies(context.Context) error {
	for name, x := range p.want.Policies { // as it would be kept
		if x.Check() == nil {
			p.want.Policies[name] = x
		}
	}
	return eachPart(p, "policies", p.written(p.want.Policies), p.written(p.is.Policies), func(path, name string, _ any, _ *any) error {
		x := p.want.Policies[name]
		if err := p.a.Policies.CheckPolicy(&x); err != nil {
			return err
		}
		p.step(turnRules, path, func(ctx context.Context) error {
			_, err := p.a.Rules.SavePolicy(ctx, x, p.actor, p.at)
			return err
		})
		return nil
	}, func(path, name string) error {
		p.step(turnRulesGone, path, func(ctx context.Context) error { return p.a.Rules.DeletePolicy(ctx, name, p.actor, p.at) })
		return nil
	})
}

// secrets: a value that is there stays.
func (p *tenantPlan) secrets(ctx context.Context) error {
	for name := range p.want.Secrets {
		if _, have := p.is.Secrets[name]; have {
			p.want.Secrets[name] = p.is.Secrets[name]
		}
	}
	return eachPart(p, "secrets", p.want.Secrets, p.is.Secrets, func(path, name string, w template.SecretPlace, _ *template.SecretPlace) error {
		p.report.Changes[len(p.report.Changes)-1].Fields = nil
		if err := app.CheckSecretName(name); err != nil {
			return err
		}
		value := p.filled(path, w)
		p.step(turnSecrets, path, func(ctx context.Context) error {
			return p.a.Integrations.SetSecret(ctx, p.actor, name, []byte(value), p.at)
		})
		return nil
	}, func(path, name string) error {
		if err := p.a.Secrets.KeepNeeded(ctx, p.actor.Tenant, name); err != nil {
			return err
		}
		p.step(turnGone, path, func(ctx context.Context) error { return p.a.Integrations.DeleteSecret(ctx, p.actor, name, p.at) })
		return nil
	})
}

func rateText(rate float64) string {
	if rate == 0 {
		return ""
	}
	return fmt.Sprint(rate)
}
