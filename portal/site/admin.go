package site

import (
	"cmp"
	"net/http"
	"strings"

	"muster/portal/page"
)

// sections are the pages for those who look after a tenant or the installation; who may see which is the table's to say.
func sections() []page.Section {
	return []page.Section{
		{Path: "/queue", Name: "Queue", Text: "What waits in this tenant, and why.",
			Group: page.GroupMoney, UseCase: "Queue"},
		{Path: "/admin/catalog", Name: "Catalog", Text: "Templates, services, images, hardware and providers: the installation's, and your own.",
			Group: page.GroupCatalog, UseCase: "CatalogItems"},
		{Path: "/admin/policies", Name: "Policies", Text: "Which requests are refused, changed, or wait for approval.",
			Group: page.GroupPeople, UseCase: "PolicyList"},
		{Path: "/admin/sharing", Name: "Sharing", Text: "Who can see new clusters.",
			Group: page.GroupPeople, UseCase: "SetDefaultVisibility"},
		{Path: "/admin/hooks", Name: "Hooks", Text: "Where notices are sent to: chats, mail, programs of your own.",
			Group: page.GroupConnections, UseCase: "SaveHook"},
		{Path: "/admin/builds", Name: "Builds", Text: "Where build systems tell of their builds, and which cluster each gets.",
			Group: page.GroupConnections, UseCase: "BuildHooks"},
		{Path: "/admin/slack", Name: "Slack", Text: "Workspaces, channels, and where requests are approved.",
			Group: page.GroupConnections, UseCase: "ChatHouse"},
		{Path: "/admin/quotas", Name: "Quotas", Text: "What tenant, groups and users may have at most, and how much they do.",
			Group: page.GroupMoney, UseCase: "Quotas"},
		{Path: "/usage", Name: "Usage", Text: "Node hours and cost, by user, template, provider and time.",
			Group: page.GroupMoney, UseCase: "Quotas"},
		{Path: "/admin/pools", Name: "Pools", Text: "Machines that are made ahead of time, so that clusters come at once.",
			Group: page.GroupMoney, UseCase: "Pools"},
		{Path: "/orphans", Name: "Orphans", Text: "Orphaned machines, with age and cost.",
			Group: page.GroupMoney, UseCase: "Orphans"},
		{Path: "/provisioners", Name: "Provisioners", Text: "Who carries out the work, with which slots for whom.",
			Group: page.GroupInstallation, UseCase: "Provisioners"},
		{Path: "/admin/queues", Name: "All queues", Text: "What waits in which tenant, why, since when, and what would help.",
			Group: page.GroupInstallation, UseCase: "Queues"},
		{Path: "/admin/provider-health", Name: "Provider health", Text: "How calls to accounts end, and what their rates leave.",
			Group: page.GroupInstallation, UseCase: "ProviderHealth"},
		{Path: "/admin/settings", Name: "Settings", Text: "What the server was told, and what it leans on.",
			Group: page.GroupInstallation, UseCase: "Settings"},
		{Path: "/admin/users", Name: "Users", Text: "Who works in this tenant, and as what.",
			Group: page.GroupPeople, UseCase: "Users"},
		{Path: "/admin/groups", Name: "Groups", Text: "Whom policies, approvals and quotas name.",
			Group: page.GroupPeople, UseCase: "Groups"},
		{Path: "/admin/tokens", Name: "API tokens", Text: "With what programs act here.",
			Group: page.GroupPeople, UseCase: "CreateRobotToken"},
		{Path: "/admin/tenants", Name: "Tenants", Text: "The parts of the installation, with clusters, slots and users.",
			Group: page.GroupInstallation, UseCase: "Tenants"},
		{Path: "/admin/resources", Name: "Resources", Text: "Archives and files that automators bring to nodes, in versions.",
			Group: page.GroupCatalog, UseCase: "Resources"},
		{Path: "/admin/secrets", Name: "Secrets", Text: "Values that catalogs refer to, and nobody reads back.",
			Group: page.GroupCatalog, UseCase: "Secrets"},
		{Path: "/admin/audit", Name: "Audit", Text: "Who did what, when and from where.",
			Group: page.GroupPeople, UseCase: "Audit"},
	}
}

// AdminFrame is frame for the pages of sections: with the navigation of all sections beside the page, and that one marked which
// the address belongs to. Where there is no room for it, the crumbs of the page lead back to all of them.
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
