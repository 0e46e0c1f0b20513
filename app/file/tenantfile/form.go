package tenantfile

import (
	"time"

	"muster/app"
	"muster/app/policy"
	"muster/app/settings"
	"muster/app/template"
)

// tenantForm is settings.TenantSettings as the file has them; the order of fields is the file's.
type tenantForm struct {
	Form              int                                   `json:"muster_tenant"`
	About             *string                               `json:"about,omitempty"`
	Slots             *int                                  `json:"slots,omitempty"`
	TimeZone          string                                `json:"time_zone,omitempty"`
	Currency          string                                `json:"currency,omitempty"`
	ExchangeRate      float64                               `json:"exchange_rate,omitempty"`
	SecondFactor      *bool                                 `json:"require_second_factor,omitempty"`
	ClusterVisibility app.Visibility                        `json:"cluster_visibility,omitempty"`
	Idle              *settings.IdleSettings                `json:"idle,omitempty"`
	Maintenance       *settings.MaintenanceSettings         `json:"maintenance,omitempty"`
	Users             map[string]settings.UserSettings      `json:"users,omitempty"`
	Groups            map[string]settings.GroupSettings     `json:"groups,omitempty"`
	Quotas            map[string]policy.Limits              `json:"quotas,omitempty"`
	Policies          map[string]policyForm                 `json:"policies,omitempty"`
	Secrets           map[string]template.SecretPlace       `json:"secrets,omitempty"`
	Hooks             map[string]settings.HookSettings      `json:"webhooks,omitempty"`
	BuildHooks        map[string]settings.BuildHookSettings `json:"build_hooks,omitempty"`
	Pools             map[string]settings.PoolSettings      `json:"pools,omitempty"`
	Resources         map[string]settings.ResourceSettings  `json:"resources,omitempty"`
	Catalog           map[string]settings.CatalogSettings   `json:"catalog,omitempty"`
}

func formOf(s settings.TenantSettings) tenantForm {
	f := tenantForm{Form: s.Form, About: s.About, Slots: s.Slots, TimeZone: s.TimeZone, Currency: s.Currency, ExchangeRate: s.ExchangeRate,
		SecondFactor: s.SecondFactor, ClusterVisibility: s.ClusterVisibility,
		Idle: s.Idle, Maintenance: s.Maintenance, Users: s.Users,
		Groups: s.Groups, Quotas: s.Quotas, Secrets: s.Secrets, Hooks: s.Hooks, BuildHooks: s.BuildHooks, Pools: s.Pools, Resources: s.Resources, Catalog: s.Catalog}
	if s.Policies != nil {
		f.Policies = map[string]policyForm{}
		for name, p := range s.Policies {
			f.Policies[name] = formOfPolicy(p)
		}
	}
	return f
}

func (f tenantForm) settings() settings.TenantSettings {
	s := settings.TenantSettings{Form: f.Form, About: f.About, Slots: f.Slots, TimeZone: f.TimeZone, Currency: f.Currency, ExchangeRate: f.ExchangeRate,
		SecondFactor: f.SecondFactor, ClusterVisibility: f.ClusterVisibility,
		Idle: f.Idle, Maintenance: f.Maintenance, Users: f.Users,
		Groups: f.Groups, Quotas: f.Quotas, Secrets: f.Secrets, Hooks: f.Hooks, BuildHooks: f.BuildHooks, Pools: f.Pools, Resources: f.Resources, Catalog: f.Catalog}
	if f.Policies != nil {
		s.Policies = map[string]policy.Policy{}
		for name, p := range f.Policies {
			s.Policies[name] = p.policy(name)
		}
	}
	return s
}

// policyForm is a policy as people write it: enabled unless it says otherwise, with times in words, and without its history.
type policyForm struct {
	About    string        `json:"about,omitempty"`
	Order    int           `json:"order"`
	Disabled bool          `json:"disabled,omitempty"`
	When     string        `json:"when"`
	Effect   policy.Effect `json:"effect"`
	Reason   string        `json:"reason,omitempty"`
	LeaseCap string        `json:"lease_cap,omitempty"`
	Set      *policy.Set   `json:"set,omitempty"`
	Approval *approvalForm `json:"approval,omitempty"`
}

type approvalForm struct {
	Count         int                 `json:"count"`
	Group         string              `json:"group,omitempty"`
	Role          app.Role            `json:"role,omitempty"`
	High          bool                `json:"high,omitempty"`
	ExpireAfter   settings.TimeLength `json:"expire_after,omitempty"`
	RemindAfter   settings.TimeLength `json:"remind_after,omitempty"`
	EscalateAfter settings.TimeLength `json:"escalate_after,omitempty"`
	EscalateTo    string              `json:"escalate_to,omitempty"`
	BreakGlass    string              `json:"break_glass,omitempty"`
}

func formOfPolicy(p policy.Policy) policyForm {
	f := policyForm{About: p.About, Order: p.Order, Disabled: !p.Enabled, When: p.When, Effect: p.Effect, Reason: p.Reason, LeaseCap: p.LeaseCap, Set: p.Set}
	if a := p.Approval; a != nil {
		f.Approval = &approvalForm{Count: a.Count, Group: a.Group, Role: a.Role, High: a.High, ExpireAfter: settings.TimeLength(a.ExpireAfter), RemindAfter: settings.TimeLength(a.RemindAfter),
			EscalateAfter: settings.TimeLength(a.EscalateAfter), EscalateTo: a.EscalateTo, BreakGlass: a.BreakGlass}
	}
	return f
}

func (f policyForm) policy(name string) policy.Policy {
	p := policy.Policy{Name: name, About: f.About, Order: f.Order, Enabled: !f.Disabled, When: f.When, Effect: f.Effect, Reason: f.Reason,
		LeaseCap: f.LeaseCap, Set: f.Set}
	if a := f.Approval; a != nil {
		p.Approval = &policy.Approval{Count: a.Count, Group: a.Group, Role: a.Role, High: a.High, ExpireAfter: time.Duration(a.ExpireAfter), RemindAfter: time.Duration(a.RemindAfter),
			EscalateAfter: time.Duration(a.EscalateAfter), EscalateTo: a.EscalateTo, BreakGlass: a.BreakGlass}
	}
	return p
}

func (Files) Policy(p policy.Policy) any { return formOfPolicy(p) }
