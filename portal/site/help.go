package site

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
)

// help leads from pages to the documentation about them, by the beginning of their routes. The longest one counts.
var help = map[string]string{
	"/":                                 "",
	"/docs":                             "",
	"/search":                           "portal",
	"/live":                             "portal#cluster-pages",
	"/account":                          "sign-in",
	"/account/notifications":            "notifications#your-notifications",
	"/account/password":                 "sign-in#passwords",
	"/account/second-factor":            "sign-in#second-factors",
	"/account/tokens":                   "people#api-tokens",
	"/notifications":                    "notifications#your-notifications",
	"/signout":                          "sign-in#sessions",
	"/tenant":                           "people#tenants",
	"/device":                           "cli#sign-in",
	"/snapshots":                        "volumes#snapshots",
	"/signin":                           "sign-in",
	"/step-up":                          "sign-in#re-authentication",
	"/link":                             "slack#link-your-account",
	"/home":                             "money#usage",
	"/usage":                            "money#usage",
	"/templates":                        "templates",
	"/requests":                         "policies#approvals",
	"/manual-steps":                     "manual-steps#where-to-answer",
	"/ports":                            "connecting#web-pages-of-nodes",
	"/slack":                            "slack#set-it-up",
	"/clusters":                         "operations",
	"/clusters/new":                     "start/cluster",
	"/clusters/preview":                 "start/cluster",
	"/clusters/{id}":                    "portal#cluster-pages",
	"/clusters/{id}/accept-partial":     "partial-results",
	"/activity":                         "portal#activity",
	"/clusters/{id}/access":             "secrets#ssh-access",
	"/clusters/{id}/actions":            "actions",
	"/clusters/{id}/answers":            "manual-steps#where-to-answer",
	"/clusters/{id}/cancel":             "operations#when-an-operation-fails",
	"/clusters/{id}/change":             "operations",
	"/clusters/{id}/checks":             "health",
	"/clusters/{id}/clone":              "life",
	"/clusters/{id}/delete":             "operations",
	"/clusters/{id}/diff":               "life",
	"/clusters/{id}/extend":             "money#leases",
	"/clusters/{id}/health":             "health",
	"/clusters/{id}/idle":               "idle",
	"/clusters/{id}/key":                "secrets#ssh-access",
	"/clusters/{id}/maintenance":        "maintenance",
	"/clusters/{id}/manage":             "life",
	"/clusters/bulk":                    "portal#several-clusters-at-once",
	"/clusters/{id}/nodes":              "terminals",
	"/clusters/{id}/nodes/{node}/files": "files",
	"/clusters/{id}/operations":         "operations#when-an-operation-fails",
	"/clusters/{id}/outputs":            "outputs",
	"/clusters/{id}/plan":               "operations#how-muster-plans-a-change",
	"/clusters/{id}/provider-values":    "provider-values#show-and-replace-values",
	"/clusters/{id}/roll-back":          "operations#when-an-operation-fails",
	"/clusters/{id}/runs":               "actions#run-a-command",
	"/clusters/{id}/scaling":            "scaling",
	"/clusters/{id}/locks":              "terminals#locks",
	"/clusters/{id}/sharing":            "sharing",
	"/clusters/{id}/spec":               "operations#cluster-definition",
	"/clusters/{id}/waiting":            "engine#wait-reasons",
	"/admin":                            "start/tenant-admin",
	"/admin/audit":                      "secrets#audit-log",
	"/admin/builds":                     "builds#manage-build-hooks",
	"/admin/catalog":                    "portal#catalog-editor",
	"/admin/catalog/types":              "catalog#provider",
	"/admin/groups":                     "people",
	"/admin/idle":                       "idle#for-all-clusters-of-a-tenant",
	"/admin/images":                     "baked-images",
	"/kept-machines":                    "kept-machines",
	"/admin/locks":                      "terminals#locks",
	"/admin/maintenance":                "maintenance",
	"/nodes":                            "portal#for-operators",
	"/orphans":                          "runbooks#orphaned-machines",
	"/admin/policies":                   "policies",
	"/admin/policies/try":               "policies#try-a-policy",
	"/admin/pools":                      "pools",
	"/admin/provider-health":            "providers#out-of-capacity",
	"/provisioners":                     "engine#provisioners-and-workers",
	"/queue":                            "engine#fairness",
	"/admin/queues":                     "engine#fairness",
	"/admin/quotas":                     "money#quotas-and-budgets",
	"/admin/resources":                  "resources",
	"/admin/secrets":                    "secrets#tenant-secrets",
	"/admin/settings":                   "tenant-settings",
	"/admin/sharing":                    "sharing#default-visibility",
	"/admin/slack":                      "slack",
	"/admin/tenants":                    "people#tenants",
	"/terminals":                        "terminals#recordings",
	"/admin/tokens":                     "people#api-tokens",
	"/admin/users":                      "people#users",
	"/volumes":                          "volumes#kept-volumes",
	"/admin/webhooks":                   "notifications#webhooks",
}

// HelpFor is the address of the documentation about a route's page. key is what the map has for it, "" where it has nothing.
func HelpFor(pattern string) (address, key string) {
	for key = pattern; key != ""; key = key[:strings.LastIndexByte(key, '/')] {
		if to, ok := help[key]; ok {
			return strings.TrimSuffix("/docs/"+to, "/"), key
		}
	}
	return "/docs", ""
}

// helpAt is the documentation about a request's page.
func helpAt(r *http.Request) string {
	var pattern string
	if c := chi.RouteContext(r.Context()); c != nil {
		pattern = c.RoutePattern()
	}
	address, _ := HelpFor(pattern)
	return address
}

// HelpKeys are the beginnings of routes that have documentation.
func HelpKeys() (all []string) {
	for key := range help {
		all = append(all, key)
	}
	return all
}
