package portal

import (
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"muster/app"
	"muster/app/identity"
	"muster/portal/static"
)

// How long a request may take, how much it may send, and how long a long poll may wait.
const (
	requestTime = 30 * time.Second
	pollTime    = 30 * time.Second
	formLimit   = 256 << 10
	apiLimit    = 1 << 20
)

// apiPath is where the REST API stands.
const apiPath = "/api/v1"

// routes is the site map: every address that the portal answers.
func (p *Portal) routes() http.Handler {
	r := chi.NewRouter()
	r.Use(p.rescue, p.watched, p.access, p.headers, p.sameOrigin, middleware.GetHead)

	// Files
	r.With(timeout(requestTime)).Handle(static.Prefix+"*", static.Handler())

	// For build systems and their builds
	if p.building() != nil {
		p.buildRoutes(r)
	}

	// For monitoring
	if p.metering() != nil {
		r.With(timeout(requestTime)).Get(metricsPath, p.metricsShow)
	}

	// For those who have found a vulnerability. It shows errors as pages do, so it needs their session.
	r.With(p.sessions.LoadAndSave, timeout(requestTime)).Get(securityPath, p.securityShow)

	// For people
	r.Group(func(r chi.Router) {
		r.Use(p.limitUnless(formLimit, uploads), p.sessions.LoadAndSave)
		stream := func(h memberHandler) http.HandlerFunc { return p.member(p.attended(h)) }

		// Coming and going
		r.Get("/signin", p.pageSoon(p.signInShow))
		r.Post("/signin", p.pageSoon(p.signIn))
		r.Post("/signout", p.pageSoon(p.signOut))
		if p.accounts() != nil {
			r.Get(pendingPath, p.pageSoon(p.pendingShow))
			r.Post(pendingPath, p.pageSoon(p.pendingFinish))
		}
		if len(p.elsewhere) > 0 {
			r.Get("/signin/{provider}", p.pageSoon(p.providerStart))
			r.Get("/signin/{provider}/callback", p.pageSoon(p.providerBack))
			r.Get("/signin/{provider}/leave", p.pageSoon(p.providerLeave))
			r.Get("/signin/tenant", p.pageSoon(p.tenantAsk))
			r.Post("/signin/tenant", p.pageSoon(p.tenantChoose))
		}

		// One's own account
		if p.accounts() != nil {
			r.Get("/account", p.memberSoon(p.accountShow))
			r.Get("/account/password", p.newcomerSoon(p.passwordAsk))
			r.Post("/account/password", p.newcomerSoon(p.passwordChange))
			r.Get(factorsPath, p.adderSoon(p.factorList))
			r.Get(factorsPath+"/app", p.adderSoon(p.factorApp))
			r.Post(factorsPath+"/app", p.adderSoon(p.factorAppConfirm))
			if p.keys != nil {
				r.Post(factorsPath+"/key", p.adderSoon(p.factorKeyAdd))
				r.Get(factorsPath+"/key", redirect(factorsPath))
			}
			r.Post(factorsPath+"/remove", p.adderSoon(p.factorRemove))
			r.Post(factorsPath+"/codes", p.adderSoon(p.factorCodes))
			r.Get(factorsPath+"/{act:remove|codes}", redirect(factorsPath))
			r.Post("/account/sign-ins/end", p.memberSoon(p.sessionRevoke))
			r.Post("/account/sign-ins/end-all", p.memberSoon(p.sessionRevokeAll))
			r.Post("/account/identities/remove", p.memberSoon(p.identityRemove))

			r.Get("/admin/users/{user}/sign-ins", p.memberSoon(p.userSignIns))
			r.Post("/admin/users/{user}/sign-ins", p.memberSoon(p.userSignInEnd))
			r.Post("/admin/users/{user}/identities", p.memberSoon(p.userIdentityRemove))
			if p.ownTokens() != nil {
				r.Get("/account/tokens/new", p.memberSoon(p.tokenNew))
				r.Post("/account/tokens/new", p.memberSoon(p.tokenMake))
				r.Post("/account/tokens/revoke", p.memberSoon(p.tokenRevoke))
			}
			r.Get("/step-up", p.adderSoon(p.stepUpAsk))
			r.Post("/step-up", p.adderSoon(p.stepUp))
			r.Get(afterProof, p.adderSoon(p.stepUpContinue))
			r.Get("/step-up/{provider}", p.memberSoon(p.stepUpAway))
			if p.devices() != nil {
				r.Get(identity.DevicePath, p.memberSoon(p.deviceAsk))
				r.Post(identity.DevicePath, p.memberSoon(p.deviceAnswer))
			}
			r.Get("/link", p.memberSoon(p.linkAsk))
			r.Post("/link", p.memberSoon(p.linkConfirm))
		}

		// Clusters
		r.Get("/", p.memberSoon(p.home))
		r.Get("/live", stream(p.liveStream))
		if p.homing() != nil && p.money() != nil {
			r.Get("/home/cost", p.memberSoon(p.homeCost))
		}
		r.Get("/search", p.memberSoon(p.search))
		r.Get("/clusters", p.memberSoon(p.clusterList))
		r.Post("/clusters", p.memberSoon(p.clusterCreate))
		r.Get("/clusters/new", p.memberSoon(p.clusterNew))
		r.Get("/clusters/delete", p.memberSoon(p.clustersDeleteAsk))
		r.Post("/clusters/delete", p.memberSoon(p.clustersDelete))
		r.Post("/clusters/preview", p.memberSoon(p.clusterPreview))
		r.Get("/clusters/preview", redirect("/clusters/new"))

		// Templates
		if p.templating() != nil {
			r.Get("/templates", p.memberSoon(p.templateList))
			r.Get("/templates/{template}", p.memberSoon(p.templateShow))
		}

		// One cluster
		r.Get("/clusters/{id}", p.memberSoon(p.clusterShow))
		r.Get("/clusters/{id}/live", stream(p.clusterLive))
		r.Get("/clusters/{id}/plan", p.memberSoon(p.clusterPlan))
		r.Get("/clusters/{id}/operations/{operation}", p.memberSoon(p.clusterOperation))
		r.Get("/clusters/{id}/history", p.memberSoon(p.clusterHistory))
		r.Get("/clusters/{id}/access", p.memberSoon(p.clusterAccess))
		r.Get("/clusters/{id}/inventory", p.memberSoon(p.clusterInventory))
		if p.searching() != nil {
			r.Get("/clusters/{id}/logs", p.memberSoon(p.clusterLogs))
			r.Get("/clusters/{id}/logs/download", stream(p.clusterLogDownload))
		}
		r.Get("/clusters/{id}/key", p.memberSoon(p.clusterKey))
		r.Get("/clusters/{id}/delete", p.memberSoon(p.clusterDeleteAsk))
		r.Post("/clusters/{id}/delete", p.memberSoon(p.clusterDelete))

		// What its operation does
		r.Post("/clusters/{id}/pause", p.memberSoon(p.clusterPause))
		r.Post("/clusters/{id}/resume", p.memberSoon(p.clusterResume))
		r.Post("/clusters/{id}/nodes/{node}/retry", p.memberSoon(p.nodeRetry))
		r.Get("/clusters/{id}/cancel", p.memberSoon(p.clusterCancelAsk))
		r.Post("/clusters/{id}/cancel", p.memberSoon(p.clusterCancel))
		r.Get("/clusters/{id}/roll-back", p.memberSoon(p.clusterRollBackAsk))
		r.Post("/clusters/{id}/roll-back", p.memberSoon(p.clusterRollBack))
		if p.goingOn() != nil {
			r.Get("/clusters/{id}/go-on", p.memberSoon(p.clusterGoOnAsk))
			r.Post("/clusters/{id}/go-on", p.memberSoon(p.clusterGoOn))
			r.Post("/clusters/{id}/top-up", p.memberSoon(p.clusterTopUp))
		}
		r.Get("/clusters/{id}/waiting", p.memberSoon(p.clusterWaiting))

		if p.life() != nil {
			r.Get("/clusters/{id}/manage", p.memberSoon(p.clusterManage))
			r.Post("/clusters/{id}/rename", p.memberSoon(p.clusterRename))
			r.Post("/clusters/{id}/transfer", p.memberSoon(p.clusterTransfer))
			if p.sharing() != nil {
				r.Post("/clusters/{id}/sharing", p.memberSoon(p.clusterShare))
				r.Get("/clusters/{id}/sharing", p.memberSoon(p.clusterManage))
				r.Get("/admin/sharing", p.memberSoon(p.sharingDefault))
				r.Post("/admin/sharing", p.memberSoon(p.sharingDefaultSet))
			}
			r.Get("/clusters/{id}/{power:sleep|wake}", p.memberSoon(p.clusterPowerAsk))
			r.Post("/clusters/{id}/{power:sleep|wake}", p.memberSoon(p.clusterPower))
			r.Post("/clusters/{id}/schedule", p.memberSoon(p.clusterSchedule))
			r.Get("/clusters/{id}/clone", p.memberSoon(p.clusterCloneAsk))
			r.Post("/clusters/{id}/clone", p.memberSoon(p.clusterClone))
			r.Get("/clusters/{id}/diff", p.memberSoon(p.clusterDiff))
			r.Get("/clusters/{id}/spec", p.memberSoon(p.clusterSpec))
		}

		if p.amending() != nil {
			r.Get("/clusters/{id}/change", p.memberSoon(p.amendShow))
			r.Post("/clusters/{id}/change/preview", p.memberSoon(p.amendPreview))
			r.Get("/clusters/{id}/change/preview", p.memberSoon(p.amendBack))
			r.Post("/clusters/{id}/change", p.memberSoon(p.amend))
		}

		if p.watching() != nil {
			r.Get("/clusters/{id}/health", p.memberSoon(p.clusterHealth))
			r.Post("/clusters/{id}/health/check", p.memberSoon(p.clusterHealthCheck))
			r.Get("/clusters/{id}/health/check", p.memberSoon(p.clusterHealth))
		}

		if p.questioning() != nil {
			r.Get("/questions", p.memberSoon(p.questionList))
			r.Post("/clusters/{id}/answers", p.memberSoon(p.questionAnswer))
			r.Get("/clusters/{id}/answers", redirect("/questions"))
		}

		if p.checking() != nil {
			r.Get("/clusters/{id}/checks", p.memberSoon(p.clusterChecks))
		}

		if p.requesting() != nil {
			r.Get("/requests", p.memberSoon(p.requestList))
			r.Get("/requests/{request}", p.memberSoon(p.requestShow))
			r.Get("/requests/{request}/{act:review|confirm|withdraw|break-glass}", p.memberSoon(p.requestBack))
			r.Post("/requests/{request}/review", p.memberSoon(p.requestAct(p.requestReview)))
			r.Post("/requests/{request}/confirm", p.memberSoon(p.requestAct(p.requestConfirm)))
			r.Post("/requests/{request}/withdraw", p.memberSoon(p.requestAct(p.requestWithdraw)))
			r.Post("/requests/{request}/break-glass", p.memberSoon(p.requestAct(p.requestBreakGlass)))
		}

		// Notices
		if p.noticing() != nil {
			r.Get("/notices", p.memberSoon(p.noticeList))
		}
		if p.building() != nil && p.rules != nil {
			const hook = "/admin/builds/{hook}"
			r.Get("/admin/builds", p.memberSoon(p.buildHookList))
			r.Post("/admin/builds", p.memberSoon(p.buildHookMake))
			r.Get(hook, p.memberSoon(p.buildHookShow))
			r.Post(hook+"/on", p.memberSoon(p.buildHookSwitch(true)))
			r.Post(hook+"/off", p.memberSoon(p.buildHookSwitch(false)))
			r.Post(hook+"/secret", p.memberSoon(p.buildHookSecret))
			r.Post(hook+"/statuses", p.memberSoon(p.buildHookStatuses))
			r.Post(hook+"/rules", p.memberSoon(p.buildHookRules))
			r.Get(hook+"/delete", p.memberSoon(p.buildHookDeleteAsk))
			r.Post(hook+"/delete", p.memberSoon(p.buildHookDelete))
			r.Post(hook+"/end/{build}", p.memberSoon(p.buildHookEnd))
			r.Get(hook+"/deliveries/{delivery}", p.memberSoon(p.buildDeliveryShow))
			r.Post(hook+"/deliveries/{delivery}/replay", p.memberSoon(p.buildDeliveryReplay))
		}
		if p.hooking() != nil {
			r.Get("/admin/hooks", p.memberSoon(p.hookList))
			r.Post("/admin/hooks", p.memberSoon(p.hookSave))
			r.Get("/admin/hooks/{hook}", p.memberSoon(p.hookShow))
			r.Post("/admin/hooks/{hook}/test", p.memberSoon(p.hookTest))
			r.Post("/admin/hooks/{hook}/on", p.memberSoon(p.hookSwitch(true)))
			r.Post("/admin/hooks/{hook}/off", p.memberSoon(p.hookSwitch(false)))
			r.Post("/admin/hooks/{hook}/rotate", p.memberSoon(p.hookRotate))
			r.Get("/admin/hooks/{hook}/delete", p.memberSoon(p.hookDeleteAsk))
			r.Post("/admin/hooks/{hook}/delete", p.memberSoon(p.hookDelete))
			r.Get("/admin/hooks/{hook}/deliveries/{delivery}", p.memberSoon(p.hookDelivery))
			r.Post("/admin/hooks/{hook}/deliveries/{delivery}/resend", p.memberSoon(p.hookResend))
		}

		// Slack
		if p.chatting() != nil {
			r.Get("/admin/slack", p.memberSoon(p.slackShow))
			r.Post("/admin/slack/approvals", p.memberSoon(p.slackApprovals))
			r.Post("/admin/slack/channels", p.memberSoon(p.slackChannel))
			r.Post("/admin/slack/channels/reset", p.memberSoon(p.slackChannelReset))
			r.Post("/admin/slack/{team}/email-on", p.memberSoon(p.slackEmail(true)))
			r.Post("/admin/slack/{team}/email-off", p.memberSoon(p.slackEmail(false)))
			r.Post("/admin/slack/{team}/remove", p.memberSoon(p.slackRemove))
			r.Get("/slack/install", p.memberSoon(p.slackInstall))
			r.Get("/slack/oauth", p.memberSoon(p.slackInstalled))
		}

		// Money
		if p.money() != nil {
			r.Get("/usage", p.memberSoon(p.usageShow))
			r.Get("/clusters/{id}/extend", p.memberSoon(p.leaseExtendAsk))
			r.Post("/clusters/{id}/lease", p.memberSoon(p.leaseExtend))
			r.Get("/admin/quotas", p.memberSoon(p.quotaPage))
			r.Post("/admin/quotas", p.memberSoon(p.quotaSave))
			r.Post("/admin/quotas/delete", p.memberSoon(p.quotaDelete))
		}

		// For admins
		r.Get("/admin", p.memberSoon(p.adminHome))
		if p.secreting() != nil {
			r.Get("/admin/secrets", p.memberSoon(p.secretList))
			r.Post("/admin/secrets", p.memberSoon(p.secretSet))
			r.Post("/admin/secrets/{secret}/delete", p.memberSoon(p.secretDelete))
		}
		if p.resourcing() != nil {
			r.Get("/admin/resources", p.memberSoon(p.resourceList))
			r.Post("/admin/resources", stream(p.resourcePush)) // as long as it takes, with a form that is never whole in memory
			r.Post("/admin/resources/import", stream(p.resourceImport))
			r.Get("/admin/resources/import", redirect("/admin/resources"))
			r.Post("/admin/resources/sync", p.memberSoon(p.resourceSync))
			r.Get("/admin/resources/sync", redirect("/admin/resources"))
			r.Get("/admin/resources/{resource}", p.memberSoon(p.resourceShow))
			r.Get("/admin/resources/{resource}/diff", p.memberSoon(p.resourceDiff))
			r.Get("/admin/resources/{resource}/versions/{version}/content", stream(p.resourceDownload))
			r.Post("/admin/resources/{resource}/versions/{version}/{act:stage|recall|delete}", p.memberSoon(p.resourceVersionAct))
		}
		if p.auditing() != nil {
			r.Get("/admin/audit", p.memberSoon(p.auditList))
			r.Get("/admin/audit/export", stream(p.auditExport))
		}
		r.Get("/queue", p.memberSoon(p.queueShow))
		if p.people() != nil {
			r.Get("/admin/users", p.memberSoon(p.userList))
			r.Post("/admin/users", p.memberSoon(p.userCreate))
			r.Get("/admin/users/new", p.memberSoon(p.userNew))
			r.Get("/admin/users/{user}", p.memberSoon(p.userShow))
			r.Post("/admin/users/{user}", p.memberSoon(p.userChange))
			r.Post("/admin/users/{user}/reset-password", p.memberSoon(p.userReset))
			r.Post("/admin/users/{user}/reset-second-factor", p.memberSoon(p.userResetFactor))
			r.Post("/admin/users/second-factor", p.memberSoon(p.factorRequire))
			r.Post("/admin/users/{user}/delete", p.memberSoon(p.userDelete))
			r.Get("/admin/groups", p.memberSoon(p.groupList))
			r.Post("/admin/groups", p.memberSoon(p.groupSave))
			r.Post("/admin/groups/delete", p.memberSoon(p.groupDelete))
			r.Get("/admin/tokens", p.memberSoon(p.tokenList))
			r.Post("/admin/tokens", p.memberSoon(p.robotTokenCreate))
			r.Post("/admin/tokens/revoke", p.memberSoon(p.adminTokenRevoke))
		}
		if p.installation() != nil {
			r.Get("/admin/settings", p.memberSoon(p.settingsShow))
			r.Get("/admin/provider-health", p.memberSoon(p.providerHealthShow))
			r.Get("/admin/queues", p.memberSoon(p.queuesShow))
		}
		if p.tenancy() != nil {
			r.Post("/tenant", p.memberSoon(p.tenantSwitch))
			r.Get("/admin/tenants", p.memberSoon(p.tenantList))
			r.Post("/admin/tenants", p.memberSoon(p.tenantSave))
			r.Post("/admin/tenants/delete", p.memberSoon(p.tenantDelete))
		}
		if p.ruling() != nil {
			r.Get("/admin/policies", p.memberSoon(p.policyList))
			r.Post("/admin/policies", p.memberSoon(p.policySave))
			r.Get("/admin/policies/new", p.memberSoon(p.policyNew))
			r.Post("/admin/policies/zone", p.memberSoon(p.policyZone))
			r.Get("/admin/policies/try", redirect("/admin/policies"))
			r.Post("/admin/policies/try", p.memberSoon(p.policyTry))
			r.Get("/admin/policies/{policy}", p.memberSoon(p.policyShow))
			r.Post("/admin/policies/{policy}/delete", p.memberSoon(p.policyDelete))
		}
		if _, ok := p.muster.(Provisioning); ok {
			r.Get("/provisioners", p.memberSoon(p.provisionerList))
			r.Post("/provisioners/{provisioner}/drain", p.memberSoon(p.provisionerDrain))
		}
		if p.pooling() != nil {
			r.Get("/admin/pools", p.memberSoon(p.poolList))
			r.Post("/admin/pools", p.memberSoon(p.poolCreate))
			r.Get("/admin/pools/{pool}", p.memberSoon(p.poolShow))
			r.Post("/admin/pools/{pool}", p.memberSoon(p.poolChange))
			r.Post("/admin/pools/{pool}/drain", p.memberSoon(p.poolDrain))
			r.Get("/admin/pools/{pool}/delete", p.memberSoon(p.poolDeleteAsk))
			r.Post("/admin/pools/{pool}/delete", p.memberSoon(p.poolDelete))
		}
		if p.machines() != nil {
			r.Get("/orphans", p.memberSoon(p.orphanList))
			r.Post("/orphans/mode", p.memberSoon(p.orphanMode))
			r.Post("/orphans/{orphan}/delete", p.memberSoon(p.orphanDecide(app.DecideDelete)))
			r.Post("/orphans/{orphan}/keep", p.memberSoon(p.orphanDecide(app.DecideKeep)))
			r.Get("/clusters/{id}/receipt", p.memberSoon(p.clusterReceipt))
		}

		r.NotFound(programsApart(p.apiNotFound, p.pageSoon(p.notFound)))
		r.MethodNotAllowed(programsApart(p.apiNotAllowed, p.pageSoon(p.notAllowed)))
	})

	// The catalog, for admins. Its forms carry whole texts, and what was uploaded.
	if p.cataloging() != nil {
		r.Group(func(r chi.Router) {
			r.Use(p.limit(catalogLimit), p.sessions.LoadAndSave)
			const kind = "/admin/catalog/{kind:template|service|image|hardware|provider}"

			r.Get("/admin/catalog", p.memberSoon(p.catalogList))
			r.Get("/admin/catalog/import", p.memberSoon(p.catalogImportShow))
			r.Post("/admin/catalog/import", p.memberSoon(p.catalogImport))
			r.Get("/admin/catalog/export", p.memberSoon(p.catalogExport))
			r.Get(kind, p.memberSoon(p.catalogList))
			r.Get(kind+"/new", p.memberSoon(p.catalogWrite))
			r.Post(kind+"/new", p.memberSoon(p.catalogWrite))
			r.Get(kind+"/{name}", p.memberSoon(p.catalogShow))
			r.Get(kind+"/{name}/edit", p.memberSoon(p.catalogWrite))
			r.Post(kind+"/{name}/edit", p.memberSoon(p.catalogWrite))
			if p.accounting() != nil {
				survey := func(h memberHandler) http.HandlerFunc { return within(surveyTime, p.member(h)) }
				r.Get("/admin/catalog/provider/{name}/check", survey(p.providerCheck))
				r.Get("/admin/catalog/provider/{name}/offers", survey(p.providerOffers))
			}
			r.Get("/admin/catalog/{kind:template}/{name}/publish", p.memberSoon(p.catalogPublish))
			r.Get(kind+"/{name}/remove", p.memberSoon(p.catalogRemove))
			r.Post(kind+"/{name}/remove", p.memberSoon(p.catalogRemove))
			r.Get(kind+"/{name}/revert/{number}", p.memberSoon(p.catalogRevert))
			r.Post(kind+"/{name}/revert/{number}", p.memberSoon(p.catalogRevert))
		})
	}

	// For programs
	r.Route(apiPath, p.apiRoutes)
	return r
}

func redirect(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusSeeOther) }
}

// Handlers of pages that answer within requestTime. They are not inlined: with some 200 routes in one function, that took the compiler 2 of the package's 10 seconds.

//go:noinline
func (p *Portal) pageSoon(h handler) http.HandlerFunc { return within(requestTime, p.page(h)) }

//go:noinline
func (p *Portal) memberSoon(h memberHandler) http.HandlerFunc {
	return within(requestTime, p.member(h))
}

//go:noinline
func (p *Portal) adderSoon(h memberHandler) http.HandlerFunc {
	return within(requestTime, p.adder(h))
}

//go:noinline
func (p *Portal) newcomerSoon(h memberHandler) http.HandlerFunc {
	return within(requestTime, p.newcomer(h))
}
