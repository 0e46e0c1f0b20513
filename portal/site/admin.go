package site

import (
	"cmp"
	"net/http"
	"strings"

	"muster/portal/page"
)

// sections are the admin pages.
func sections() []page.Section {
	return []page.Section{
		{Path: "/queue", Name: "Queue", Text: "What's waiting in this tenant, and why.",
			Group: page.GroupMoney, UseCase: "Queue"},
		{Path: "/admin/catalog", Name: "Catalog", Text: "Templates, services, images, hardware and providers.",
			Group: page.GroupCatalog, UseCase: "CatalogItems"},
		{Path: "/admin/policies", Name: "Policies", Text: "Rules that reject or change requests, or require approval.",
			Group: page.GroupPeople, UseCase: "PolicyList"},
		{Path: "/admin/maintenance", Name: "Maintenance", Text: "When upgrades, repairs and approved changes can start.",
			Group: page.GroupPeople, UseCase: "SetMaintenanceWindows"},
		{Path: "/terminals", Name: "Terminals", Text: "Terminals on nodes: who has opened which, recordings and settings.",
			Group: page.GroupPeople, UseCase: "SetTerminalSettings"},
		{Path: "/admin/locks", Name: "Locks", Text: "Clusters and nodes that only admins can use.",
			Group: page.GroupPeople, UseCase: "Locks"},
		{Path: "/admin/sharing", Name: "Sharing", Text: "Default visibility of new clusters.",
			Group: page.GroupPeople, UseCase: "SetDefaultVisibility"},
		{Path: "/admin/webhooks", Name: "Webhooks", Text: "Notifications for chat, email and your own programs, and operation hooks.",
			Group: page.GroupConnections, UseCase: "SaveHook"},
		{Path: "/admin/builds", Name: "Builds", Text: "Clusters for builds from your CI systems.",
			Group: page.GroupConnections, UseCase: "BuildHooks"},
		{Path: "/admin/slack", Name: "Slack", Text: "Workspaces, channels and approvals.",
			Group: page.GroupConnections, UseCase: "ChatSettings"},
		{Path: "/admin/idle", Name: "Idle clusters", Text: "When clusters that no one uses go to sleep or are deleted.",
			Group: page.GroupMoney, UseCase: "SetIdlePolicy"},
		{Path: "/admin/quotas", Name: "Quotas", Text: "Limits for the tenant, groups and users, with current usage.",
			Group: page.GroupMoney, UseCase: "Quotas"},
		{Path: "/usage", Name: "Usage", Text: "Node hours and cost by user, template, provider and time.",
			Group: page.GroupMoney, UseCase: "Quotas"},
		{Path: "/admin/pools", Name: "Pools", Text: "Machines kept ready so that clusters start faster.",
			Group: page.GroupMoney, UseCase: "Pools"},
		{Path: "/admin/images", Name: "Baked images", Text: "Images with services installed, so that new clusters skip these installs.",
			Group: page.GroupMoney, UseCase: "Images"},
		{Path: "/orphans", Name: "Orphaned machines", Text: "Machines that belong to no cluster, with age and cost.",
			Group: page.GroupMoney, UseCase: "Orphans"},
		{Path: "/provisioners", Name: "Provisioners", Text: "Processes that run workers, with their slots per tenant.",
			Group: page.GroupInstallation, UseCase: "Provisioners"},
		{Path: "/admin/queues", Name: "All queues", Text: "What's waiting in each tenant, why, and for how long.",
			Group: page.GroupInstallation, UseCase: "Queues"},
		{Path: "/admin/provider-health", Name: "Provider health", Text: "API errors and remaining rate limits.",
			Group: page.GroupInstallation, UseCase: "ProviderHealth"},
		{Path: "/admin/settings", Name: "Settings", Text: "Server configuration and the services it depends on.",
			Group: page.GroupInstallation, UseCase: "Settings"},
		{Path: "/admin/users", Name: "Users", Text: "Accounts of this tenant and their roles.",
			Group: page.GroupPeople, UseCase: "Users"},
		{Path: "/admin/groups", Name: "Groups", Text: "Groups of users for policies, approvals, quotas and sharing.",
			Group: page.GroupPeople, UseCase: "Groups"},
		{Path: "/admin/tokens", Name: "API tokens", Text: "Credentials for programs.",
			Group: page.GroupPeople, UseCase: "CreateRobotToken"},
		{Path: "/admin/tenants", Name: "Tenants", Text: "Tenants of this installation, with their clusters, slots and users.",
			Group: page.GroupInstallation, UseCase: "Tenants"},
		{Path: "/admin/resources", Name: "Resources", Text: "Versioned archives and files for automators and providers.",
			Group: page.GroupCatalog, UseCase: "Resources"},
		{Path: "/admin/secrets", Name: "Secrets", Text: "Write-only values that the catalog refers to.",
			Group: page.GroupCatalog, UseCase: "Secrets"},
		{Path: "/admin/audit", Name: "Audit", Text: "Who did what, when and from where.",
			Group: page.GroupPeople, UseCase: "Audit"},
	}
}

// AdminFrame is Frame for admin pages: with the side navigation, and the current section marked.
func (p *Site) AdminFrame(r *http.Request, title string) page.Frame {
	f := p.Frame(r, title)
	f.At = "admin"
	for _, s := range f.All {
		if at := r.URL.Path; (at == s.Path || strings.HasPrefix(at, s.Path+"/")) && len(s.Path) > len(f.Side) {
			f.Side = s.Path
		}
	}
	f.Side = cmp.Or(f.Side, "/admin")
	return f
}
