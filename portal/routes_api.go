package portal

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"
)

// apiRoutes is the site map for programs. The order is that of the document of the API.
func (p *Portal) apiRoutes(r chi.Router) {
	r.Use(p.limitUnless(apiLimit, uploads))
	api := p.newAPI(r)
	p.api, p.document = r, api.OpenAPI()

	r.Get("/openapi.json", serveOpenAPI(p.document))
	p.apiCatalogRoutes(api)
	p.apiClusterRoutes(api)
	p.apiMoneyRoutes(api)
	p.apiHouseRoutes(api)

	r.NotFound(p.apiNotFound)
	r.MethodNotAllowed(p.apiNotAllowed)
}

// apiCatalogRoutes are about what clusters are made of, and what one would be.
func (p *Portal) apiCatalogRoutes(api huma.API) {
	get(api, "/version", p.apiVersion, about("Which version this is"))

	get(api, "/templates", p.apiTemplateList, about("List the templates that clusters can be made from"))
	if p.templating() != nil {
		get(api, "/templates/{name}", p.apiTemplateShow, about("Show all that a template says, and where each part comes from"))
		get(api, "/templates/{name}/versions", p.apiTemplateVersions, about("List the versions of a template, newest first"))
		get(api, "/templates/{name}/changes", p.apiTemplateDiff, about("Tell how two versions of a template differ"))
	}
	if p.cataloging() != nil {
		get(api, "/catalog", p.apiCatalogList, about("List the entries of the tenant's catalog, for admins"))
		get(api, "/catalog/families", p.apiCatalogFamilies, about("Say which kinds of clouds and tools there are, with their fields"))
		get(api, "/catalog/export", p.apiCatalogExport, about("Get the tenant's own entries as files"))
		post(api, "/catalog/check", p.apiCatalogCheck, about("Say what a change of the tenant's catalog would do, and all that is wrong with it"))
		post(api, "/catalog/apply", p.apiCatalogApply, about("Change the tenant's catalog: all of it, or, where something is wrong, nothing"))
		post(api, "/catalog/try", p.apiCatalogTry, about("Work out what a create would do as if a change of the catalog were saved"))
		get(api, "/catalog/{kind}/{name}", p.apiCatalogShow, about("Show an entry of the tenant's catalog with its text"))
		get(api, "/catalog/{kind}/{name}/history", p.apiCatalogHistory, about("List the versions of an own entry"))
		post(api, "/catalog/{kind}/{name}/revert", p.apiCatalogRevert, about("Save an older version of an own entry again"))
	}
	post(api, "/preview", p.apiPreview, about("Work out what a create would do"))
	if _, ok := p.muster.(Explainer); ok {
		post(api, "/explain", p.apiExplain, about("Say why a request has no layout, and what would make one possible"))
	}
}

// apiClusterRoutes are about clusters and what is done with them.
func (p *Portal) apiClusterRoutes(api huma.API) {
	get(api, "/clusters", p.apiClusterList, about("List clusters, newest first"))
	post(api, "/clusters", p.apiClusterCreate, about("Create a cluster, or ask for one that people have to approve"), eitherWay)
	get(api, "/clusters/{id}", p.apiClusterShow, about("Show a cluster"))
	del(api, "/clusters/{id}", p.apiClusterDelete, about("Delete a cluster"), answers(http.StatusAccepted))
	post(api, "/clusters/{id}/resume", p.apiClusterResume, about("Go on with a failed operation"), answers(http.StatusAccepted))
	if p.sharing() != nil {
		get(api, "/clusters/{id}/sharing", p.apiSharingShow, about("Tell who has access to a cluster, to those who may change that"))
		put(api, "/clusters/{id}/sharing", p.apiSharingChange, about("Share a cluster with people and groups, or set who may see it"))
		get(api, "/cluster-defaults", p.apiClusterDefaults, about("Tell who may see the tenant's new clusters"))
		put(api, "/cluster-defaults", p.apiClusterDefaultsSet, about("Set who may see the tenant's new clusters, for admins"))
	}
	get(api, "/clusters/{id}/inventory", p.apiInventory, about("Tell how the machines of a cluster are reached, in a form for other tools"), files("The inventory", "text/plain", mediaJSON), inventoryForm)
	get(api, "/clusters/{id}/key", p.apiClusterKey, about("Get the private SSH key of a cluster"))
	post(api, "/clusters/{id}/certificate", p.apiClusterCertificate, about("Get an SSH certificate that opens a cluster for a while"))

	const op = "/clusters/{id}/operations/{operation}"
	post(api, op+"/cancel", p.apiOperationCancel, about("Stop an operation"), answers(http.StatusAccepted))
	post(api, op+"/pause", p.apiOperationPause, about("Let nothing new of an operation start"), answers(http.StatusAccepted))
	post(api, op+"/resume", p.apiOperationResume, about("Go on with an operation that is paused or has failed"), answers(http.StatusAccepted))
	get(api, op+"/roll-back", p.apiRollBackShow, about("Work out what the roll-back of an operation would do"))
	post(api, op+"/roll-back", p.apiRollBack, about("Undo what an operation has done that failed or was cancelled"), answers(http.StatusAccepted))
	if p.goingOn() != nil {
		get(api, op+"/go-on", p.apiGoOnShow, about("Work out what it would be to go on with the machines that came"))
		post(api, op+"/go-on", p.apiGoOn, about("Go on with the machines that came"), answers(http.StatusAccepted))
		put(api, "/clusters/{id}/top-up", p.apiTopUp, about("Say whether the nodes that a cluster lacks are asked for again, and when"))
	}
	post(api, "/clusters/{id}/nodes/{node}/retry", p.apiNodeRetry, about("Try again what failed on one node"), answers(http.StatusAccepted))
	if p.amending() != nil {
		post(api, "/clusters/{id}/operations", p.apiAmend, about("Amend a cluster that stands, or ask for it where people have to approve"), eitherAmend)
		get(api, "/clusters/{id}/config", p.apiClusterConfig, about("Show the configuration of a cluster to those who may amend it"))
		post(api, "/clusters/{id}/operations/preview", p.apiAmendPreview, about("Work out what an amendment of a cluster would do"), answers(http.StatusOK))
	}
	get(api, "/clusters/{id}/waiting", p.apiWaiting, about("Say why steps of a cluster wait"))
	if p.watching() != nil {
		get(api, "/clusters/{id}/health", p.apiClusterHealth, about("Tell how a cluster and its nodes are"))
		post(api, "/clusters/{id}/health/check", p.apiHealthCheck, about("Check a cluster's health now instead of when the next check is due"), answers(http.StatusAccepted))
		get(api, "/clusters/{id}/facts", p.apiClusterFacts, about("Tell what the services of a cluster told of its nodes: ports, versions, where they are found; secret values are left out"))
		get(api, "/clusters/{id}/drift", p.apiClusterDrift, about("Tell where a cluster is not what it should be, and what would mend it"))
	}
	if p.questioning() != nil {
		get(api, "/questions", p.apiQuestionList, about("List the steps at which operations wait for people"))
		post(api, "/clusters/{id}/answers", p.apiQuestionAnswer, about("Answer what an operation asks: let it go on, or refuse"), answers(http.StatusOK))
	}
	get(api, "/queue", p.apiQueue, about("Tell admins what waits in their tenant"))
	if p.installation() != nil {
		get(api, "/queues", p.apiQueues, about("Tell superadmins what waits in which tenant, and why"))
	}

	if p.life() != nil {
		post(api, "/clusters/{id}/rename", p.apiClusterRename, about("Give a cluster another name"), answers(http.StatusOK))
		post(api, "/clusters/{id}/transfer", p.apiClusterTransfer, about("Give a cluster to another owner"), answers(http.StatusOK))
		get(api, "/clusters/{id}/sleep", p.apiSleepPreview, about("Work out what putting a cluster to sleep would do"))
		post(api, "/clusters/{id}/sleep", p.apiSleep, about("Put a cluster to sleep, or ask for it where people have to approve"), eitherAmend)
		get(api, "/clusters/{id}/wake", p.apiWakePreview, about("Work out what waking a cluster would do"))
		post(api, "/clusters/{id}/wake", p.apiWake, about("Wake a cluster, or ask for it where people have to approve"), eitherAmend)
		get(api, "/clusters/{id}/schedule", p.apiScheduleShow, about("Tell when a cluster goes to sleep and wakes"))
		put(api, "/clusters/{id}/schedule", p.apiScheduleSet, about("Say when a cluster goes to sleep and wakes"))
		get(api, "/clusters/{id}/spec", p.apiClusterSpec, about("Export what to ask for to get a cluster like this"))
		get(api, "/clusters/{id}/clone", p.apiClonePreview, about("Work out what a clone of a cluster would be"))
		post(api, "/clusters/{id}/clone", p.apiClone, about("Create a cluster like another one, or ask for it"), eitherWay)
		get(api, "/diff", p.apiDiff, about("Compare two clusters, or two moments of one"))
	}
}

// apiMoneyRoutes are about who decides, what is kept ready, and what it costs.
func (p *Portal) apiMoneyRoutes(api huma.API) {
	if p.requesting() != nil {
		get(api, "/requests", p.apiRequestList, about("List requests, newest first"))
		get(api, "/requests/{id}", p.apiRequestShow, about("Show a request"))
		post(api, "/requests/{id}/reviews", p.apiRequestReview, about("Approve a request, deny it, or approve it with conditions"))
		post(api, "/requests/{id}/confirm", p.apiRequestConfirm, about("Take what was offered"))
		post(api, "/requests/{id}/withdraw", p.apiRequestWithdraw, about("Withdraw a request"))
		post(api, "/requests/{id}/break-glass", p.apiRequestBreakGlass, about("Let a request run at once, without approvals"))
	}
	if p.ruling() != nil {
		get(api, "/policies", p.apiPolicyList, about("List policies in the order in which they are looked at"))
		post(api, "/policies/try", p.apiPolicyTry, about("Say what a policy would do, to a made-up request and to those of the past"))
		put(api, "/policies-time-zone", p.apiPolicyZone, about("Set the time zone by which policies tell weekday and hour"))
		get(api, "/policies/{name}", p.apiPolicyShow, about("Show a policy with all of its versions"))
		put(api, "/policies/{name}", p.apiPolicySave, about("Save a policy"))
		del(api, "/policies/{name}", p.apiPolicyDelete, about("Delete a policy"))
	}

	if p.pooling() != nil {
		get(api, "/pools", p.apiPoolList, about("List the pools of machines that are made ahead of time, for admins"))
		post(api, "/pools", p.apiPoolCreate, about("Have machines made ahead of time"), answers(http.StatusCreated))
		get(api, "/pools/{name}", p.apiPoolShow, about("Show a pool with its machines"))
		patch(api, "/pools/{name}", p.apiPoolChange, about("Change how many machines a pool has, how old they get, or whether it is refilled"))
		post(api, "/pools/{name}/drain", p.apiPoolDrain, about("Give all machines of a pool back"), answers(http.StatusAccepted))
		del(api, "/pools/{name}", p.apiPoolDelete, about("Delete a pool: its machines are given back"), answers(http.StatusAccepted))
		get(api, "/pools/{name}/receipt", p.apiPoolReceipt, about("Tell what a pool has had at its provider, and what that cost"))
	}
	if p.machines() != nil {
		get(api, "/clusters/{id}/receipt", p.apiReceipt, about("Tell what a cluster has had at its provider, and what that cost"))
		get(api, "/orphans", p.apiOrphanList, about("List orphaned machines, for admins"))
		post(api, "/orphans/{orphan}", p.apiOrphanDecide, about("Have an orphan deleted, or kept"), answers(http.StatusAccepted))
		put(api, "/orphans-mode", p.apiOrphanMode, about("Set what becomes of orphans by themselves"))
	}

	if p.money() != nil {
		get(api, "/quotas", p.apiQuotaList, about("List quotas and how much of each is used, for admins"))
		put(api, "/quotas", p.apiQuotaSet, about("Set the quota of a group, of a user, for each user, or of the tenant"))
		del(api, "/quotas", p.apiQuotaDelete, about("Lift a quota"))
		get(api, "/quotas/left", p.apiQuotaLeft, about("Tell what is left for you, and by which limit"))
		get(api, "/clusters/{id}/lease", p.apiLeaseShow, about("Tell when a lease ends, who was warned, and what would keep it from ending"))
		post(api, "/clusters/{id}/lease", p.apiLeaseExtend, about("Move the end of a lease"), answers(http.StatusOK))
		get(api, "/usage", p.apiUsage, about("Tell what was used, and what it cost"), usageForms)
	}
}

// apiHouseRoutes are about people, the tenant and the installation.
func (p *Portal) apiHouseRoutes(api huma.API) {
	if p.people() != nil {
		get(api, "/users", p.apiUserList, about("List the accounts of the tenant by name, for admins"))
		post(api, "/users", p.apiUserCreate, about("Make an account"), answers(http.StatusCreated))
		get(api, "/users/{name}", p.apiUserShow, about("Show an account"))
		patch(api, "/users/{name}", p.apiUserChange, about("Change an account"))
		if p.accounts() != nil {
			post(api, "/users/{name}/reset-second-factor", p.apiUserResetFactor, about("Remove all second factors of a user who lost them; the sign-ins end"), answers(http.StatusOK))
			put(api, "/second-factor", p.apiFactorRequire, about("Say whether people of the tenant who sign in with a password need a second factor"))
		}
		post(api, "/users/{name}/reset-password", p.apiUserReset, about("Give an account a new one-time password; its sign-ins and tokens end"))
		del(api, "/users/{name}", p.apiUserDelete, about("Delete an account"))
		get(api, "/groups", p.apiGroupList, about("List the groups of the tenant, for admins"))
		put(api, "/groups", p.apiGroupSave, about("Make or change a group"))
		del(api, "/groups", p.apiGroupDelete, about("Delete a group"))
		get(api, "/tokens", p.apiTokenList, about("List API tokens: one's own, or for admins those of the tenant"))
		post(api, "/tokens", p.apiTokenCreate, about("Make an API token of one's own, or for admins one of a robot"), answers(http.StatusCreated))
		del(api, "/tokens/{id}", p.apiTokenRevoke, about("Revoke an API token"))
		if p.devices() != nil {
			post(api, "/device/code", p.apiDeviceStart, open, about("Begin the sign-in of a program, for a person to allow at the portal"))
			post(api, "/device/token", p.apiDeviceToken, open, about("Get the token that a person has allowed"), answers(http.StatusCreated))
			del(api, "/token", p.apiTokenEnd, about("End the token that the request carries"))
		}
	}
	if p.accounting() != nil {
		post(api, "/providers/{name}/check", p.apiProviderCheck, about("Look whether a provider's account would do, for admins; nothing is made"), answers(http.StatusOK), slow)
		get(api, "/providers/{name}/offers", p.apiProviderOffers, about("Tell which zones, flavors and images a provider has, for admins"), slow)
	}
	if p.installation() != nil {
		get(api, "/settings", p.apiSettings, about("Tell how the server is set up and what it leans on, for superadmins"))
		get(api, "/provider-health", p.apiProviderHealth, about("Tell how provider accounts are to work with, for superadmins"))
	}
	if p.tenancy() != nil {
		get(api, "/tenants", p.apiTenantList, about("List the tenants, for superadmins"))
		post(api, "/tenants", p.apiTenantCreate, about("Make a tenant"), answers(http.StatusCreated))
		get(api, "/tenants/{name}", p.apiTenantShow, about("Show a tenant"))
		patch(api, "/tenants/{name}", p.apiTenantChange, about("Change a tenant"))
		del(api, "/tenants/{name}", p.apiTenantDelete, about("Delete a tenant of which nothing is left in any cloud"))
	}
	if p.settling() != nil {
		get(api, tenantSettingsPath, p.apiTenantExport, about("Export all settings of the tenant as a file, without any secret"))
		post(api, tenantSettingsPath+"/check", p.apiTenantCheck, about("Say what a file of settings would change, and all that is wrong with it"), large)
		post(api, tenantSettingsPath+"/apply", p.apiTenantImport, about("Bring in a file of settings: all of it, or, where something is wrong, nothing"), large)
	}
	if p.noticing() != nil {
		get(api, "/notices", p.apiNoticeList, about("List what you were told, newest first; for admins all of the tenant"))
	}
	if p.secreting() != nil {
		get(api, "/secrets", p.apiSecretList, about("List the names of the tenant's secrets, for admins"))
		put(api, "/secrets/{name}", p.apiSecretSet, about("Set a secret: the body is its value"), answers(http.StatusNoContent))
		del(api, "/secrets/{name}", p.apiSecretDelete, about("Delete a secret"), answers(http.StatusNoContent))
	}
	if p.auditing() != nil {
		get(api, "/audit", p.apiAuditList, about("Read the audit, newest first"))
		get(api, "/audit/export", p.apiAuditExport, about("Export the audit, oldest first"), streaming, files("Everything that was done", "application/x-ndjson", "text/csv"))
		get(api, "/audit/verify", p.apiAuditVerify, about("Walk the chain of the audit and say whether it is whole"))
	}
	if p.building() != nil {
		get(api, "/build-hooks", p.apiBuildHookList, about("List where build systems tell of their builds, for admins"))
		get(api, "/build-hooks/{name}", p.apiBuildHookShow, about("Show a build hook with its rules"))
		put(api, "/build-hooks/{name}", p.apiBuildHookSave, about("Make a build hook or change it; what is left out stays"))
		del(api, "/build-hooks/{name}", p.apiBuildHookDelete, about("Delete a build hook, and give back the clusters of its builds"))
		put(api, "/build-hooks/{name}/rules", p.apiBuildRulesSave, about("Say what is done with which event"))
		post(api, "/build-hooks/{name}/try", p.apiBuildTry, about("Say what rules would do with an event, without doing it"))
		get(api, "/build-hooks/{name}/deliveries", p.apiBuildDeliveryList, about("List what was sent to a build hook, newest first"))
		get(api, "/build-hooks/{name}/deliveries/{delivery}", p.apiBuildDelivery, about("Show a delivery with its body"))
		post(api, "/build-hooks/{name}/deliveries/{delivery}/replay", p.apiBuildReplay, about("Run a delivery again, against today's rules"))
		get(api, "/builds", p.apiBuildList, about("List builds and how they stand, newest first"))
		get(api, "/builds/{build}", p.apiBuildShow, about("Show a build with its cluster; it can be waited for"))
		post(api, "/builds/{build}/end", p.apiBuildEnd, about("End a build: its cluster is given back"), answers(http.StatusAccepted))
		post(api, "/builds/{build}/extend", p.apiBuildExtend, about("Move the end of the lease of a build's cluster"))
	}
	if p.hooking() != nil {
		get(api, "/hooks", p.apiHookList, about("List where notices are sent to, for admins"))
		get(api, "/hooks/{name}", p.apiHookShow, about("Show a hook"))
		put(api, "/hooks/{name}", p.apiHookSave, about("Make a hook or change it; what is left out stays"))
		del(api, "/hooks/{name}", p.apiHookDelete, about("Delete a hook and the list of its deliveries"))
		post(api, "/hooks/{name}/test", p.apiHookTest, about("Send a test notice"), answers(http.StatusAccepted))
		get(api, "/hooks/{name}/deliveries", p.apiHookDeliveryList, about("List what was sent to a hook, newest first"))
		get(api, "/hooks/{name}/deliveries/{delivery}", p.apiHookDelivery, about("Show a delivery: what was sent, and every answer"))
		post(api, "/hooks/{name}/deliveries/{delivery}/resend", p.apiHookResend, about("Send a delivery again, under the same number"), answers(http.StatusAccepted))
	}

	if p.resourcing() != nil {
		get(api, "/resource-types", p.apiResourceTypes, about("List the types of archives and files that automators and providers take"))
		get(api, "/resources", p.apiResourceList, about("List archives and files for automators and providers, for admins"))
		post(api, "/resource-sync", p.apiResourceSync, about("Put all that is staged into use, and take what is recalled out of it, at once"), answers(http.StatusOK))
		get(api, "/resources/{resource}", p.apiResourceShow, about("Show a resource with its versions, who uses them and which provisioners have them"))
		put(api, "/resources/{resource}/content", p.apiResourcePush, about("Push a new version: the body is its content"), answers(http.StatusCreated), content)
		post(api, "/resources/{resource}/import", p.apiResourceImport, about("Push a new version from a git repository"), answers(http.StatusCreated), slow)
		get(api, "/resources/{resource}/diff", p.apiResourceDiff, about("Tell how two versions differ, file by file"))
		get(api, "/resources/{resource}/versions/{version}/files", p.apiResourceFiles, about("List what is in a version"))
		get(api, "/resources/{resource}/versions/{version}/content", p.apiResourceContent, about("Download a version"), content)
		post(api, "/resources/{resource}/versions/{version}/stage", p.apiResourceStage, about("Have a version in use from the next sync on"), answers(http.StatusOK))
		post(api, "/resources/{resource}/versions/{version}/recall", p.apiResourceRecall, about("Have a version out of use from the next sync on"), answers(http.StatusOK))
		del(api, "/resources/{resource}/versions/{version}", p.apiResourceDelete, about("Delete a version that is not in use"), answers(http.StatusNoContent))
	}

	if p.chatting() != nil {
		get(api, "/slack", p.apiSlackShow, about("Show workspaces, channels and connections of Slack, for admins"))
		put(api, "/slack/workspaces/{team}", p.apiSlackChange, about("Change how members of a workspace are linked to accounts"))
		del(api, "/slack/workspaces/{team}", p.apiSlackRemove, about("Forget a workspace's tokens, and stop its cards"))
		put(api, "/slack/workspaces/{team}/channels/{channel}", p.apiSlackChannel, about("Agree that a channel speaks for a tenant; it does once both sides have"))
		del(api, "/slack/workspaces/{team}/channels/{channel}", p.apiSlackChannelReset, about("Give a channel back to the tenant of its workspace"))
		put(api, "/slack/approvals", p.apiSlackApprovals, about("Say in which channel requests are shown to their approvers"))
		del(api, "/slack/approvals", p.apiSlackApprovalsEnd, about("Show requests in no channel any more"))
	}

	if p.checking() != nil {
		get(api, "/clusters/{id}/checks", p.apiChecks, about("Tell what the nodes of a cluster were found to be when they were bootstrapped"))
	}
	get(api, "/clusters/{id}/steps", p.apiStepList, about("List the steps of an operation"))
	get(api, "/clusters/{id}/events", p.apiEventList, about("Follow the events of a cluster"), streaming)
	get(api, "/clusters/{id}/logs", p.apiLogList, about("Read the log of a cluster"))

	if _, ok := p.muster.(Provisioning); ok {
		get(api, "/provisioners", p.apiProvisionerList, about("List the provisioners, those alive first"))
		post(api, "/provisioners/{name}/drain", p.apiProvisionerDrain, about("Let a provisioner end what it has, and then itself"))
		get(api, "/provisioner-tokens", p.apiProvisionerTokenList, about("List the tokens of provisioners"))
		post(api, "/provisioner-tokens", p.apiProvisionerTokenCreate, about("Make a token for provisioners"), answers(http.StatusCreated))
		del(api, "/provisioner-tokens/{name}", p.apiProvisionerTokenRevoke, about("Revoke a token and all that registered with it"))
	}
}
