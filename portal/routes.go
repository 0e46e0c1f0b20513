package portal

import (
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
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

// routes is the site map: every address that the portal answers.
func (p *Portal) routes() http.Handler {
	r := chi.NewRouter()
	r.Use(p.rescue, p.access, p.headers, p.sameOrigin, middleware.GetHead)

	// Files
	r.With(timeout(requestTime)).Handle(static.Prefix+"*", static.Handler())

	// For people
	r.Group(func(r chi.Router) {
		r.Use(limit(formLimit), p.sessions.LoadAndSave)
		page := func(h handler) http.HandlerFunc { return within(requestTime, p.page(h)) }
		member := func(h memberHandler) http.HandlerFunc { return within(requestTime, p.member(h)) }
		newcomer := func(h memberHandler) http.HandlerFunc { return within(requestTime, p.newcomer(h)) }
		stream := func(h memberHandler) http.HandlerFunc { return p.member(p.attended(h)) }

		// Coming and going
		r.Get("/signin", page(p.signInShow))
		r.Post("/signin", page(p.signIn))
		r.Post("/signout", page(p.signOut))
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
			r.Get("/step-up", member(p.stepUpAsk))
			r.Post("/step-up", member(p.stepUp))
			r.Get("/step-up/{provider}", member(p.stepUpAway))
			r.Get("/link", member(p.linkAsk))
			r.Post("/link", member(p.linkConfirm))
		}

		// Clusters
		r.Get("/", member(p.home))
		r.Get("/clusters", member(p.clusterList))
		r.Post("/clusters", member(p.clusterCreate))
		r.Get("/clusters/new", member(p.clusterNew))
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
			r.Post("/admin/users/{user}/delete", member(p.userDelete))
			r.Get("/admin/groups", member(p.groupList))
			r.Post("/admin/groups", member(p.groupSave))
			r.Post("/admin/groups/delete", member(p.groupDelete))
			r.Get("/admin/tokens", member(p.tokenList))
			r.Post("/admin/tokens", member(p.robotTokenCreate))
			r.Post("/admin/tokens/revoke", member(p.adminTokenRevoke))
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

	// For programs
	r.Route("/api/v1", func(r chi.Router) {
		r.Use(limit(apiLimit))
		api := p.newAPI(r)

		r.Get("/openapi.json", serveOpenAPI(api))
		huma.Get(api, "/version", p.apiVersion, open, about("Which version this is"))

		huma.Get(api, "/templates", p.apiTemplateList, about("List the templates that clusters can be made from"))
		if p.templating() != nil {
			huma.Get(api, "/templates/{name}", p.apiTemplateShow, about("Show all that a template says, and where each part comes from"))
			huma.Get(api, "/templates/{name}/versions", p.apiTemplateVersions, about("List the versions of a template, newest first"))
			huma.Get(api, "/templates/{name}/changes", p.apiTemplateDiff, about("Tell how two versions of a template differ"))
		}
		huma.Post(api, "/preview", p.apiPreview, about("Work out what a create would do"))
		if _, ok := p.muster.(Explainer); ok {
			huma.Post(api, "/explain", p.apiExplain, about("Say why a request has no layout, and what would make one possible"))
		}

		huma.Get(api, "/clusters", p.apiClusterList, about("List clusters, newest first"))
		huma.Post(api, "/clusters", p.apiClusterCreate, about("Create a cluster, or ask for one that people have to approve"), eitherWay)
		huma.Get(api, "/clusters/{id}", p.apiClusterShow, about("Show a cluster"))
		huma.Delete(api, "/clusters/{id}", p.apiClusterDelete, about("Delete a cluster"), answers(http.StatusAccepted))
		huma.Post(api, "/clusters/{id}/resume", p.apiClusterResume, about("Go on with a failed operation"), answers(http.StatusAccepted))
		huma.Get(api, "/clusters/{id}/key", p.apiClusterKey, about("Get the private SSH key of a cluster"))
		huma.Post(api, "/clusters/{id}/certificate", p.apiClusterCertificate, about("Get an SSH certificate that opens a cluster for a while"))

		const op = "/clusters/{id}/operations/{operation}"
		huma.Post(api, op+"/cancel", p.apiOperationCancel, about("Stop an operation"), answers(http.StatusAccepted))
		huma.Post(api, op+"/pause", p.apiOperationPause, about("Let nothing new of an operation start"), answers(http.StatusAccepted))
		huma.Post(api, op+"/resume", p.apiOperationResume, about("Go on with an operation that is paused or has failed"), answers(http.StatusAccepted))
		huma.Get(api, op+"/roll-back", p.apiRollBackShow, about("Work out what the roll-back of an operation would do"))
		huma.Post(api, op+"/roll-back", p.apiRollBack, about("Undo what an operation has done that failed or was cancelled"), answers(http.StatusAccepted))
		if p.goingOn() != nil {
			huma.Get(api, op+"/go-on", p.apiGoOnShow, about("Work out what it would be to go on with the machines that came"))
			huma.Post(api, op+"/go-on", p.apiGoOn, about("Go on with the machines that came"), answers(http.StatusAccepted))
			huma.Put(api, "/clusters/{id}/top-up", p.apiTopUp, about("Say whether the nodes that a cluster lacks are asked for again, and when"))
		}
		huma.Post(api, "/clusters/{id}/nodes/{node}/retry", p.apiNodeRetry, about("Try again what failed on one node"), answers(http.StatusAccepted))
		if p.amending() != nil {
			huma.Post(api, "/clusters/{id}/operations", p.apiAmend, about("Amend a cluster that stands, or ask for it where people have to approve"), eitherAmend)
			huma.Get(api, "/clusters/{id}/config", p.apiClusterConfig, about("Show the configuration of a cluster to those who may amend it"))
			huma.Post(api, "/clusters/{id}/operations/preview", p.apiAmendPreview, about("Work out what an amendment of a cluster would do"), answers(http.StatusOK))
		}
		huma.Get(api, "/clusters/{id}/waiting", p.apiWaiting, about("Say why steps of a cluster wait"))
		if p.watching() != nil {
			huma.Get(api, "/clusters/{id}/health", p.apiClusterHealth, about("Tell how a cluster and its nodes are"))
			huma.Get(api, "/clusters/{id}/drift", p.apiClusterDrift, about("Tell where a cluster is not what it should be, and what would mend it"))
		}
		if p.questioning() != nil {
			huma.Get(api, "/questions", p.apiQuestionList, about("List the steps at which operations wait for people"))
			huma.Post(api, "/clusters/{id}/answers", p.apiQuestionAnswer, about("Answer what an operation asks: let it go on, or refuse"), answers(http.StatusOK))
		}
		huma.Get(api, "/queue", p.apiQueue, about("Tell admins what waits in their tenant"))

		if p.life() != nil {
			huma.Post(api, "/clusters/{id}/rename", p.apiClusterRename, about("Give a cluster another name"), answers(http.StatusOK))
			huma.Post(api, "/clusters/{id}/transfer", p.apiClusterTransfer, about("Give a cluster to another owner"), answers(http.StatusOK))
			huma.Get(api, "/clusters/{id}/sleep", p.apiSleepPreview, about("Work out what putting a cluster to sleep would do"))
			huma.Post(api, "/clusters/{id}/sleep", p.apiSleep, about("Put a cluster to sleep, or ask for it where people have to approve"), eitherAmend)
			huma.Get(api, "/clusters/{id}/wake", p.apiWakePreview, about("Work out what waking a cluster would do"))
			huma.Post(api, "/clusters/{id}/wake", p.apiWake, about("Wake a cluster, or ask for it where people have to approve"), eitherAmend)
			huma.Get(api, "/clusters/{id}/schedule", p.apiScheduleShow, about("Tell when a cluster goes to sleep and wakes"))
			huma.Put(api, "/clusters/{id}/schedule", p.apiScheduleSet, about("Say when a cluster goes to sleep and wakes"))
			huma.Get(api, "/clusters/{id}/spec", p.apiClusterSpec, about("Export what to ask for to get a cluster like this"))
			huma.Get(api, "/clusters/{id}/clone", p.apiClonePreview, about("Work out what a clone of a cluster would be"))
			huma.Post(api, "/clusters/{id}/clone", p.apiClone, about("Create a cluster like another one, or ask for it"), eitherWay)
			huma.Get(api, "/diff", p.apiDiff, about("Compare two clusters, or two moments of one"))
		}

		if p.requesting() != nil {
			huma.Get(api, "/requests", p.apiRequestList, about("List requests, newest first"))
			huma.Get(api, "/requests/{id}", p.apiRequestShow, about("Show a request"))
			huma.Post(api, "/requests/{id}/reviews", p.apiRequestReview, about("Approve a request, deny it, or approve it with conditions"))
			huma.Post(api, "/requests/{id}/confirm", p.apiRequestConfirm, about("Take what was offered"))
			huma.Post(api, "/requests/{id}/withdraw", p.apiRequestWithdraw, about("Withdraw a request"))
			huma.Post(api, "/requests/{id}/break-glass", p.apiRequestBreakGlass, about("Let a request run at once, without approvals"))
		}
		if p.ruling() != nil {
			huma.Get(api, "/policies", p.apiPolicyList, about("List policies in the order in which they are looked at"))
			huma.Post(api, "/policies/try", p.apiPolicyTry, about("Say what a policy would do, to a made-up request and to those of the past"))
			huma.Put(api, "/policies-time-zone", p.apiPolicyZone, about("Set the time zone by which policies tell weekday and hour"))
			huma.Get(api, "/policies/{name}", p.apiPolicyShow, about("Show a policy with all of its versions"))
			huma.Put(api, "/policies/{name}", p.apiPolicySave, about("Save a policy"))
			huma.Delete(api, "/policies/{name}", p.apiPolicyDelete, about("Delete a policy"))
		}

		if p.pooling() != nil {
			huma.Get(api, "/pools", p.apiPoolList, about("List the pools of machines that are made ahead of time, for admins"))
			huma.Post(api, "/pools", p.apiPoolCreate, about("Have machines made ahead of time"), answers(http.StatusCreated))
			huma.Get(api, "/pools/{name}", p.apiPoolShow, about("Show a pool with its machines"))
			huma.Patch(api, "/pools/{name}", p.apiPoolChange, about("Change how many machines a pool has, how old they get, or whether it is refilled"))
			huma.Post(api, "/pools/{name}/drain", p.apiPoolDrain, about("Give all machines of a pool back"), answers(http.StatusAccepted))
			huma.Delete(api, "/pools/{name}", p.apiPoolDelete, about("Delete a pool: its machines are given back"), answers(http.StatusAccepted))
			huma.Get(api, "/pools/{name}/receipt", p.apiPoolReceipt, about("Tell what a pool has had at its provider, and what that cost"))
		}
		if p.machines() != nil {
			huma.Get(api, "/clusters/{id}/receipt", p.apiReceipt, about("Tell what a cluster has had at its provider, and what that cost"))
			huma.Get(api, "/orphans", p.apiOrphanList, about("List machines that nobody stands behind, for admins"))
			huma.Post(api, "/orphans/{orphan}", p.apiOrphanDecide, about("Have an orphan deleted, or kept"), answers(http.StatusAccepted))
			huma.Put(api, "/orphans-mode", p.apiOrphanMode, about("Set what becomes of orphans by themselves"))
		}

		if p.money() != nil {
			huma.Get(api, "/quotas", p.apiQuotaList, about("List quotas and how much of each is used, for admins"))
			huma.Put(api, "/quotas", p.apiQuotaSet, about("Set the quota of a group, of a user, for each user, or of the tenant"))
			huma.Delete(api, "/quotas", p.apiQuotaDelete, about("Lift a quota"))
			huma.Get(api, "/quotas/left", p.apiQuotaLeft, about("Tell what is left for you, and by which limit"))
			huma.Get(api, "/clusters/{id}/lease", p.apiLeaseShow, about("Tell when a lease ends, who was warned, and what would keep it from ending"))
			huma.Post(api, "/clusters/{id}/lease", p.apiLeaseExtend, about("Move the end of a lease"), answers(http.StatusOK))
			huma.Get(api, "/usage", p.apiUsage, about("Tell what was used, and what it cost"), usageForms)
		}

		if p.people() != nil {
			huma.Get(api, "/users", p.apiUserList, about("List the accounts of the tenant by name, for admins"))
			huma.Post(api, "/users", p.apiUserCreate, about("Make an account"), answers(http.StatusCreated))
			huma.Get(api, "/users/{name}", p.apiUserShow, about("Show an account"))
			huma.Patch(api, "/users/{name}", p.apiUserChange, about("Change an account"))
			huma.Post(api, "/users/{name}/reset-password", p.apiUserReset, about("Give an account a new one-time password"))
			huma.Delete(api, "/users/{name}", p.apiUserDelete, about("Delete an account"))
			huma.Get(api, "/groups", p.apiGroupList, about("List the groups of the tenant, for admins"))
			huma.Put(api, "/groups", p.apiGroupSave, about("Make or change a group"))
			huma.Delete(api, "/groups", p.apiGroupDelete, about("Delete a group"))
			huma.Get(api, "/tokens", p.apiTokenList, about("List API tokens: one's own, or for admins those of the tenant"))
			huma.Post(api, "/tokens", p.apiTokenCreate, about("Make an API token of one's own, or for admins one of a robot"), answers(http.StatusCreated))
			huma.Delete(api, "/tokens/{id}", p.apiTokenRevoke, about("Revoke an API token"))
		}
		if p.tenancy() != nil {
			huma.Get(api, "/tenants", p.apiTenantList, about("List the tenants, for superadmins"))
			huma.Post(api, "/tenants", p.apiTenantCreate, about("Make a tenant"), answers(http.StatusCreated))
			huma.Get(api, "/tenants/{name}", p.apiTenantShow, about("Show a tenant"))
			huma.Patch(api, "/tenants/{name}", p.apiTenantChange, about("Change a tenant"))
			huma.Delete(api, "/tenants/{name}", p.apiTenantDelete, about("Delete a tenant of which nothing is left in any cloud"))
		}
		if p.noticing() != nil {
			huma.Get(api, "/notices", p.apiNoticeList, about("List what you were told, newest first; for admins all of the tenant"))
		}
		if p.secreting() != nil {
			huma.Get(api, "/secrets", p.apiSecretList, about("List the names of the tenant's secrets, for admins"))
			huma.Put(api, "/secrets/{name}", p.apiSecretSet, about("Set a secret: the body is its value"), answers(http.StatusNoContent))
			huma.Delete(api, "/secrets/{name}", p.apiSecretDelete, about("Delete a secret"), answers(http.StatusNoContent))
		}
		if p.auditing() != nil {
			huma.Get(api, "/audit", p.apiAuditList, about("Read the audit, newest first"))
			huma.Get(api, "/audit/export", p.apiAuditExport, about("Export the audit, oldest first"), streaming)
			huma.Get(api, "/audit/verify", p.apiAuditVerify, about("Walk the chain of the audit and say whether it is whole"))
		}
		if p.hooking() != nil {
			huma.Get(api, "/hooks", p.apiHookList, about("List where notices are sent to, for admins"))
			huma.Get(api, "/hooks/{name}", p.apiHookShow, about("Show a hook"))
			huma.Put(api, "/hooks/{name}", p.apiHookSave, about("Make a hook or change it; what is left out stays"))
			huma.Delete(api, "/hooks/{name}", p.apiHookDelete, about("Delete a hook and the list of its deliveries"))
			huma.Post(api, "/hooks/{name}/test", p.apiHookTest, about("Send a test notice"), answers(http.StatusAccepted))
			huma.Get(api, "/hooks/{name}/deliveries", p.apiHookDeliveryList, about("List what was sent to a hook, newest first"))
			huma.Get(api, "/hooks/{name}/deliveries/{delivery}", p.apiHookDelivery, about("Show a delivery: what was sent, and every answer"))
			huma.Post(api, "/hooks/{name}/deliveries/{delivery}/resend", p.apiHookResend, about("Send a delivery again, under the same number"), answers(http.StatusAccepted))
		}

		if p.chatting() != nil {
			huma.Get(api, "/slack", p.apiSlackShow, about("Show workspaces, channels and connections of Slack, for admins"))
			huma.Put(api, "/slack/workspaces/{team}", p.apiSlackChange, about("Change how members of a workspace are linked to accounts"))
			huma.Delete(api, "/slack/workspaces/{team}", p.apiSlackRemove, about("Forget a workspace's tokens, and stop its cards"))
			huma.Put(api, "/slack/workspaces/{team}/channels/{channel}", p.apiSlackChannel, about("Agree that a channel speaks for a tenant; it does once both sides have"))
			huma.Delete(api, "/slack/workspaces/{team}/channels/{channel}", p.apiSlackChannelReset, about("Give a channel back to the tenant of its workspace"))
			huma.Put(api, "/slack/approvals", p.apiSlackApprovals, about("Say in which channel requests are shown to their approvers"))
			huma.Delete(api, "/slack/approvals", p.apiSlackApprovalsEnd, about("Show requests in no channel any more"))
		}

		if p.checking() != nil {
			huma.Get(api, "/clusters/{id}/checks", p.apiChecks, about("Tell what the nodes of a cluster were found to be when they were bootstrapped"))
		}
		huma.Get(api, "/clusters/{id}/steps", p.apiStepList, about("List the steps of an operation"))
		huma.Get(api, "/clusters/{id}/events", p.apiEventList, about("Follow the events of a cluster"), streaming)
		huma.Get(api, "/clusters/{id}/logs", p.apiLogList, about("Read the log of a cluster"))

		if _, ok := p.muster.(Provisioning); ok {
			huma.Get(api, "/provisioners", p.apiProvisionerList, about("List the provisioners, those alive first"))
			huma.Post(api, "/provisioners/{name}/drain", p.apiProvisionerDrain, about("Let a provisioner end what it has, and then itself"))
			huma.Get(api, "/provisioner-tokens", p.apiProvisionerTokenList, about("List the tokens of provisioners"))
			huma.Post(api, "/provisioner-tokens", p.apiProvisionerTokenCreate, about("Make a token for provisioners"), answers(http.StatusCreated))
			huma.Delete(api, "/provisioner-tokens/{name}", p.apiProvisionerTokenRevoke, about("Revoke a token and all that registered with it"))
		}

		r.NotFound(p.apiNotFound)
		r.MethodNotAllowed(p.apiNotAllowed)
	})
	return r
}

func redirect(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusSeeOther) }
}
