package portal

import (
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"muster/app"
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
		page := func(h handler) http.HandlerFunc { return within(requestTime, p.page(h)) }
		member := func(h memberHandler) http.HandlerFunc { return within(requestTime, p.member(h)) }
		adder := func(h memberHandler) http.HandlerFunc { return within(requestTime, p.adder(h)) }
		newcomer := func(h memberHandler) http.HandlerFunc { return within(requestTime, p.newcomer(h)) }
		stream := func(h memberHandler) http.HandlerFunc { return p.member(p.attended(h)) }

		// Coming and going
		r.Get("/signin", page(p.signInShow))
		r.Post("/signin", page(p.signIn))
		r.Post("/signout", page(p.signOut))
		if p.accounts() != nil {
			r.Get(pendingPath, page(p.pendingShow))
			r.Post(pendingPath, page(p.pendingFinish))
		}
		if len(p.elsewhere) > 0 {
			r.Get("/signin/{provider}", page(p.providerStart))
			r.Get("/signin/{provider}/callback", page(p.providerBack))
			r.Get("/signin/{provider}/leave", page(p.providerLeave))
			r.Get("/signin/tenant", page(p.tenantAsk))
			r.Post("/signin/tenant", page(p.tenantChoose))
		}

		// One's own account
		if p.accounts() != nil {
			r.Get("/account", member(p.accountShow))
			r.Get("/account/password", newcomer(p.passwordAsk))
			r.Post("/account/password", newcomer(p.passwordChange))
			r.Get(factorsPath, adder(p.factorList))
			r.Get(factorsPath+"/app", adder(p.factorApp))
			r.Post(factorsPath+"/app", adder(p.factorAppConfirm))
			if p.keys != nil {
				r.Post(factorsPath+"/key", adder(p.factorKeyAdd))
				r.Get(factorsPath+"/key", redirect(factorsPath))
			}
			r.Post(factorsPath+"/remove", adder(p.factorRemove))
			r.Post(factorsPath+"/codes", adder(p.factorCodes))
			r.Get(factorsPath+"/{act:remove|codes}", redirect(factorsPath))
			r.Post("/account/sign-ins/end", member(p.sessionRevoke))
			r.Post("/account/sign-ins/end-all", member(p.sessionRevokeAll))
			r.Post("/account/identities/remove", member(p.identityRemove))

			r.Get("/admin/users/{user}/sign-ins", member(p.userSignIns))
			r.Post("/admin/users/{user}/sign-ins", member(p.userSignInEnd))
			r.Post("/admin/users/{user}/identities", member(p.userIdentityRemove))
			if p.ownTokens() != nil {
				r.Get("/account/tokens/new", member(p.tokenNew))
				r.Post("/account/tokens/new", member(p.tokenMake))
				r.Post("/account/tokens/revoke", member(p.tokenRevoke))
			}
			r.Get("/step-up", adder(p.stepUpAsk))
			r.Post("/step-up", adder(p.stepUp))
			r.Get(afterProof, adder(p.stepUpContinue))
			r.Get("/step-up/{provider}", member(p.stepUpAway))
			if p.devices() != nil {
				r.Get(app.DevicePath, member(p.deviceAsk))
				r.Post(app.DevicePath, member(p.deviceAnswer))
			}
			r.Get("/link", member(p.linkAsk))
			r.Post("/link", member(p.linkConfirm))
		}

		// Clusters
		r.Get("/", member(p.home))
		r.Get("/live", stream(p.liveStream))
		if p.homing() != nil && p.money() != nil {
			r.Get("/home/cost", member(p.homeCost))
		}
		r.Get("/search", member(p.search))
		r.Get("/clusters", member(p.clusterList))
		r.Post("/clusters", member(p.clusterCreate))
		r.Get("/clusters/new", member(p.clusterNew))
		r.Get("/clusters/delete", member(p.clustersDeleteAsk))
		r.Post("/clusters/delete", member(p.clustersDelete))
		r.Post("/clusters/preview", member(p.clusterPreview))
		r.Get("/clusters/preview", redirect("/clusters/new"))

		// Templates
		if p.templating() != nil {
			r.Get("/templates", member(p.templateList))
			r.Get("/templates/{template}", member(p.templateShow))
		}

		// One cluster
		r.Get("/clusters/{id}", member(p.clusterShow))
		r.Get("/clusters/{id}/live", stream(p.clusterLive))
		r.Get("/clusters/{id}/plan", member(p.clusterPlan))
		r.Get("/clusters/{id}/operations/{operation}", member(p.clusterOperation))
		r.Get("/clusters/{id}/history", member(p.clusterHistory))
		r.Get("/clusters/{id}/access", member(p.clusterAccess))
		r.Get("/clusters/{id}/inventory", member(p.clusterInventory))
		if p.searching() != nil {
			r.Get("/clusters/{id}/logs", member(p.clusterLogs))
			r.Get("/clusters/{id}/logs/download", stream(p.clusterLogDownload))
		}
		r.Get("/clusters/{id}/key", member(p.clusterKey))
		r.Get("/clusters/{id}/delete", member(p.clusterDeleteAsk))
		r.Post("/clusters/{id}/delete", member(p.clusterDelete))

		// What its operation does
		r.Post("/clusters/{id}/pause", member(p.clusterPause))
		r.Post("/clusters/{id}/resume", member(p.clusterResume))
		r.Post("/clusters/{id}/nodes/{node}/retry", member(p.nodeRetry))
		r.Get("/clusters/{id}/cancel", member(p.clusterCancelAsk))
		r.Post("/clusters/{id}/cancel", member(p.clusterCancel))
		r.Get("/clusters/{id}/roll-back", member(p.clusterRollBackAsk))
		r.Post("/clusters/{id}/roll-back", member(p.clusterRollBack))
		if p.goingOn() != nil {
			r.Get("/clusters/{id}/go-on", member(p.clusterGoOnAsk))
			r.Post("/clusters/{id}/go-on", member(p.clusterGoOn))
			r.Post("/clusters/{id}/top-up", member(p.clusterTopUp))
		}
		r.Get("/clusters/{id}/waiting", member(p.clusterWaiting))

		if p.life() != nil {
			r.Get("/clusters/{id}/manage", member(p.clusterManage))
			r.Post("/clusters/{id}/rename", member(p.clusterRename))
			r.Post("/clusters/{id}/transfer", member(p.clusterTransfer))
			if p.sharing() != nil {
				r.Post("/clusters/{id}/sharing", member(p.clusterShare))
				r.Get("/clusters/{id}/sharing", member(p.clusterManage))
				r.Get("/admin/sharing", member(p.sharingDefault))
				r.Post("/admin/sharing", member(p.sharingDefaultSet))
			}
			r.Get("/clusters/{id}/{power:sleep|wake}", member(p.clusterPowerAsk))
			r.Post("/clusters/{id}/{power:sleep|wake}", member(p.clusterPower))
			r.Post("/clusters/{id}/schedule", member(p.clusterSchedule))
			r.Get("/clusters/{id}/clone", member(p.clusterCloneAsk))
			r.Post("/clusters/{id}/clone", member(p.clusterClone))
			r.Get("/clusters/{id}/diff", member(p.clusterDiff))
			r.Get("/clusters/{id}/spec", member(p.clusterSpec))
		}

		if p.amending() != nil {
			r.Get("/clusters/{id}/change", member(p.amendShow))
			r.Post("/clusters/{id}/change/preview", member(p.amendPreview))
			r.Get("/clusters/{id}/change/preview", member(p.amendBack))
			r.Post("/clusters/{id}/change", member(p.amend))
		}

		if p.watching() != nil {
			r.Get("/clusters/{id}/health", member(p.clusterHealth))
		}

		if p.questioning() != nil {
			r.Get("/questions", member(p.questionList))
			r.Post("/clusters/{id}/answers", member(p.questionAnswer))
			r.Get("/clusters/{id}/answers", redirect("/questions"))
		}

		if p.checking() != nil {
			r.Get("/clusters/{id}/checks", member(p.clusterChecks))
		}

		if p.requesting() != nil {
			r.Get("/requests", member(p.requestList))
			r.Get("/requests/{request}", member(p.requestShow))
			r.Get("/requests/{request}/{act:review|confirm|withdraw|break-glass}", member(p.requestBack))
			r.Post("/requests/{request}/review", member(p.requestAct(p.requestReview)))
			r.Post("/requests/{request}/confirm", member(p.requestAct(p.requestConfirm)))
			r.Post("/requests/{request}/withdraw", member(p.requestAct(p.requestWithdraw)))
			r.Post("/requests/{request}/break-glass", member(p.requestAct(p.requestBreakGlass)))
		}

		// Notices
		if p.noticing() != nil {
			r.Get("/notices", member(p.noticeList))
		}
		if p.building() != nil && p.rules != nil {
			const hook = "/admin/builds/{hook}"
			r.Get("/admin/builds", member(p.buildHookList))
			r.Post("/admin/builds", member(p.buildHookMake))
			r.Get(hook, member(p.buildHookShow))
			r.Post(hook+"/on", member(p.buildHookSwitch(true)))
			r.Post(hook+"/off", member(p.buildHookSwitch(false)))
			r.Post(hook+"/secret", member(p.buildHookSecret))
			r.Post(hook+"/rules", member(p.buildHookRules))
			r.Get(hook+"/delete", member(p.buildHookDeleteAsk))
			r.Post(hook+"/delete", member(p.buildHookDelete))
			r.Post(hook+"/end/{build}", member(p.buildHookEnd))
			r.Get(hook+"/deliveries/{delivery}", member(p.buildDeliveryShow))
			r.Post(hook+"/deliveries/{delivery}/replay", member(p.buildDeliveryReplay))
		}
		if p.hooking() != nil {
			r.Get("/admin/hooks", member(p.hookList))
			r.Post("/admin/hooks", member(p.hookSave))
			r.Get("/admin/hooks/{hook}", member(p.hookShow))
			r.Post("/admin/hooks/{hook}/test", member(p.hookTest))
			r.Post("/admin/hooks/{hook}/on", member(p.hookSwitch(true)))
			r.Post("/admin/hooks/{hook}/off", member(p.hookSwitch(false)))
			r.Post("/admin/hooks/{hook}/rotate", member(p.hookRotate))
			r.Get("/admin/hooks/{hook}/delete", member(p.hookDeleteAsk))
			r.Post("/admin/hooks/{hook}/delete", member(p.hookDelete))
			r.Get("/admin/hooks/{hook}/deliveries/{delivery}", member(p.hookDelivery))
			r.Post("/admin/hooks/{hook}/deliveries/{delivery}/resend", member(p.hookResend))
		}

		// Slack
		if p.chatting() != nil {
			r.Get("/admin/slack", member(p.slackShow))
			r.Post("/admin/slack/approvals", member(p.slackApprovals))
			r.Post("/admin/slack/channels", member(p.slackChannel))
			r.Post("/admin/slack/channels/reset", member(p.slackChannelReset))
			r.Post("/admin/slack/{team}/email-on", member(p.slackEmail(true)))
			r.Post("/admin/slack/{team}/email-off", member(p.slackEmail(false)))
			r.Post("/admin/slack/{team}/remove", member(p.slackRemove))
			r.Get("/slack/install", member(p.slackInstall))
			r.Get("/slack/oauth", member(p.slackInstalled))
		}

		// Money
		if p.money() != nil {
			r.Get("/usage", member(p.usageShow))
			r.Get("/clusters/{id}/extend", member(p.leaseExtendAsk))
			r.Post("/clusters/{id}/lease", member(p.leaseExtend))
			r.Get("/admin/quotas", member(p.quotaPage))
			r.Post("/admin/quotas", member(p.quotaSave))
			r.Post("/admin/quotas/delete", member(p.quotaDelete))
		}

		// For admins
		r.Get("/admin", member(p.adminHome))
		if p.secreting() != nil {
			r.Get("/admin/secrets", member(p.secretList))
			r.Post("/admin/secrets", member(p.secretSet))
			r.Post("/admin/secrets/{secret}/delete", member(p.secretDelete))
		}
		if p.resourcing() != nil {
			r.Get("/admin/resources", member(p.resourceList))
			r.Post("/admin/resources", stream(p.resourcePush)) // as long as it takes, with a form that is never whole in memory
			r.Post("/admin/resources/import", stream(p.resourceImport))
			r.Get("/admin/resources/import", redirect("/admin/resources"))
			r.Post("/admin/resources/sync", member(p.resourceSync))
			r.Get("/admin/resources/sync", redirect("/admin/resources"))
			r.Get("/admin/resources/{resource}", member(p.resourceShow))
			r.Get("/admin/resources/{resource}/diff", member(p.resourceDiff))
			r.Get("/admin/resources/{resource}/versions/{version}/content", stream(p.resourceDownload))
			r.Post("/admin/resources/{resource}/versions/{version}/{act:stage|recall|delete}", member(p.resourceVersionAct))
		}
		if p.auditing() != nil {
			r.Get("/admin/audit", member(p.auditList))
			r.Get("/admin/audit/export", stream(p.auditExport))
		}
		r.Get("/queue", member(p.queueShow))
		if p.people() != nil {
			r.Get("/admin/users", member(p.userList))
			r.Post("/admin/users", member(p.userCreate))
			r.Get("/admin/users/new", member(p.userNew))
			r.Get("/admin/users/{user}", member(p.userShow))
			r.Post("/admin/users/{user}", member(p.userChange))
			r.Post("/admin/users/{user}/reset-password", member(p.userReset))
			r.Post("/admin/users/{user}/reset-second-factor", member(p.userResetFactor))
			r.Post("/admin/users/second-factor", member(p.factorRequire))
			r.Post("/admin/users/{user}/delete", member(p.userDelete))
			r.Get("/admin/groups", member(p.groupList))
			r.Post("/admin/groups", member(p.groupSave))
			r.Post("/admin/groups/delete", member(p.groupDelete))
			r.Get("/admin/tokens", member(p.tokenList))
			r.Post("/admin/tokens", member(p.robotTokenCreate))
			r.Post("/admin/tokens/revoke", member(p.adminTokenRevoke))
		}
		if p.installation() != nil {
			r.Get("/admin/settings", member(p.settingsShow))
			r.Get("/admin/provider-health", member(p.providerHealthShow))
			r.Get("/admin/queues", member(p.queuesShow))
		}
		if p.tenancy() != nil {
			r.Post("/tenant", member(p.tenantSwitch))
			r.Get("/admin/tenants", member(p.tenantList))
			r.Post("/admin/tenants", member(p.tenantSave))
			r.Post("/admin/tenants/delete", member(p.tenantDelete))
		}
		if p.ruling() != nil {
			r.Get("/admin/policies", member(p.policyList))
			r.Post("/admin/policies", member(p.policySave))
			r.Get("/admin/policies/new", member(p.policyNew))
			r.Post("/admin/policies/zone", member(p.policyZone))
			r.Get("/admin/policies/try", redirect("/admin/policies"))
			r.Post("/admin/policies/try", member(p.policyTry))
			r.Get("/admin/policies/{policy}", member(p.policyShow))
			r.Post("/admin/policies/{policy}/delete", member(p.policyDelete))
		}
		if _, ok := p.muster.(Provisioning); ok {
			r.Get("/provisioners", member(p.provisionerList))
			r.Post("/provisioners/{provisioner}/drain", member(p.provisionerDrain))
		}
		if p.pooling() != nil {
			r.Get("/admin/pools", member(p.poolList))
			r.Post("/admin/pools", member(p.poolCreate))
			r.Get("/admin/pools/{pool}", member(p.poolShow))
			r.Post("/admin/pools/{pool}", member(p.poolChange))
			r.Post("/admin/pools/{pool}/drain", member(p.poolDrain))
			r.Get("/admin/pools/{pool}/delete", member(p.poolDeleteAsk))
			r.Post("/admin/pools/{pool}/delete", member(p.poolDelete))
		}
		if p.machines() != nil {
			r.Get("/orphans", member(p.orphanList))
			r.Post("/orphans/mode", member(p.orphanMode))
			r.Post("/orphans/{orphan}/delete", member(p.orphanDecide(app.DecideDelete)))
			r.Post("/orphans/{orphan}/keep", member(p.orphanDecide(app.DecideKeep)))
			r.Get("/clusters/{id}/receipt", member(p.clusterReceipt))
		}

		r.NotFound(page(p.notFound))
		r.MethodNotAllowed(page(p.notAllowed))
	})

	// The catalog, for admins. Its forms carry whole texts, and what was uploaded.
	if p.cataloging() != nil {
		r.Group(func(r chi.Router) {
			r.Use(p.limit(catalogLimit), p.sessions.LoadAndSave)
			member := func(h memberHandler) http.HandlerFunc { return within(requestTime, p.member(h)) }
			const kind = "/admin/catalog/{kind:template|service|image|hardware|provider}"

			r.Get("/admin/catalog", member(p.catalogList))
			r.Get("/admin/catalog/import", member(p.catalogImportShow))
			r.Post("/admin/catalog/import", member(p.catalogImport))
			r.Get("/admin/catalog/export", member(p.catalogExport))
			r.Get(kind, member(p.catalogList))
			r.Get(kind+"/new", member(p.catalogWrite))
			r.Post(kind+"/new", member(p.catalogWrite))
			r.Get(kind+"/{name}", member(p.catalogShow))
			r.Get(kind+"/{name}/edit", member(p.catalogWrite))
			r.Post(kind+"/{name}/edit", member(p.catalogWrite))
			if p.accounting() != nil {
				survey := func(h memberHandler) http.HandlerFunc { return within(surveyTime, p.member(h)) }
				r.Get("/admin/catalog/provider/{name}/check", survey(p.providerCheck))
				r.Get("/admin/catalog/provider/{name}/offers", survey(p.providerOffers))
			}
			r.Get("/admin/catalog/{kind:template}/{name}/publish", member(p.catalogPublish))
			r.Get(kind+"/{name}/remove", member(p.catalogRemove))
			r.Post(kind+"/{name}/remove", member(p.catalogRemove))
			r.Get(kind+"/{name}/revert/{number}", member(p.catalogRevert))
			r.Post(kind+"/{name}/revert/{number}", member(p.catalogRevert))
		})
	}

	// For programs
	r.Route(apiPath, p.apiRoutes)
	return r
}

func redirect(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusSeeOther) }
}
