package faces

import (
	"muster/app/all"
	"muster/app/build"
	"muster/app/chat"
	"muster/app/execution"
	"muster/app/identity"
	"muster/portal/site"
)

// What a part of the portal takes from several parts of a domain.
type (
	signIns struct {
		*identity.SignIns
		*identity.Sessions
		*identity.Tokens
	}
	buildHooks struct {
		*build.Hooks
		*build.Intake
	}
	buildCalls struct {
		*build.Intake
		*build.Access
	}
	chats struct {
		*chat.Channels
		*chat.Workspaces
	}
	checks  = execution.Health // under a name beside which its method Health is promoted
	healths struct {
		*checks
		*execution.Facts
	}
	sessions = identity.Sessions // likewise for its method Sessions
	accounts struct {
		*sessions
		*identity.Passwords
		*identity.StepUps
		*identity.Links
	}
)

// Portal returns what the portal asks for.
func Portal(u *all.Services) site.UseCases {
	return site.UseCases{
		SignIns:        signIns{u.Identity.SignIns, u.Identity.Sessions, u.Identity.Tokens},
		Accounts:       accounts{u.Identity.Sessions, u.Identity.Passwords, u.Identity.StepUps, u.Identity.Links},
		Factors:        u.Identity.Factors,
		Emails:         u.Identity.Emails,
		Users:          u.Identity.Users,
		Groups:         u.Identity.Groups,
		Tokens:         u.Identity.Tokens,
		Devices:        u.Identity.Devices,
		Tenants:        u.Identity.Tenants,
		TenantSettings: u.Settings,
		Audit:          u.Identity.AuditLog,
		Clusters:       u.Cluster.Views,
		Dashboard:      u.Cluster.Dashboard,
		Deletes:        u.Cluster.Deletes,
		Bulk:           u.Bulk,
		Activity:       u.Cluster.Feed,
		Ownership:      u.Ownership,
		Labels:         u.Label,
		ClusterAccess:  u.SSHAccess,
		Terminals:      u.Terminal,
		Ports:          u.Port,
		NodeAccess:     u.NodeAccess,
		NodeFiles:      u.NodeFiles,
		Creates:        u.Place,
		Specs:          u.Cluster.Specs,
		Sharing:        u.Cluster.Sharing,
		Locks:          u.Cluster.Locks,
		Nodes:          u.Node,
		Feed:           u.Cluster.Activity,
		Repeats:        u.Repeats,
		Catalogs:       u.Catalog,
		Trials:         u.Cluster.Trials,
		Templates:      u.Catalog,
		Operations:     u.Operation.Controls,
		RollBacks:      u.Operation.RollBacks,
		Partials:       u.Operation.Partials,
		Kept:           u.Quarantine.Machines,
		Backfills:      u.Operation.Backfills,
		Drifts:         u.Operation.Drifts,
		Updates:        u.Operation.Updates,
		Runs:           u.Run,
		Sleeping:       u.Operation.Sleeping,
		Schedules:      u.Operation.Schedules,
		Windows:        u.Window,
		Values:         u.Values,
		Leases:         u.Lease.Leases,
		Idle:           u.Idle,
		Scaling:        u.Scaling,
		Outputs:        u.Outputs,
		Requests:       u.Operation.Requests,
		Health:         healths{u.Execution.Health, u.Execution.Facts},
		ManualSteps:    u.Execution.ManualSteps,
		Queues:         u.Execution.Waits,
		Policies:       u.Policy.Policies,
		Quotas:         u.Policy.Quotas,
		Usage:          u.Usage,
		Installation:   u.Fleet.Installation,
		Provisioners:   u.Fleet.Provisioners,
		Machines:       u.Fleet.Machines,
		Plugins:        u.Plugin,
		Pools:          u.Pool.Pools,
		Volumes:        u.Volume,
		Images:         u.Image.Images,
		BuildHooks:     buildHooks{u.Build.Hooks, u.Build.Intake},
		Builds:         u.Build.Builds,
		BuildCalls:     buildCalls{u.Build.Intake, u.Build.Access},
		Hooks:          u.Webhook,
		Notices:        u.Cluster.Dashboard,
		Notifications:  u.Notification,
		Chats:          chats{u.Chat.Channels, u.Chat.Workspaces},
		Resources:      u.Resource,
		Versions:       u.Resource,
		Secrets:        u.Secret,
		Metering:       u.Fleet.Installation,
	}
}
