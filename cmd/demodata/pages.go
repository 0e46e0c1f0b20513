package demodata

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/notification"
)

// Page is a page of the portal with something on it.
type Page struct{ Pattern, Address string }

// OnMachine reports whether a page shows what is on a machine. It answers with an error after a while: the demo data's machines don't exist.
func (p Page) OnMachine() bool { return strings.HasSuffix(p.Pattern, "/nodes/{node}/files") }

var parameter = regexp.MustCompile(`([a-z-]*)/\{([a-z_]+)(:[^}]*)?\}`)

// withoutData are what patterns begin with whose pages the demo data has nothing for. They're opened with "none", which most answer as not found.
var withoutData = []string{
	"/account/second-factor/{act:", "/requests/{request}/{act:", // these lead back
	"/admin/catalog/{kind:template|service|image|hardware|provider}/{name}/revert/", // entries have one version
	"/admin/resources/{resource}", "/signin/{provider}", "/terminals/{terminal}",
}

// Pages returns every page that people open, with something on it: the route table, filled in. What is downloaded, followed live, or leads
// elsewhere is no page.
func (h *Instance) Pages(ctx context.Context) ([]Page, error) {
	known, err := h.known(ctx)
	if err != nil {
		return nil, err
	}
	var all []Page
	var unknown []string
	for _, r := range h.Portal.Routes() {
		if r.Method != http.MethodGet || strings.HasPrefix(r.Pattern, "/api/") || strings.HasPrefix(r.Pattern, "/step-up") || strings.HasPrefix(r.Pattern, "/slack/") ||
			strings.HasPrefix(r.Pattern, "/hooks/") || strings.HasPrefix(r.Pattern, "/ports/") || r.Pattern == "/metrics" || strings.HasPrefix(r.Pattern, "/.well-known/") || // for programs
			slices.Contains([]string{"/link", "/account/password", "/clusters/preview", "/admin/policies/try"}, r.Pattern) ||
			slices.Contains([]string{"live", "key", "export", "spec", "extend", "download", "stream", "recording"}, path.Base(r.Pattern)) {
			continue
		}
		p := Page{r.Pattern, parameter.ReplaceAllStringFunc(r.Pattern, func(m string) string {
			parts := parameter.FindStringSubmatch(m)
			if v := known[r.Pattern+" "+parts[2]]; v != "" {
				return parts[1] + "/" + v
			}
			v := cmp.Or(known[parts[1]], known[parts[2]])
			switch {
			case v != "":
			case slices.ContainsFunc(withoutData, func(start string) bool { return strings.HasPrefix(r.Pattern, start) }):
				v = "none"
			default:
				unknown = append(unknown, "{"+parts[2]+"} of "+r.Pattern)
			}
			return parts[1] + "/" + v
		})}
		p.Address += known[r.Pattern+"?"]
		all = append(all, p)
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("the demo data has no value for %s: add one to known in cmd/demodata/pages.go", strings.Join(unknown, ", "))
	}
	return all, nil
}

// known returns values for the parameters of routes: by name, or by pattern and name, or, with ?, what comes behind the path.
func (h *Instance) known(ctx context.Context) (map[string]string, error) {
	boss := h.actor(Admin)
	k := map[string]string{"template": "web-shop", "user": user, "policy": "big-clusters", "hook": "on-call", "pool": "runners", "tenants": "research", "group": "shop", "kind": "template", "name": "web-shop",
		"family": "automator", "type": "shell",
		"/docs/{page} page": "terminals", "/docs/{folder}/{page} folder": "start", "/docs/{folder}/{page} page": "cluster",
		"node": "n1", "/admin/catalog/provider/{name}/check name": "frankfurt", "/admin/catalog/provider/{name}/offers name": "frankfurt",
		"/clusters/{id}/{power:sleep|wake} power": "sleep", "/admin/webhooks/{hook}/deliveries/{delivery} hook": "chargeback"}
	for name, patterns := range map[string][]string{
		"payments":       {"id"},
		"checkout-fix":   {"/clusters/{id}/accept-partial id", "/clusters/{id}/roll-back id"},
		"demo-for-sales": {"/clusters/{id}/cancel id", "/clusters/{id}/waiting id", "/clusters/{id} id"},
		"staging":        {"/clusters/{id}/receipt id"},
		"integration":    {"other"},
		"gift-cards":     {"gift-cards"},
		"wishlist":       {"wishlist"},
		"search-tuning":  {"search-tuning"},
	} {
		list, err := h.Services.Cluster.Views.Clusters(ctx, boss, app.ClusterFilter{Deleted: true, Name: name})
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			for _, p := range patterns {
				k[p] = c.ID
			}
		}
	}
	v, err := h.Services.Cluster.Views.Cluster(ctx, boss, k["id"])
	if err != nil {
		return nil, err
	}
	k["operation"] = number(v.Operations[0].ID)
	k["/clusters/{id}/diff?"] = "?with=" + k["other"]
	k["/clusters/{id}/clone?"], k["/clusters/{id}/change?"] = "?name=payments-2", "?kind=resize&size=8"
	requests, err := h.Services.Operation.Requests.Requests(ctx, h.actor(approver), cluster.RequestFilter{View: cluster.RequestsInbox, Limit: 1})
	if err != nil {
		return nil, err
	}
	for _, r := range requests {
		k["request"] = number(r.ID)
	}
	mine, err := h.Services.Notification.Notifications(ctx, boss, notification.Query{Limit: 1})
	if err != nil {
		return nil, err
	}
	for _, n := range mine {
		k["notification"] = number(n.ID)
	}
	deliveries, err := h.Services.Webhook.HookDeliveries(ctx, boss, "chargeback", 0, 1)
	if err != nil {
		return nil, err
	}
	for _, d := range deliveries {
		k["delivery"] = number(d.ID)
	}
	taken, err := h.Services.Build.Intake.BuildDeliveries(ctx, boss, buildHook, 0, 1)
	if err != nil {
		return nil, err
	}
	for _, d := range taken {
		k["/admin/builds/{hook}/deliveries/{delivery} delivery"] = number(d.ID)
	}
	provisioners, err := h.Services.Fleet.Provisioners.Provisioners(ctx, h.actor(Operator))
	if err != nil {
		return nil, err
	}
	for _, p := range provisioners {
		k["provisioner"] = p.ID
	}
	for _, at := range []string{"", "/delete", "/deliveries/{delivery}"} {
		k["/admin/builds/{hook}"+at+" hook"] = buildHook
	}
	return k, nil
}
