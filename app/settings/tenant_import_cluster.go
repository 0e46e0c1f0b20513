package settings

import (
	"cmp"
	"context"
	"time"

	"muster/app/catalog"
	"muster/app/idle"
	"muster/app/template"
	"muster/app/window"
)

// IdleSettings are the idle policy of clusters whose templates have none; zero for none.
type IdleSettings struct {
	If       template.IdleConditions `json:"if,omitzero"`
	After    TimeLength              `json:"after,omitempty"`
	Grace    TimeLength              `json:"grace,omitempty"`
	Then     template.IdleAction     `json:"then,omitempty"`
	OwnerMay template.IdleChoice     `json:"owner_may,omitempty"`
	MaxKeep  TimeLength              `json:"max_keep,omitempty"`
}

func (s IdleSettings) policy() template.IdlePolicy {
	return template.IdlePolicy{If: s.If, After: time.Duration(s.After), Grace: time.Duration(s.Grace), Then: s.Then,
		OwnerMay: s.OwnerMay, MaxKeep: time.Duration(s.MaxKeep)}
}

// settingsOfIdle fills in what holds where a policy says nothing: the same policy is the same text.
func settingsOfIdle(p template.IdlePolicy) IdleSettings {
	if p.Then == template.IdleNothing {
		return IdleSettings{}
	}
	return IdleSettings{If: p.If, After: TimeLength(p.After), Grace: TimeLength(p.GraceOr30m()), Then: p.Action(),
		OwnerMay: cmp.Or(p.OwnerMay, template.IdleMayKeep), MaxKeep: TimeLength(p.KeepAtMost())}
}

// MaintenanceSettings are a tenant's window.Settings; zero for none.
type MaintenanceSettings struct {
	Windows   []window.Window `json:"windows,omitempty"`
	AppliesTo []window.Reason `json:"applies_to,omitempty"`
	Overrun   window.Overrun  `json:"overrun,omitempty"`
	Locked    bool            `json:"locked,omitempty"`
}

func settingsOfWindows(s window.Settings) MaintenanceSettings {
	if s.None() && !s.Locked {
		return MaintenanceSettings{}
	}
	return MaintenanceSettings(s.Normal())
}

func (a *Service) clusterSettings(ctx context.Context, tenant string, s *TenantSettings) error {
	s.Idle, s.Maintenance = &IdleSettings{}, &MaintenanceSettings{}
	p, err := a.Tenants.DefaultIdlePolicy(ctx, tenant)
	if err != nil {
		return err
	}
	if p != nil {
		*s.Idle = settingsOfIdle(*p)
	}
	k, err := a.Tenants.Windows(ctx, tenant, "")
	if err == nil && k.Tenant != nil {
		*s.Maintenance = settingsOfWindows(k.Tenant.Settings)
	}
	return err
}

func (p *tenantPlan) idle(context.Context) error {
	if p.want.Idle == nil {
		return nil
	}
	policy := p.want.Idle.policy()
	empty := isEmpty(*p.want.Idle)
	if !empty {
		if err := idle.CheckDefault(policy); err != nil {
			return p.refused("idle", err)
		}
		*p.want.Idle = settingsOfIdle(policy)
	}
	return onePart(p, "idle", *p.want.Idle, *p.is.Idle, empty, func(ctx context.Context, w IdleSettings) error {
		if isEmpty(w) {
			return p.a.Idle.SetIdlePolicy(ctx, p.actor, nil)
		}
		return p.a.Idle.SetIdlePolicy(ctx, p.actor, new(w.policy()))
	})
}

func (p *tenantPlan) maintenance(context.Context) error {
	if p.want.Maintenance == nil {
		return nil
	}
	w := window.Settings(*p.want.Maintenance)
	empty := isEmpty(*p.want.Maintenance) && w.Windows == nil
	if err := w.Check(p.at); err != nil {
		return p.refused("maintenance", err)
	}
	*p.want.Maintenance = settingsOfWindows(w)
	set := func(ctx context.Context, w MaintenanceSettings) error {
		return p.a.Windows.WriteMaintenanceWindows(ctx, p.actor, window.Settings(w))
	}
	return onePart(p, "maintenance", *p.want.Maintenance, *p.is.Maintenance, empty, set)
}

func isEmpty[T any](x T) bool { return template.CatalogText(x) == "{}" }

// onePart is eachPart for what a tenant has one of, or none. An empty part takes away what the tenant has only with
// prune; one that says by other words that there is to be none always does.
func onePart[T any](p *tenantPlan, part string, want, is T, empty bool, set func(context.Context, T) error) error {
	edit := TenantEdit{Part: part, Act: "change"}
	var before any = is
	switch {
	case isEmpty(want) && (isEmpty(is) || empty && !p.in.Prune):
		return nil
	case template.CatalogText(want) == template.CatalogText(is):
		p.report.Unchanged++
		return nil
	case isEmpty(want):
		edit.Act = "remove"
	case isEmpty(is):
		edit.Act, before = "add", nil
	}
	if edit.Act != "remove" {
		var err error
		if edit.Fields, err = catalog.FieldChanges(before, want); err != nil {
			return err
		}
	}
	p.edit(edit)
	p.step(turnRules, part, func(ctx context.Context) error { return set(ctx, want) })
	return nil
}
