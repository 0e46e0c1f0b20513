package site

import (
	"cmp"
	"net/http"
	"strings"

	"muster/portal/page"
)

// sections are the pages for those who look after a tenant or the installation; who may see which is the table's to say.
func (p *Site) sections() []page.Section {
	all := []page.Section{
		{Path: "/queue", Name: "Queue", Text: "What waits in this tenant, and why.", Group: page.GroupMoney, UseCase: "Queue"},
	}
	if p.Cataloging() != nil {
		all = append(all, page.Section{Path: "/admin/catalog", Name: "Catalog", Text: "Templates, services, images, hardware and providers: the installation's, and your own.",
			Group: page.GroupCatalog, UseCase: "CatalogItems"})
	}
	if p.Ruling() != nil {
		all = append(all, page.Section{Path: "/admin/policies", Name: "Policies", Text: "Which requests are refused, changed, or wait for approval.",
			Group: page.GroupPeople, UseCase: "PolicyList"})
	}
	if p.Sharing() != nil {
		all = append(all, page.Section{Path: "/admin/sharing", Name: "Sharing", Text: "Who can see new clusters.", Group: page.GroupPeople, UseCase: "SetDefaultVisibility"})
	}
	if p.Hooking() != nil {
		all = append(all, page.Section{Path: "/admin/hooks", Name: "Hooks", Text: "Where notices are sent to: chats, mail, programs of your own.",
			Group: page.GroupConnections, UseCase: "SaveHook"})
	}
	if p.Building() != nil && p.Rules != nil {
		all = append(all, page.Section{Path: "/admin/builds", Name: "Builds", Text: "Where build systems tell of their builds, and which cluster each gets.",
			Group: page.GroupConnections, UseCase: "BuildHooks"})
	}
	if p.Chatting() != nil {
		all = append(all, page.Section{Path: "/admin/slack", Name: "Slack", Text: "Workspaces, channels, and where requests are approved.",
			Group: page.GroupConnections, UseCase: "ChatHouse"})
	}
	if p.Money() != nil {
		all = append(all,
			page.Section{Path: "/admin/quotas", Name: "Quotas", Text: "What tenant, groups and users may have at most, and how much they do.",
				Group: page.GroupMoney, UseCase: "Quotas"},
			page.Section{Path: "/usage", Name: "Usage", Text: "Node hours and cost, by user, template, provider and time.", Group: page.GroupMoney, UseCase: "Quotas"})
	}
	if p.Pooling() != nil {
		all = append(all, page.Section{Path: "/admin/pools", Name: "Pools", Text: "Machines that are made ahead of time, so that clusters come at once.",
			Group: page.GroupMoney, UseCase: "Pools"})
	}
	if p.Machines() != nil {
		all = append(all, page.Section{Path: "/orphans", Name: "Orphans", Text: "Orphaned machines, with age and cost.",
			Group: page.GroupMoney, UseCase: "Orphans"})
	}
	if _, ok := p.Muster.(Provisioning); ok {
		all = append(all, page.Section{Path: "/provisioners", Name: "Provisioners", Text: "Who carries out the work, with which slots for whom.",
			Group: page.GroupInstallation, UseCase: "Provisioners"})
	}
	if p.Installation() != nil {
		all = append(all,
			page.Section{Path: "/admin/queues", Name: "All queues", Text: "What waits in which tenant, why, since when, and what would help.",
				Group: page.GroupInstallation, UseCase: "Queues"},
			page.Section{Path: "/admin/provider-health", Name: "Provider health", Text: "How calls to accounts end, and what their rates leave.",
				Group: page.GroupInstallation, UseCase: "ProviderHealth"},
			page.Section{Path: "/admin/settings", Name: "Settings", Text: "What the server was told, and what it leans on.",
				Group: page.GroupInstallation, UseCase: "Settings"})
	}
	if p.People() != nil {
		all = append(all,
			page.Section{Path: "/admin/users", Name: "Users", Text: "Who works in this tenant, and as what.", Group: page.GroupPeople, UseCase: "Users"},
			page.Section{Path: "/admin/groups", Name: "Groups", Text: "Whom policies, approvals and quotas name.", Group: page.GroupPeople, UseCase: "Groups"},
			page.Section{Path: "/admin/tokens", Name: "API tokens", Text: "With what programs act here.", Group: page.GroupPeople, UseCase: "CreateRobotToken"})
	}
	if p.Tenancy() != nil {
		all = append(all, page.Section{Path: "/admin/tenants", Name: "Tenants", Text: "The parts of the installation, with clusters, slots and users.",
			Group: page.GroupInstallation, UseCase: "Tenants"})
	}
	if p.Resourcing() != nil {
		all = append(all, page.Section{Path: "/admin/resources", Name: "Resources", Text: "Archives and files that automators bring to nodes, in versions.",
			Group: page.GroupCatalog, UseCase: "Resources"})
	}
	if p.Secreting() != nil {
		all = append(all, page.Section{Path: "/admin/secrets", Name: "Secrets", Text: "Values that catalogs refer to, and nobody reads back.",
			Group: page.GroupCatalog, UseCase: "Secrets"})
	}
	if p.Auditing() != nil {
		all = append(all, page.Section{Path: "/admin/audit", Name: "Audit", Text: "Who did what, when and from where.",
			Group: page.GroupPeople, UseCase: "Audit"})
	}
	return all
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
