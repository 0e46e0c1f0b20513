package wiring

import (
	"muster/app/all"
	"muster/app/file/catalog"
	"muster/app/file/spec"
	"muster/app/file/tenantfile"
	"muster/app/policy/cel"
	"muster/automators"
	"muster/automators/shell"
	"muster/cmd/muster/families"
	"muster/jobs"
	"muster/jobs/remote"
	"muster/planner"
	"muster/portal"
	"muster/portal/buildsystems"
	"muster/portal/site"
	"muster/providers"
	"muster/solver"
	"muster/solver/change"
	"muster/solver/explain"
)

// UseCases returns the use cases on top of d, in which it sets what does not differ from place to place.
func UseCases(d all.Deps) *all.App {
	layouts := solver.New()
	d.Solver, d.Explainer, d.Changer, d.Planner = solver.WithNotes(layouts), explain.New(layouts), change.New(), planner.New()
	d.Keys, d.Tries = remote.Keys{}, jobs.Tries
	d.Policies, d.Builds, d.BuildRules, d.TenantFiles = cel.New(), buildsystems.Family{}, cel.NewBuilds(), tenantfile.Files{}
	d.RateOf, d.Sleeps, d.Firewalls = providers.RateOf, providers.Sleeps, providers.Firewalls
	d.DryRuns, d.CheckScript, d.ResourceKinds = automators.DryRuns, shell.Syntax, families.ResourceKinds()
	return all.New(d)
}

// What a part of the portal takes from several parts of a domain.
type (
	signIns struct {
		*all.SignInService
		*all.SessionService
		*all.TokenService
	}
	buildHooks struct {
		*all.BuildHookService
		*all.BuildIntakeService
	}
	buildCalls struct {
		*all.BuildIntakeService
		*all.BuildAccessService
	}
	chats struct {
		*all.ChatChannelService
		*all.ChatWorkspaceService
	}
	accounts struct {
		*all.SessionService
		*all.PasswordService
		*all.StepUpService
		*all.LinkService
	}
)

// Portal returns the portal on top of u and c, in which it sets what does not differ from place to place.
func Portal(u *all.App, c portal.Config) *portal.Portal {
	c.UseCases = site.UseCases{
		SignIns:        signIns{u.SignInService, u.SessionService, u.TokenService},
		Accounts:       accounts{u.SessionService, u.PasswordService, u.StepUpService, u.LinkService},
		Factors:        u.FactorService,
		Users:          u.UserService,
		Groups:         u.GroupService,
		Tokens:         u.TokenService,
		Devices:        u.DeviceService,
		Tenants:        u.TenantService,
		TenantSettings: u.SettingsService,
		Audit:          u.AuditService,
		Clusters:       u.ViewService,
		Dashboard:      u.DashboardService,
		Deletes:        u.DeleteService,
		Ownership:      u.OwnershipService,
		ClusterAccess:  u.ClusterAccessService,
		Creates:        u.CreateService,
		Specs:          u.SpecService,
		Sharing:        u.SharingService,
		Feed:           u.ActivityService,
		Repeats:        u.RepeatService,
		Catalogs:       u.CatalogService,
		Trials:         u.TrialService,
		Templates:      u.CatalogService,
		Operations:     u.ControlService,
		RollBacks:      u.RollBackService,
		Partials:       u.PartialService,
		Backfills:      u.BackfillService,
		Drifts:         u.DriftService,
		Amendments:     u.UpdateService,
		Sleeping:       u.SleepService,
		Schedules:      u.ScheduleService,
		Leases:         u.LeaseService,
		Requests:       u.RequestService,
		Health:         u.ExecutionService,
		Questions:      u.ExecutionService,
		Queues:         u.ExecutionService,
		Policies:       u.PolicyService,
		Quotas:         u.PolicyService,
		Usage:          u.UsageService,
		Installation:   u.FleetService,
		Provisioners:   u.FleetService,
		Machines:       u.FleetService,
		Pools:          u.PoolService,
		BuildHooks:     buildHooks{u.BuildHookService, u.BuildIntakeService},
		Builds:         u.BuildService,
		BuildCalls:     buildCalls{u.BuildIntakeService, u.BuildAccessService},
		Hooks:          u.WebhookService,
		Notices:        u.DashboardService,
		Chats:          chats{u.ChatChannelService, u.ChatWorkspaceService},
		Resources:      u.ResourceService,
		Versions:       u.ResourceService,
		Secrets:        u.SecretService,
		Metering:       u,
	}
	c.Keys, c.Texts, c.Rules = SecurityKeys(), catalog.Texts{}, spec.RuleTexts{}
	return portal.New(c)
}
