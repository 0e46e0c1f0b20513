package portal

import (
	"net/http"

	"muster/app"
	"muster/app/identity"
	"muster/portal/catalog"
	"muster/portal/fleet"
	identitypage "muster/portal/identity"
	"muster/portal/resource"
	"muster/portal/site"
	"muster/portal/static"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

// routes is the site map: every address that the portal answers.
func (p *Portal) routes() http.Handler {
	r := chi.NewRouter()
	r.Use(p.rescue, p.watched, p.access, p.headers, p.sameOrigin, middleware.GetHead)

	// Files
	r.With(timeout(site.RequestTime)).Handle(static.Prefix+"*", static.Handler())

	// For build systems and their builds
	p.build.BuildRoutes(r)

	// For monitoring
	r.With(timeout(site.RequestTime)).Get(metricsPath, p.metricsShow)

	// For those who have found a vulnerability. It shows errors as pages do, so it needs their session.
	r.With(p.Sessions.LoadAndSave, timeout(site.RequestTime)).Get(securityPath, p.securityShow)

	// For people
	r.Group(func(r chi.Router) {
		r.Use(p.resource.LimitUnless(site.FormLimit, resource.Uploads), p.Sessions.LoadAndSave)
		stream := func(h site.MemberHandler) http.HandlerFunc { return p.member(p.attended(h)) }

		// Coming and going
		r.Get("/signin", p.pageSoon(p.identity.SignInShow))
		r.Post("/signin", p.pageSoon(p.identity.SignIn))
		r.Post("/signout", p.pageSoon(p.identity.SignOut))
		r.Get(identitypage.PendingPath, p.pageSoon(p.identity.PendingShow))
		r.Post(identitypage.PendingPath, p.pageSoon(p.identity.PendingFinish))
		r.Get("/signin/{provider}", p.pageSoon(p.identity.ProviderStart))
		r.Get("/signin/{provider}/callback", p.pageSoon(p.identity.ProviderBack))
		r.Get("/signin/{provider}/leave", p.pageSoon(p.identity.ProviderLeave))
		r.Get("/signin/tenant", p.pageSoon(p.identity.TenantAsk))
		r.Post("/signin/tenant", p.pageSoon(p.identity.TenantChoose))

		// One's own account
		r.Get("/account", p.memberSoon(p.identity.AccountShow))
		r.Get("/account/password", p.newcomerSoon(p.identity.PasswordAsk))
		r.Post("/account/password", p.newcomerSoon(p.identity.PasswordChange))
		r.Get(identitypage.FactorsPath, p.adderSoon(p.identity.FactorList))
		r.Get(identitypage.FactorsPath+"/app", p.adderSoon(p.identity.FactorApp))
		r.Post(identitypage.FactorsPath+"/app", p.adderSoon(p.identity.FactorAppConfirm))
		r.Post(identitypage.FactorsPath+"/key", p.adderSoon(p.identity.FactorKeyAdd))
		r.Get(identitypage.FactorsPath+"/key", redirect(identitypage.FactorsPath))
		r.Post(identitypage.FactorsPath+"/remove", p.adderSoon(p.identity.FactorRemove))
		r.Post(identitypage.FactorsPath+"/codes", p.adderSoon(p.identity.FactorCodes))
		r.Get(identitypage.FactorsPath+"/{act:remove|codes}", redirect(identitypage.FactorsPath))
		r.Post("/account/sign-ins/end", p.memberSoon(p.identity.SessionRevoke))
		r.Post("/account/sign-ins/end-all", p.memberSoon(p.identity.SessionRevokeAll))
		r.Post("/account/identities/remove", p.memberSoon(p.identity.Remove))

		r.Get("/admin/users/{user}/sign-ins", p.memberSoon(p.identity.UserSignIns))
		r.Post("/admin/users/{user}/sign-ins", p.memberSoon(p.identity.UserSignInEnd))
		r.Post("/admin/users/{user}/identities", p.memberSoon(p.identity.UserIdentityRemove))
		r.Get("/account/tokens/new", p.memberSoon(p.identity.TokenNew))
		r.Post("/account/tokens/new", p.memberSoon(p.identity.TokenMake))
		r.Post("/account/tokens/revoke", p.memberSoon(p.identity.TokenRevoke))
		r.Get("/step-up", p.adderSoon(p.identity.StepUpAsk))
		r.Post("/step-up", p.adderSoon(p.identity.StepUp))
		r.Get(identitypage.AfterProof, p.adderSoon(p.identity.StepUpContinue))
		r.Get("/step-up/{provider}", p.memberSoon(p.identity.StepUpAway))
		r.Get(identity.DevicePath, p.memberSoon(p.identity.DeviceAsk))
		r.Post(identity.DevicePath, p.memberSoon(p.identity.DeviceAnswer))
		r.Get("/link", p.memberSoon(p.identity.LinkAsk))
		r.Post("/link", p.memberSoon(p.identity.LinkConfirm))

		// Clusters
		r.Get("/", p.memberSoon(p.home.Home))
		r.Get("/live", stream(p.liveStream))
		r.Get("/home/cost", p.memberSoon(p.home.Cost))
		r.Get("/search", p.memberSoon(p.home.Search))
		r.Get("/clusters", p.memberSoon(p.cluster.List))
		r.Post("/clusters", p.memberSoon(p.cluster.Create))
		r.Get("/clusters/new", p.memberSoon(p.cluster.New))
		r.Get("/clusters/delete", p.memberSoon(p.cluster.ClustersDeleteAsk))
		r.Post("/clusters/delete", p.memberSoon(p.cluster.ClustersDelete))
		r.Post("/clusters/preview", p.memberSoon(p.cluster.Preview))
		r.Get("/clusters/preview", redirect("/clusters/new"))

		// Templates
		r.Get("/templates", p.memberSoon(p.template.List))
		r.Get("/templates/{template}", p.memberSoon(p.template.Show))

		// One cluster
		r.Get("/clusters/{id}", p.memberSoon(p.cluster.Show))
		r.Get("/clusters/{id}/live", stream(p.cluster.Live))
		r.Get("/clusters/{id}/plan", p.memberSoon(p.operation.ClusterPlan))
		r.Get("/clusters/{id}/operations/{operation}", p.memberSoon(p.operation.ClusterOperation))
		r.Get("/clusters/{id}/history", p.memberSoon(p.operation.ClusterHistory))
		r.Get("/clusters/{id}/access", p.memberSoon(p.cluster.Access))
		r.Get("/clusters/{id}/inventory", p.memberSoon(p.cluster.Inventory))
		r.Get("/clusters/{id}/logs", p.memberSoon(p.cluster.Logs))
		r.Get("/clusters/{id}/logs/download", stream(p.cluster.LogDownload))
		r.Get("/clusters/{id}/key", p.memberSoon(p.cluster.Key))
		r.Get("/clusters/{id}/delete", p.memberSoon(p.operation.ClusterDeleteAsk))
		r.Post("/clusters/{id}/delete", p.memberSoon(p.operation.ClusterDelete))

		// What its operation does
		r.Post("/clusters/{id}/pause", p.memberSoon(p.operation.ClusterPause))
		r.Post("/clusters/{id}/resume", p.memberSoon(p.operation.ClusterResume))
		r.Post("/clusters/{id}/nodes/{node}/retry", p.memberSoon(p.operation.NodeRetry))
		r.Get("/clusters/{id}/cancel", p.memberSoon(p.operation.ClusterCancelAsk))
		r.Post("/clusters/{id}/cancel", p.memberSoon(p.operation.ClusterCancel))
		r.Get("/clusters/{id}/roll-back", p.memberSoon(p.operation.ClusterRollBackAsk))
		r.Post("/clusters/{id}/roll-back", p.memberSoon(p.operation.ClusterRollBack))
		r.Get("/clusters/{id}/go-on", p.memberSoon(p.operation.ClusterGoOnAsk))
		r.Post("/clusters/{id}/go-on", p.memberSoon(p.operation.ClusterGoOn))
		r.Post("/clusters/{id}/top-up", p.memberSoon(p.operation.ClusterTopUp))
		r.Get("/clusters/{id}/waiting", p.memberSoon(p.cluster.Waiting))

		r.Get("/clusters/{id}/manage", p.memberSoon(p.cluster.Manage))
		r.Post("/clusters/{id}/rename", p.memberSoon(p.cluster.Rename))
		r.Post("/clusters/{id}/transfer", p.memberSoon(p.cluster.Transfer))
		r.Post("/clusters/{id}/sharing", p.memberSoon(p.cluster.Share))
		r.Get("/clusters/{id}/sharing", p.memberSoon(p.cluster.Manage))
		r.Get("/admin/sharing", p.memberSoon(p.cluster.SharingDefault))
		r.Post("/admin/sharing", p.memberSoon(p.cluster.SharingDefaultSet))
		r.Get("/clusters/{id}/{power:sleep|wake}", p.memberSoon(p.cluster.PowerAsk))
		r.Post("/clusters/{id}/{power:sleep|wake}", p.memberSoon(p.cluster.Power))
		r.Post("/clusters/{id}/schedule", p.memberSoon(p.cluster.Schedule))
		r.Get("/clusters/{id}/clone", p.memberSoon(p.cluster.CloneAsk))
		r.Post("/clusters/{id}/clone", p.memberSoon(p.cluster.Clone))
		r.Get("/clusters/{id}/diff", p.memberSoon(p.cluster.Diff))
		r.Get("/clusters/{id}/spec", p.memberSoon(p.cluster.Spec))

		r.Get("/clusters/{id}/change", p.memberSoon(p.operation.AmendShow))
		r.Post("/clusters/{id}/change/preview", p.memberSoon(p.operation.AmendPreview))
		r.Get("/clusters/{id}/change/preview", p.memberSoon(p.operation.AmendBack))
		r.Post("/clusters/{id}/change", p.memberSoon(p.operation.Amend))

		r.Get("/clusters/{id}/health", p.memberSoon(p.health.ClusterHealth))
		r.Post("/clusters/{id}/health/check", p.memberSoon(p.health.ClusterHealthCheck))
		r.Get("/clusters/{id}/health/check", p.memberSoon(p.health.ClusterHealth))

		r.Get("/questions", p.memberSoon(p.cluster.QuestionList))
		r.Post("/clusters/{id}/answers", p.memberSoon(p.cluster.QuestionAnswer))
		r.Get("/clusters/{id}/answers", redirect("/questions"))

		r.Get("/clusters/{id}/checks", p.memberSoon(p.health.ClusterChecks))

		r.Get("/requests", p.memberSoon(p.policy.RequestList))
		r.Get("/requests/{request}", p.memberSoon(p.policy.RequestShow))
		r.Get("/requests/{request}/{act:review|confirm|withdraw|break-glass}", p.memberSoon(p.policy.RequestBack))
		r.Post("/requests/{request}/review", p.memberSoon(p.policy.RequestAct(p.policy.RequestReview)))
		r.Post("/requests/{request}/confirm", p.memberSoon(p.policy.RequestAct(p.policy.RequestConfirm)))
		r.Post("/requests/{request}/withdraw", p.memberSoon(p.policy.RequestAct(p.policy.RequestWithdraw)))
		r.Post("/requests/{request}/break-glass", p.memberSoon(p.policy.RequestAct(p.policy.RequestBreakGlass)))

		// Notices
		r.Get("/notices", p.memberSoon(p.webhook.NoticeList))
		const hook = "/admin/builds/{hook}"
		r.Get("/admin/builds", p.memberSoon(p.build.HookList))
		r.Post("/admin/builds", p.memberSoon(p.build.HookMake))
		r.Get(hook, p.memberSoon(p.build.HookShow))
		r.Post(hook+"/on", p.memberSoon(p.build.HookSwitch(true)))
		r.Post(hook+"/off", p.memberSoon(p.build.HookSwitch(false)))
		r.Post(hook+"/secret", p.memberSoon(p.build.HookSecret))
		r.Post(hook+"/statuses", p.memberSoon(p.build.HookStatuses))
		r.Post(hook+"/rules", p.memberSoon(p.build.HookRules))
		r.Get(hook+"/delete", p.memberSoon(p.build.HookDeleteAsk))
		r.Post(hook+"/delete", p.memberSoon(p.build.HookDelete))
		r.Post(hook+"/end/{build}", p.memberSoon(p.build.HookEnd))
		r.Get(hook+"/deliveries/{delivery}", p.memberSoon(p.build.DeliveryShow))
		r.Post(hook+"/deliveries/{delivery}/replay", p.memberSoon(p.build.DeliveryReplay))
		r.Get("/admin/hooks", p.memberSoon(p.webhook.HookList))
		r.Post("/admin/hooks", p.memberSoon(p.webhook.HookSave))
		r.Get("/admin/hooks/{hook}", p.memberSoon(p.webhook.HookShow))
		r.Post("/admin/hooks/{hook}/test", p.memberSoon(p.webhook.HookTest))
		r.Post("/admin/hooks/{hook}/on", p.memberSoon(p.webhook.HookSwitch(true)))
		r.Post("/admin/hooks/{hook}/off", p.memberSoon(p.webhook.HookSwitch(false)))
		r.Post("/admin/hooks/{hook}/rotate", p.memberSoon(p.webhook.HookRotate))
		r.Get("/admin/hooks/{hook}/delete", p.memberSoon(p.webhook.HookDeleteAsk))
		r.Post("/admin/hooks/{hook}/delete", p.memberSoon(p.webhook.HookDelete))
		r.Get("/admin/hooks/{hook}/deliveries/{delivery}", p.memberSoon(p.webhook.HookDelivery))
		r.Post("/admin/hooks/{hook}/deliveries/{delivery}/resend", p.memberSoon(p.webhook.HookResend))

		// Slack
		r.Get("/admin/slack", p.memberSoon(p.chat.SlackShow))
		r.Post("/admin/slack/approvals", p.memberSoon(p.chat.SlackApprovals))
		r.Post("/admin/slack/channels", p.memberSoon(p.chat.SlackChannel))
		r.Post("/admin/slack/channels/reset", p.memberSoon(p.chat.SlackChannelReset))
		r.Post("/admin/slack/{team}/email-on", p.memberSoon(p.chat.SlackEmail(true)))
		r.Post("/admin/slack/{team}/email-off", p.memberSoon(p.chat.SlackEmail(false)))
		r.Post("/admin/slack/{team}/remove", p.memberSoon(p.chat.SlackRemove))
		r.Get("/slack/install", p.memberSoon(p.chat.SlackInstall))
		r.Get("/slack/oauth", p.memberSoon(p.chat.SlackInstalled))

		// Money
		r.Get("/usage", p.memberSoon(p.quota.UsageShow))
		r.Get("/clusters/{id}/extend", p.memberSoon(p.cluster.LeaseExtendAsk))
		r.Post("/clusters/{id}/lease", p.memberSoon(p.cluster.LeaseExtend))
		r.Get("/admin/quotas", p.memberSoon(p.quota.Page))
		r.Post("/admin/quotas", p.memberSoon(p.quota.Save))
		r.Post("/admin/quotas/delete", p.memberSoon(p.quota.Delete))

		// For admins
		r.Get("/admin", p.memberSoon(p.home.AdminHome))
		r.Get("/admin/secrets", p.memberSoon(p.audit.SecretList))
		r.Post("/admin/secrets", p.memberSoon(p.audit.SecretSet))
		r.Post("/admin/secrets/{secret}/delete", p.memberSoon(p.audit.SecretDelete))
		r.Get("/admin/resources", p.memberSoon(p.resource.List))
		r.Post("/admin/resources", stream(p.resource.Push)) // as long as it takes, with a form that is never whole in memory
		r.Post("/admin/resources/import", stream(p.resource.Import))
		r.Get("/admin/resources/import", redirect("/admin/resources"))
		r.Post("/admin/resources/sync", p.memberSoon(p.resource.Sync))
		r.Get("/admin/resources/sync", redirect("/admin/resources"))
		r.Get("/admin/resources/{resource}", p.memberSoon(p.resource.Show))
		r.Get("/admin/resources/{resource}/diff", p.memberSoon(p.resource.Diff))
		r.Get("/admin/resources/{resource}/versions/{version}/content", stream(p.resource.Download))
		r.Post("/admin/resources/{resource}/versions/{version}/{act:stage|recall|delete}", p.memberSoon(p.resource.VersionAct))
		r.Get("/admin/audit", p.memberSoon(p.audit.List))
		r.Get("/admin/audit/export", stream(p.audit.Export))
		r.Get("/queue", p.memberSoon(p.cluster.QueueShow))
		r.Get("/admin/users", p.memberSoon(p.identity.UserList))
		r.Post("/admin/users", p.memberSoon(p.identity.UserCreate))
		r.Get("/admin/users/new", p.memberSoon(p.identity.UserNew))
		r.Get("/admin/users/{user}", p.memberSoon(p.identity.UserShow))
		r.Post("/admin/users/{user}", p.memberSoon(p.identity.UserChange))
		r.Post("/admin/users/{user}/reset-password", p.memberSoon(p.identity.UserReset))
		r.Post("/admin/users/{user}/reset-second-factor", p.memberSoon(p.identity.UserResetFactor))
		r.Post("/admin/users/second-factor", p.memberSoon(p.identity.FactorRequire))
		r.Post("/admin/users/{user}/delete", p.memberSoon(p.identity.UserDelete))
		r.Get("/admin/groups", p.memberSoon(p.identity.GroupList))
		r.Post("/admin/groups", p.memberSoon(p.identity.GroupSave))
		r.Post("/admin/groups/delete", p.memberSoon(p.identity.GroupDelete))
		r.Get("/admin/tokens", p.memberSoon(p.identity.TokenList))
		r.Post("/admin/tokens", p.memberSoon(p.identity.RobotTokenCreate))
		r.Post("/admin/tokens/revoke", p.memberSoon(p.identity.AdminTokenRevoke))
		r.Get("/admin/settings", p.memberSoon(p.fleet.SettingsShow))
		r.Get("/admin/provider-health", p.memberSoon(p.fleet.ProviderHealthShow))
		r.Get("/admin/queues", p.memberSoon(p.cluster.QueuesShow))
		r.Post("/tenant", p.memberSoon(p.identity.TenantSwitch))
		r.Get("/admin/tenants", p.memberSoon(p.identity.TenantList))
		r.Post("/admin/tenants", p.memberSoon(p.identity.TenantSave))
		r.Post("/admin/tenants/delete", p.memberSoon(p.identity.TenantDelete))
		r.Get("/admin/policies", p.memberSoon(p.policy.List))
		r.Post("/admin/policies", p.memberSoon(p.policy.Save))
		r.Get("/admin/policies/new", p.memberSoon(p.policy.New))
		r.Post("/admin/policies/zone", p.memberSoon(p.policy.Zone))
		r.Get("/admin/policies/try", redirect("/admin/policies"))
		r.Post("/admin/policies/try", p.memberSoon(p.policy.Try))
		r.Get("/admin/policies/{policy}", p.memberSoon(p.policy.Show))
		r.Post("/admin/policies/{policy}/delete", p.memberSoon(p.policy.Delete))
		r.Get("/provisioners", p.memberSoon(p.fleet.ProvisionerList))
		r.Post("/provisioners/{provisioner}/drain", p.memberSoon(p.fleet.ProvisionerDrain))
		r.Get("/admin/pools", p.memberSoon(p.pool.List))
		r.Post("/admin/pools", p.memberSoon(p.pool.Create))
		r.Get("/admin/pools/{pool}", p.memberSoon(p.pool.Show))
		r.Post("/admin/pools/{pool}", p.memberSoon(p.pool.Change))
		r.Post("/admin/pools/{pool}/drain", p.memberSoon(p.pool.Drain))
		r.Get("/admin/pools/{pool}/delete", p.memberSoon(p.pool.DeleteAsk))
		r.Post("/admin/pools/{pool}/delete", p.memberSoon(p.pool.Delete))
		r.Get("/orphans", p.memberSoon(p.fleet.OrphanList))
		r.Post("/orphans/mode", p.memberSoon(p.fleet.OrphanMode))
		r.Post("/orphans/{orphan}/delete", p.memberSoon(p.fleet.OrphanDecide(app.DecideDelete)))
		r.Post("/orphans/{orphan}/keep", p.memberSoon(p.fleet.OrphanDecide(app.DecideKeep)))
		r.Get("/clusters/{id}/receipt", p.memberSoon(p.fleet.ClusterReceipt))

		r.NotFound(programsApart(p.apiNotFound, p.pageSoon(p.notFound)))
		r.MethodNotAllowed(programsApart(p.apiNotAllowed, p.pageSoon(p.notAllowed)))
	})

	// The catalog, for admins. Its forms carry whole texts, and what was uploaded.
	r.Group(func(r chi.Router) {
		r.Use(p.Limit(catalog.CatalogLimit), p.Sessions.LoadAndSave)
		const kind = "/admin/catalog/{kind:template|service|image|hardware|provider}"

		r.Get("/admin/catalog", p.memberSoon(p.catalog.List))
		r.Get("/admin/catalog/import", p.memberSoon(p.catalog.ImportShow))
		r.Post("/admin/catalog/import", p.memberSoon(p.catalog.Import))
		r.Get("/admin/catalog/export", p.memberSoon(p.catalog.Export))
		r.Get(kind, p.memberSoon(p.catalog.List))
		r.Get(kind+"/new", p.memberSoon(p.catalog.Write))
		r.Post(kind+"/new", p.memberSoon(p.catalog.Write))
		r.Get(kind+"/{name}", p.memberSoon(p.catalog.Show))
		r.Get(kind+"/{name}/edit", p.memberSoon(p.catalog.Write))
		r.Post(kind+"/{name}/edit", p.memberSoon(p.catalog.Write))
		survey := func(h site.MemberHandler) http.HandlerFunc { return site.Within(fleet.SurveyTime, p.member(h)) }
		r.Get("/admin/catalog/provider/{name}/check", survey(p.fleet.ProviderCheck))
		r.Get("/admin/catalog/provider/{name}/offers", survey(p.fleet.ProviderOffers))
		r.Get("/admin/catalog/{kind:template}/{name}/publish", p.memberSoon(p.catalog.Publish))
		r.Get(kind+"/{name}/remove", p.memberSoon(p.catalog.Remove))
		r.Post(kind+"/{name}/remove", p.memberSoon(p.catalog.Remove))
		r.Get(kind+"/{name}/revert/{number}", p.memberSoon(p.catalog.Revert))
		r.Post(kind+"/{name}/revert/{number}", p.memberSoon(p.catalog.Revert))
	})

	// For programs
	r.Route(site.APIPath, p.apiRoutes)
	return r
}

func redirect(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusSeeOther) }
}

// Handlers of pages that answer within requestTime. They are not inlined: with some 200 routes in one function, that took the compiler 2 of the package's 10 seconds.

//go:noinline
func (p *Portal) pageSoon(h site.Handler) http.HandlerFunc {
	return site.Within(site.RequestTime, p.page(h))
}

//go:noinline
func (p *Portal) memberSoon(h site.MemberHandler) http.HandlerFunc {
	return site.Within(site.RequestTime, p.member(h))
}

//go:noinline
func (p *Portal) adderSoon(h site.MemberHandler) http.HandlerFunc {
	return site.Within(site.RequestTime, p.adder(h))
}

//go:noinline
func (p *Portal) newcomerSoon(h site.MemberHandler) http.HandlerFunc {
	return site.Within(site.RequestTime, p.newcomer(h))
}
