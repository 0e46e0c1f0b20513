package faces

import (
	"muster/app/all"
	"muster/portal/site"
)

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
	healths struct {
		*all.HealthService
		*all.FactService
	}
	accounts struct {
		*all.SessionService
		*all.PasswordService
		*all.StepUpService
		*all.LinkService
	}
)

// Portal returns what the portal asks for.
func Portal(u *all.App) site.UseCases {
	return site.UseCases{
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
		Health:         healths{u.HealthService, u.FactService},
		Questions:      u.QuestionService,
		Queues:         u.WaitService,
		Policies:       u.PolicyService,
		Quotas:         u.QuotaService,
		Usage:          u.UsageService,
		Installation:   u.InstallationService,
		Provisioners:   u.ProvisionerService,
		Machines:       u.MachineService,
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
}
