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
	p.api = r

	r.Get("/openapi.json", serveOpenAPI(api))
	p.apiCatalogRoutes(api)
	p.apiClusterRoutes(api)
	p.apiMoneyRoutes(api)
	p.apiHouseRoutes(api)

	r.NotFound(p.apiNotFound)
	r.MethodNotAllowed(p.apiNotAllowed)
}

// apiCatalogRoutes are about what clusters are made of, and what one would be.
func (p *Portal) apiCatalogRoutes(api huma.API) {
	huma.Get(api, "/version", p.apiVersion, open, about("Which version this is"))

	huma.Get(api, "/templates", p.apiTemplateList, about("List the templates that clusters can be made from"))
	if p.templating() != nil {
		huma.Get(api, "/templates/{name}", p.apiTemplateShow, about("Show all that a template says, and where each part comes from"))
		huma.Get(api, "/templates/{name}/versions", p.apiTemplateVersions, about("List the versions of a template, newest first"))
		huma.Get(api, "/templates/{name}/changes", p.apiTemplateDiff, about("Tell how two versions of a template differ"))
	}
	if p.cataloging() != nil {
		huma.Get(api, "/catalog", p.apiCatalogList, about("List the entries of the tenant's catalog, for admins"))
		huma.Get(api, "/catalog/families", p.apiCatalogFamilies, about("Say which kinds of clouds and tools there are, with their fields"))
		huma.Get(api, "/catalog/export", p.apiCatalogExport, about("Get the tenant's own entries as files"))
		huma.Post(api, "/catalog/check", p.apiCatalogCheck, about("Say what a change of the tenant's catalog would do, and all that is wrong with it"))
		huma.Post(api, "/catalog/apply", p.apiCatalogApply, about("Change the tenant's catalog: all of it, or, where something is wrong, nothing"))
		huma.Post(api, "/catalog/try", p.apiCatalogTry, about("Work out what a create would do as if a change of the catalog were saved"))
		huma.Get(api, "/catalog/{kind}/{name}", p.apiCatalogShow, about("Show an entry of the tenant's catalog with its text"))
		huma.Get(api, "/catalog/{kind}/{name}/history", p.apiCatalogHistory, about("List the versions of an own entry"))
		huma.Post(api, "/catalog/{kind}/{name}/revert", p.apiCatalogRevert, about("Save an older version of an own entry again"))
	}
	huma.Post(api, "/preview", p.apiPreview, about("Work out what a create would do"))
	if _, ok := p.muster.(Explainer); ok {
		huma.Post(api, "/explain", p.apiExplain, about("Say why a request has no layout, and what would make one possible"))
	}
}

// apiClusterRoutes are about clusters and what is done with them.
func (p *Portal) apiClusterRoutes(api huma.API) {
	huma.Get(api, "/clusters", p.apiClusterList, about("List clusters, newest first"))
	huma.Post(api, "/clusters", p.apiClusterCreate, about("Create a cluster, or ask for one that people have to approve"), eitherWay)
	huma.Get(api, "/clusters/{id}", p.apiClusterShow, about("Show a cluster"))
	huma.Delete(api, "/clusters/{id}", p.apiClusterDelete, about("Delete a cluster"), answers(http.StatusAccepted))
	huma.Post(api, "/clusters/{id}/resume", p.apiClusterResume, about("Go on with a failed operation"), answers(http.StatusAccepted))
	huma.Get(api, "/clusters/{id}/inventory", p.apiInventory, about("Tell how the machines of a cluster are reached, in a form for other tools"))
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
		huma.Get(api, "/clusters/{id}/facts", p.apiClusterFacts, about("Tell what the services of a cluster told of its nodes: ports, versions, where they are found; secret values are left out"))
		huma.Get(api, "/clusters/{id}/drift", p.apiClusterDrift, about("Tell where a cluster is not what it should be, and what would mend it"))
	}
	if p.questioning() != nil {
		huma.Get(api, "/questions", p.apiQuestionList, about("List the steps at which operations wait for people"))
		huma.Post(api, "/clusters/{id}/answers", p.apiQuestionAnswer, about("Answer what an operation asks: let it go on, or refuse"), answers(http.StatusOK))
	}
	huma.Get(api, "/queue", p.apiQueue, about("Tell admins what waits in their tenant"))
	if p.installation() != nil {
		huma.Get(api, "/queues", p.apiQueues, about("Tell superadmins what waits in which tenant, and why"))
	}

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
}

// apiMoneyRoutes are about who decides, what is kept ready, and what it costs.
func (p *Portal) apiMoneyRoutes(api huma.API) {
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
}

// apiHouseRoutes are about people, the tenant and the installation.
func (p *Portal) apiHouseRoutes(api huma.API) {
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
		if p.devices() != nil {
			huma.Post(api, "/device/code", p.apiDeviceStart, open, about("Begin the sign-in of a program, for a person to allow at the portal"))
			huma.Post(api, "/device/token", p.apiDeviceToken, open, about("Get the token that a person has allowed"), answers(http.StatusCreated))
			huma.Delete(api, "/token", p.apiTokenEnd, about("End the token that the request carries"))
		}
	}
	if p.accounting() != nil {
		huma.Post(api, "/providers/{name}/check", p.apiProviderCheck, about("Look whether a provider's account would do, for admins; nothing is made"), answers(http.StatusOK), slow)
		huma.Get(api, "/providers/{name}/offers", p.apiProviderOffers, about("Tell which zones, flavors and images a provider has, for admins"), slow)
	}
	if p.installation() != nil {
		huma.Get(api, "/settings", p.apiSettings, about("Tell how the server is set up and what it leans on, for superadmins"))
		huma.Get(api, "/provider-health", p.apiProviderHealth, about("Tell how provider accounts are to work with, for superadmins"))
	}
	if p.tenancy() != nil {
		huma.Get(api, "/tenants", p.apiTenantList, about("List the tenants, for superadmins"))
		huma.Post(api, "/tenants", p.apiTenantCreate, about("Make a tenant"), answers(http.StatusCreated))
		huma.Get(api, "/tenants/{name}", p.apiTenantShow, about("Show a tenant"))
		huma.Patch(api, "/tenants/{name}", p.apiTenantChange, about("Change a tenant"))
		huma.Delete(api, "/tenants/{name}", p.apiTenantDelete, about("Delete a tenant of which nothing is left in any cloud"))
	}
	if p.settling() != nil {
		huma.Get(api, tenantSettingsPath, p.apiTenantExport, about("Export all settings of the tenant as a file, without any secret"))
		huma.Post(api, tenantSettingsPath+"/check", p.apiTenantCheck, about("Say what a file of settings would change, and all that is wrong with it"), large)
		huma.Post(api, tenantSettingsPath+"/apply", p.apiTenantImport, about("Bring in a file of settings: all of it, or, where something is wrong, nothing"), large)
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
	if p.building() != nil {
		huma.Get(api, "/build-hooks", p.apiBuildHookList, about("List where build systems tell of their builds, for admins"))
		huma.Get(api, "/build-hooks/{name}", p.apiBuildHookShow, about("Show a build hook with its rules"))
		huma.Put(api, "/build-hooks/{name}", p.apiBuildHookSave, about("Make a build hook or change it; what is left out stays"))
		huma.Delete(api, "/build-hooks/{name}", p.apiBuildHookDelete, about("Delete a build hook, and give back the clusters of its builds"))
		huma.Put(api, "/build-hooks/{name}/rules", p.apiBuildRulesSave, about("Say what is done with which event"))
		huma.Post(api, "/build-hooks/{name}/try", p.apiBuildTry, about("Say what rules would do with an event, without doing it"))
		huma.Get(api, "/build-hooks/{name}/deliveries", p.apiBuildDeliveryList, about("List what was sent to a build hook, newest first"))
		huma.Get(api, "/build-hooks/{name}/deliveries/{delivery}", p.apiBuildDelivery, about("Show a delivery with its body"))
		huma.Post(api, "/build-hooks/{name}/deliveries/{delivery}/replay", p.apiBuildReplay, about("Run a delivery again, against today's rules"))
		huma.Get(api, "/builds", p.apiBuildList, about("List builds and how they stand, newest first"))
		huma.Get(api, "/builds/{build}", p.apiBuildShow, about("Show a build with its cluster; it can be waited for"))
		huma.Post(api, "/builds/{build}/end", p.apiBuildEnd, about("End a build: its cluster is given back"), answers(http.StatusAccepted))
		huma.Post(api, "/builds/{build}/extend", p.apiBuildExtend, about("Move the end of the lease of a build's cluster"))
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

	if p.resourcing() != nil {
		huma.Get(api, "/resource-types", p.apiResourceTypes, about("List the types of archives and files that automators and providers take"))
		huma.Get(api, "/resources", p.apiResourceList, about("List archives and files for automators and providers, for admins"))
		huma.Post(api, "/resource-sync", p.apiResourceSync, about("Put all that is staged into use, and take what is recalled out of it, at once"), answers(http.StatusOK))
		huma.Get(api, "/resources/{resource}", p.apiResourceShow, about("Show a resource with its versions, who uses them and which provisioners have them"))
		huma.Put(api, "/resources/{resource}/content", p.apiResourcePush, about("Push a new version: the body is its content"), answers(http.StatusCreated), content)
		huma.Post(api, "/resources/{resource}/import", p.apiResourceImport, about("Push a new version from a git repository"), answers(http.StatusCreated), slow)
		huma.Get(api, "/resources/{resource}/diff", p.apiResourceDiff, about("Tell how two versions differ, file by file"))
		huma.Get(api, "/resources/{resource}/versions/{version}/files", p.apiResourceFiles, about("List what is in a version"))
		huma.Get(api, "/resources/{resource}/versions/{version}/content", p.apiResourceContent, about("Download a version"), content)
		huma.Post(api, "/resources/{resource}/versions/{version}/stage", p.apiResourceStage, about("Have a version in use from the next sync on"), answers(http.StatusOK))
		huma.Post(api, "/resources/{resource}/versions/{version}/recall", p.apiResourceRecall, about("Have a version out of use from the next sync on"), answers(http.StatusOK))
		huma.Delete(api, "/resources/{resource}/versions/{version}", p.apiResourceDelete, about("Delete a version that is not in use"), answers(http.StatusNoContent))
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
}
