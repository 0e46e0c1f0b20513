package portal

import (
	"net/http"
	"slices"

	"muster/portal/activity"
	"muster/portal/audit"
	"muster/portal/build"
	"muster/portal/bulk"
	"muster/portal/catalog"
	"muster/portal/chat"
	"muster/portal/cluster"
	"muster/portal/docs"
	"muster/portal/execution"
	"muster/portal/fleet"
	"muster/portal/health"
	"muster/portal/home"
	"muster/portal/identity"
	"muster/portal/idle"
	"muster/portal/image"
	"muster/portal/lock"
	"muster/portal/node"
	"muster/portal/nodefile"
	"muster/portal/notification"
	"muster/portal/operation"
	"muster/portal/output"
	"muster/portal/policy"
	"muster/portal/pool"
	"muster/portal/port"
	"muster/portal/providervalue"
	"muster/portal/quarantine"
	"muster/portal/quota"
	"muster/portal/resource"
	"muster/portal/run"
	"muster/portal/scaling"
	"muster/portal/sharing"
	"muster/portal/site"
	"muster/portal/static"
	"muster/portal/template"
	"muster/portal/terminal"
	"muster/portal/volume"
	"muster/portal/webhook"
	"muster/portal/window"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

// pages are the pages of all nouns.
func (p *Portal) pages() []site.Route {
	return slices.Concat(
		[]site.Route{site.Show("/live", p.live.stream).Stream()},
		identity.Routes(p.identity),
		home.Routes(p.home),
		docs.Routes(p.docs),
		template.Routes(p.template),
		bulk.Routes(p.bulk),
		activity.Routes(p.activity),
		cluster.Routes(p.cluster),
		node.Routes(p.node),
		terminal.Routes(p.terminal),
		nodefile.Routes(p.nodefile),
		port.Routes(p.port),
		operation.Routes(p.operation),
		execution.Routes(p.execution),
		health.Routes(p.health),
		idle.Routes(p.idle),
		policy.Routes(p.policy),
		webhook.Routes(p.webhook),
		notification.Routes(p.notification),
		build.Routes(p.build),
		chat.Routes(p.chat),
		quota.Routes(p.quota),
		audit.Routes(p.audit),
		resource.Routes(p.resource),
		fleet.Routes(p.fleet),
		pool.Routes(p.pool),
		volume.Routes(p.volume),
		image.Routes(p.image),
		window.Routes(p.window),
		run.Routes(p.run),
		scaling.Routes(p.scaling),
		sharing.Routes(p.sharing),
		lock.Routes(p.lock),
		output.Routes(p.output),
		providervalue.Routes(p.value),
		quarantine.Routes(p.kept),
	)
}

// catalogPages are the catalog's pages, with larger forms.
func (p *Portal) catalogPages() []site.Route {
	return slices.Concat(catalog.Routes(p.catalog), fleet.AccountRoutes(p.fleet))
}

// operations are the REST operations of all nouns.
func (p *Portal) operations() []site.Operation {
	return slices.Concat(
		template.Operations(p.template),
		catalog.Operations(p.catalog),
		bulk.Operations(p.bulk),
		activity.Operations(p.activity),
		cluster.Operations(p.cluster),
		node.Operations(p.node),
		terminal.Operations(p.terminal),
		operation.Operations(p.operation),
		health.Operations(p.health),
		idle.Operations(p.idle),
		execution.Operations(p.execution),
		policy.Operations(p.policy),
		pool.Operations(p.pool),
		volume.Operations(p.volume),
		image.Operations(p.image),
		quarantine.Operations(p.kept),
		fleet.Operations(p.fleet),
		quota.Operations(p.quota),
		identity.Operations(p.identity),
		webhook.Operations(p.webhook),
		notification.Operations(p.notification),
		audit.Operations(p.audit),
		build.Operations(p.build),
		resource.Operations(p.resource),
		chat.Operations(p.chat),
		window.Operations(p.window),
		run.Operations(p.run),
		scaling.Operations(p.scaling),
		sharing.Operations(p.sharing),
		lock.Operations(p.lock),
		output.Operations(p.output),
		providervalue.Operations(p.value),
	)
}

// routes is the site map: all routes of the portal.
func (p *Portal) routes() http.Handler {
	r := chi.NewRouter()
	r.Use(p.rescue, p.watched, p.access, p.headers, p.sameOrigin, middleware.GetHead)

	// Files
	r.With(timeout(site.RequestTime)).Handle(static.Prefix+"*", static.Handler())

	// For build systems and their builds
	p.register(r, build.CallRoutes(p.build))

	// For monitoring
	r.With(timeout(site.RequestTime)).Get(metricsPath, p.metricsShow)

	// For reporters of vulnerabilities. It shows error pages, so it needs a session.
	r.With(p.Sessions.LoadAndSave, timeout(site.RequestTime)).Get(securityPath, p.securityShow)

	// For people
	r.Group(func(r chi.Router) {
		r.Use(p.resource.LimitUnless(site.FormLimit, func(r *http.Request) bool { return resource.Uploads(r) || nodefile.Uploads(r) }), p.Sessions.LoadAndSave)
		p.register(r, p.pages())
		r.NotFound(programsApart(p.apiNotFound, p.serve(site.ShowAll("", p.notFound))))
		r.MethodNotAllowed(programsApart(p.apiNotAllowed, p.serve(site.ShowAll("", p.notAllowed))))
	})
	r.Group(func(r chi.Router) {
		r.Use(p.Limit(catalog.Limit), p.Sessions.LoadAndSave)
		p.register(r, p.catalogPages())
	})

	// For programs
	r.Route(site.APIPath, p.apiRoutes)
	return r
}

// apiRoutes is the site map for programs.
func (p *Portal) apiRoutes(r chi.Router) {
	r.Use(p.resource.LimitUnless(site.APILimit, resource.Uploads))
	api := p.newAPI(r)
	p.api, p.document = r, api.OpenAPI()
	r.Get("/openapi.json", site.ServeOpenAPI(p.document))
	for _, o := range p.operations() {
		register(api, o)
	}
	r.NotFound(p.apiNotFound)
	r.MethodNotAllowed(p.apiNotAllowed)
}

func (p *Portal) register(r chi.Router, all []site.Route) {
	for _, x := range all {
		r.MethodFunc(x.Method, x.Pattern, p.serve(x))
	}
}

// serve is a route's handler. It's called in a loop: inlined for each of about 200 routes, it took the compiler 2 of the package's
// 10 seconds.
func (p *Portal) serve(x site.Route) http.HandlerFunc {
	h := x.Plain
	switch {
	case x.Plain != nil:
		return h
	case x.Page != nil:
		h = p.page(x.Page)
	case x.Time == 0:
		return p.member(p.live.attended(x.Member))
	case x.Who == site.Newcomers:
		h = p.newcomer(x.Member)
	case x.Who == site.Adders:
		h = p.adder(x.Member)
	default:
		h = p.member(x.Member)
	}
	return site.Within(x.Time, h)
}
