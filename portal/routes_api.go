package portal

import (
	"net/http"

	"muster/portal/cluster"
	"muster/portal/identity"
	"muster/portal/operation"
	"muster/portal/policy"
	"muster/portal/quota"
	"muster/portal/resource"
	"muster/portal/site"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"
)

// apiRoutes is the site map for programs. The order is that of the document of the API.
func (p *Portal) apiRoutes(r chi.Router) {
	r.Use(p.resource.LimitUnless(site.APILimit, resource.Uploads))
	api := p.newAPI(r)
	p.api, p.document = r, api.OpenAPI()

	r.Get("/openapi.json", site.ServeOpenAPI(p.document))
	p.apiCatalogRoutes(api)
	p.apiClusterRoutes(api)
	p.apiMoneyRoutes(api)
	p.apiHouseRoutes(api)

	r.NotFound(p.apiNotFound)
	r.MethodNotAllowed(p.apiNotAllowed)
}

// apiCatalogRoutes are about what clusters are made of, and what one would be.
func (p *Portal) apiCatalogRoutes(api huma.API) {
	get(api, "/version", p.template.APIVersion, about("Which version this is"))

	get(api, "/templates", p.template.APIList, about("List the templates that clusters can be made from"))
	get(api, "/templates/{name}", p.template.APIShow, about("Show all that a template says, and where each part comes from"))
	get(api, "/templates/{name}/versions", p.template.APIVersions, about("List the versions of a template, newest first"))
	get(api, "/templates/{name}/changes", p.template.APIDiff, about("Tell how two versions of a template differ"))
	get(api, "/catalog", p.catalog.APIList, about("List the entries of the tenant's catalog, for admins"))
	get(api, "/catalog/families", p.catalog.APIFamilies, about("Say which kinds of clouds and tools there are, with their fields"))
	get(api, "/catalog/export", p.catalog.APIExport, about("Get the tenant's own entries as files"))
	post(api, "/catalog/check", p.catalog.APICheck, about("Say what a change of the tenant's catalog would do, and all that is wrong with it"))
	post(api, "/catalog/apply", p.catalog.APIApply, about("Change the tenant's catalog: all of it, or, where something is wrong, nothing"))
	post(api, "/catalog/try", p.catalog.APITry, about("Work out what a create would do as if a change of the catalog were saved"))
	get(api, "/catalog/{kind}/{name}", p.catalog.APIShow, about("Show an entry of the tenant's catalog with its text"))
	get(api, "/catalog/{kind}/{name}/history", p.catalog.APIHistory, about("List the versions of an own entry"))
	post(api, "/catalog/{kind}/{name}/revert", p.catalog.APIRevert, about("Save an older version of an own entry again"))
	post(api, "/preview", p.cluster.APIPreview, about("Work out what a create would do"))
	post(api, "/explain", p.cluster.APIExplain, about("Say why a request has no layout, and what would make one possible"))
}

// apiClusterRoutes are about clusters and what is done with them.
func (p *Portal) apiClusterRoutes(api huma.API) {
	get(api, "/clusters", p.cluster.APIList, about("List clusters, newest first"))
	post(api, "/clusters", p.policy.APIClusterCreate, about("Create a cluster, or ask for one that people have to approve"), policy.EitherWay)
	get(api, "/clusters/{id}", p.cluster.APIShow, about("Show a cluster"))
	del(api, "/clusters/{id}", p.cluster.APIDelete, about("Delete a cluster"), answers(http.StatusAccepted))
	post(api, "/clusters/{id}/resume", p.cluster.APIResume, about("Go on with a failed operation"), answers(http.StatusAccepted))
	get(api, "/clusters/{id}/sharing", p.cluster.APISharingShow, about("Tell who has access to a cluster, to those who may change that"))
	put(api, "/clusters/{id}/sharing", p.cluster.APISharingChange, about("Share a cluster with people and groups, or set who may see it"))
	get(api, "/cluster-defaults", p.cluster.APIDefaults, about("Tell who may see the tenant's new clusters"))
	put(api, "/cluster-defaults", p.cluster.APIDefaultsSet, about("Set who may see the tenant's new clusters, for admins"))
	get(api, "/clusters/{id}/inventory", p.cluster.APIInventory, about("Tell how the machines of a cluster are reached, in a form for other tools"), files("The inventory", "text/plain", site.MediaJSON), cluster.InventoryForm)
	get(api, "/clusters/{id}/key", p.cluster.APIKey, about("Get the private SSH key of a cluster"))
	post(api, "/clusters/{id}/certificate", p.cluster.APICertificate, about("Get an SSH certificate that opens a cluster for a while"))

	const op = "/clusters/{id}/operations/{operation}"
	post(api, op+"/cancel", p.operation.APICancel, about("Stop an operation"), answers(http.StatusAccepted))
	post(api, op+"/pause", p.operation.APIPause, about("Let nothing new of an operation start"), answers(http.StatusAccepted))
	post(api, op+"/resume", p.operation.APIResume, about("Go on with an operation that is paused or has failed"), answers(http.StatusAccepted))
	get(api, op+"/roll-back", p.operation.APIRollBackShow, about("Work out what the roll-back of an operation would do"))
	post(api, op+"/roll-back", p.operation.APIRollBack, about("Undo what an operation has done that failed or was cancelled"), answers(http.StatusAccepted))
	get(api, op+"/go-on", p.operation.APIGoOnShow, about("Work out what it would be to go on with the machines that came"))
	post(api, op+"/go-on", p.operation.APIGoOn, about("Go on with the machines that came"), answers(http.StatusAccepted))
	put(api, "/clusters/{id}/top-up", p.operation.APITopUp, about("Say whether the nodes that a cluster lacks are asked for again, and when"))
	post(api, "/clusters/{id}/nodes/{node}/retry", p.operation.APINodeRetry, about("Try again what failed on one node"), answers(http.StatusAccepted))
	post(api, "/clusters/{id}/operations", p.operation.APIAmend, about("Amend a cluster that stands, or ask for it where people have to approve"), operation.EitherAmend)
	get(api, "/clusters/{id}/config", p.operation.APIClusterConfig, about("Show the configuration of a cluster to those who may amend it"))
	post(api, "/clusters/{id}/operations/preview", p.operation.APIAmendPreview, about("Work out what an amendment of a cluster would do"), answers(http.StatusOK))
	get(api, "/clusters/{id}/waiting", p.operation.APIWaiting, about("Say why steps of a cluster wait"))
	get(api, "/clusters/{id}/health", p.health.APIClusterHealth, about("Tell how a cluster and its nodes are"))
	post(api, "/clusters/{id}/health/check", p.health.APICheck, about("Check a cluster's health now instead of when the next check is due"), answers(http.StatusAccepted))
	get(api, "/clusters/{id}/facts", p.health.APIClusterFacts, about("Tell what the services of a cluster told of its nodes: ports, versions, where they are found; secret values are left out"))
	get(api, "/clusters/{id}/drift", p.health.APIClusterDrift, about("Tell where a cluster is not what it should be, and what would mend it"))
	get(api, "/questions", p.execution.APIQuestionList, about("List the steps at which operations wait for people"))
	post(api, "/clusters/{id}/answers", p.execution.APIQuestionAnswer, about("Answer what an operation asks: let it go on, or refuse"), answers(http.StatusOK))
	get(api, "/queue", p.operation.APIQueue, about("Tell admins what waits in their tenant"))
	get(api, "/queues", p.operation.APIQueues, about("Tell superadmins what waits in which tenant, and why"))

	post(api, "/clusters/{id}/rename", p.cluster.APIRename, about("Give a cluster another name"), answers(http.StatusOK))
	post(api, "/clusters/{id}/transfer", p.cluster.APITransfer, about("Give a cluster to another owner"), answers(http.StatusOK))
	get(api, "/clusters/{id}/sleep", p.cluster.APISleepPreview, about("Work out what putting a cluster to sleep would do"))
	post(api, "/clusters/{id}/sleep", p.cluster.APISleep, about("Put a cluster to sleep, or ask for it where people have to approve"), operation.EitherAmend)
	get(api, "/clusters/{id}/wake", p.cluster.APIWakePreview, about("Work out what waking a cluster would do"))
	post(api, "/clusters/{id}/wake", p.cluster.APIWake, about("Wake a cluster, or ask for it where people have to approve"), operation.EitherAmend)
	get(api, "/clusters/{id}/schedule", p.cluster.APIScheduleShow, about("Tell when a cluster goes to sleep and wakes"))
	put(api, "/clusters/{id}/schedule", p.cluster.APIScheduleSet, about("Say when a cluster goes to sleep and wakes"))
	get(api, "/clusters/{id}/spec", p.cluster.APISpec, about("Export what to ask for to get a cluster like this"))
	get(api, "/clusters/{id}/clone", p.cluster.APIClonePreview, about("Work out what a clone of a cluster would be"))
	post(api, "/clusters/{id}/clone", p.cluster.APIClone, about("Create a cluster like another one, or ask for it"), policy.EitherWay)
	get(api, "/diff", p.cluster.APIDiff, about("Compare two clusters, or two moments of one"))
}

// apiMoneyRoutes are about who decides, what is kept ready, and what it costs.
func (p *Portal) apiMoneyRoutes(api huma.API) {
	get(api, "/requests", p.policy.APIRequestList, about("List requests, newest first"))
	get(api, "/requests/{id}", p.policy.APIRequestShow, about("Show a request"))
	post(api, "/requests/{id}/reviews", p.policy.APIRequestReview, about("Approve a request, deny it, or approve it with conditions"))
	post(api, "/requests/{id}/confirm", p.policy.APIRequestConfirm, about("Take what was offered"))
	post(api, "/requests/{id}/withdraw", p.policy.APIRequestWithdraw, about("Withdraw a request"))
	post(api, "/requests/{id}/break-glass", p.policy.APIRequestBreakGlass, about("Let a request run at once, without approvals"))
	get(api, "/policies", p.policy.APIList, about("List policies in the order in which they are looked at"))
	post(api, "/policies/try", p.policy.APITry, about("Say what a policy would do, to a made-up request and to those of the past"))
	put(api, "/policies-time-zone", p.policy.APIZone, about("Set the time zone by which policies tell weekday and hour"))
	get(api, "/policies/{name}", p.policy.APIShow, about("Show a policy with all of its versions"))
	put(api, "/policies/{name}", p.policy.APISave, about("Save a policy"))
	del(api, "/policies/{name}", p.policy.APIDelete, about("Delete a policy"))

	get(api, "/pools", p.pool.APIList, about("List the pools of machines that are made ahead of time, for admins"))
	post(api, "/pools", p.pool.APICreate, about("Have machines made ahead of time"), answers(http.StatusCreated))
	get(api, "/pools/{name}", p.pool.APIShow, about("Show a pool with its machines"))
	patch(api, "/pools/{name}", p.pool.APIChange, about("Change how many machines a pool has, how old they get, or whether it is refilled"))
	post(api, "/pools/{name}/drain", p.pool.APIDrain, about("Give all machines of a pool back"), answers(http.StatusAccepted))
	del(api, "/pools/{name}", p.pool.APIDelete, about("Delete a pool: its machines are given back"), answers(http.StatusAccepted))
	get(api, "/pools/{name}/receipt", p.pool.APIReceipt, about("Tell what a pool has had at its provider, and what that cost"))
	get(api, "/clusters/{id}/receipt", p.fleet.APIReceipt, about("Tell what a cluster has had at its provider, and what that cost"))
	get(api, "/orphans", p.fleet.APIOrphanList, about("List orphaned machines, for admins"))
	post(api, "/orphans/{orphan}", p.fleet.APIOrphanDecide, about("Have an orphan deleted, or kept"), answers(http.StatusAccepted))
	put(api, "/orphans-mode", p.fleet.APIOrphanMode, about("Set what becomes of orphans by themselves"))

	get(api, "/quotas", p.quota.APIList, about("List quotas and how much of each is used, for admins"))
	put(api, "/quotas", p.quota.APISet, about("Set the quota of a group, of a user, for each user, or of the tenant"))
	del(api, "/quotas", p.quota.APIDelete, about("Lift a quota"))
	get(api, "/quotas/left", p.quota.APILeft, about("Tell what is left for you, and by which limit"))
	get(api, "/clusters/{id}/lease", p.quota.APILeaseShow, about("Tell when a lease ends, who was warned, and what would keep it from ending"))
	post(api, "/clusters/{id}/lease", p.quota.APILeaseExtend, about("Move the end of a lease"), answers(http.StatusOK))
	get(api, "/usage", p.quota.APIUsage, about("Tell what was used, and what it cost"), quota.UsageForms)
}

// apiHouseRoutes are about people, the tenant and the installation.
func (p *Portal) apiHouseRoutes(api huma.API) {
	get(api, "/users", p.identity.APIUserList, about("List the accounts of the tenant by name, for admins"))
	post(api, "/users", p.identity.APIUserCreate, about("Make an account"), answers(http.StatusCreated))
	get(api, "/users/{name}", p.identity.APIUserShow, about("Show an account"))
	patch(api, "/users/{name}", p.identity.APIUserChange, about("Change an account"))
	post(api, "/users/{name}/reset-second-factor", p.identity.APIUserResetFactor, about("Remove all second factors of a user who lost them; the sign-ins end"), answers(http.StatusOK))
	put(api, "/second-factor", p.identity.APIFactorRequire, about("Say whether people of the tenant who sign in with a password need a second factor"))
	post(api, "/users/{name}/reset-password", p.identity.APIUserReset, about("Give an account a new one-time password; its sign-ins and tokens end"))
	del(api, "/users/{name}", p.identity.APIUserDelete, about("Delete an account"))
	get(api, "/groups", p.identity.APIGroupList, about("List the groups of the tenant, for admins"))
	put(api, "/groups", p.identity.APIGroupSave, about("Make or change a group"))
	del(api, "/groups", p.identity.APIGroupDelete, about("Delete a group"))
	get(api, "/tokens", p.identity.APITokenList, about("List API tokens: one's own, or for admins those of the tenant"))
	post(api, "/tokens", p.identity.APITokenCreate, about("Make an API token of one's own, or for admins one of a robot"), answers(http.StatusCreated))
	del(api, "/tokens/{id}", p.identity.APITokenRevoke, about("Revoke an API token"))
	post(api, "/device/code", p.identity.APIDeviceStart, open, about("Begin the sign-in of a program, for a person to allow at the portal"))
	post(api, "/device/token", p.identity.APIDeviceToken, open, about("Get the token that a person has allowed"), answers(http.StatusCreated))
	del(api, "/token", p.identity.APITokenEnd, about("End the token that the request carries"))
	post(api, "/providers/{name}/check", p.fleet.APIProviderCheck, about("Look whether a provider's account would do, for admins; nothing is made"), answers(http.StatusOK), resource.Slow)
	get(api, "/providers/{name}/offers", p.fleet.APIProviderOffers, about("Tell which zones, flavors and images a provider has, for admins"), resource.Slow)
	get(api, "/settings", p.fleet.APISettings, about("Tell how the server is set up and what it leans on, for superadmins"))
	get(api, "/provider-health", p.fleet.APIProviderHealth, about("Tell how provider accounts are to work with, for superadmins"))
	get(api, "/tenants", p.identity.APITenantList, about("List the tenants, for superadmins"))
	post(api, "/tenants", p.identity.APITenantCreate, about("Make a tenant"), answers(http.StatusCreated))
	get(api, "/tenants/{name}", p.identity.APITenantShow, about("Show a tenant"))
	patch(api, "/tenants/{name}", p.identity.APITenantChange, about("Change a tenant"))
	del(api, "/tenants/{name}", p.identity.APITenantDelete, about("Delete a tenant of which nothing is left in any cloud"))
	get(api, site.TenantSettingsPath, p.identity.APITenantExport, about("Export all settings of the tenant as a file, without any secret"))
	post(api, site.TenantSettingsPath+"/check", p.identity.APITenantCheck, about("Say what a file of settings would change, and all that is wrong with it"), identity.Large)
	post(api, site.TenantSettingsPath+"/apply", p.identity.APITenantImport, about("Bring in a file of settings: all of it, or, where something is wrong, nothing"), identity.Large)
	get(api, "/notices", p.webhook.APINoticeList, about("List what you were told, newest first; for admins all of the tenant"))
	get(api, "/secrets", p.audit.APISecretList, about("List the names of the tenant's secrets, for admins"))
	put(api, "/secrets/{name}", p.audit.APISecretSet, about("Set a secret: the body is its value"), answers(http.StatusNoContent))
	del(api, "/secrets/{name}", p.audit.APISecretDelete, about("Delete a secret"), answers(http.StatusNoContent))
	get(api, "/audit", p.audit.APIList, about("Read the audit, newest first"))
	get(api, "/audit/export", p.audit.APIExport, about("Export the audit, oldest first"), streaming, files("Everything that was done", "application/x-ndjson", "text/csv"))
	get(api, "/audit/verify", p.audit.APIVerify, about("Walk the chain of the audit and say whether it is whole"))
	get(api, "/build-hooks", p.build.APIHookList, about("List where build systems tell of their builds, for admins"))
	get(api, "/build-hooks/{name}", p.build.APIHookShow, about("Show a build hook with its rules"))
	put(api, "/build-hooks/{name}", p.build.APIHookSave, about("Make a build hook or change it; what is left out stays"))
	del(api, "/build-hooks/{name}", p.build.APIHookDelete, about("Delete a build hook, and give back the clusters of its builds"))
	put(api, "/build-hooks/{name}/rules", p.build.APIRulesSave, about("Say what is done with which event"))
	post(api, "/build-hooks/{name}/try", p.build.APITry, about("Say what rules would do with an event, without doing it"))
	get(api, "/build-hooks/{name}/deliveries", p.build.APIDeliveryList, about("List what was sent to a build hook, newest first"))
	get(api, "/build-hooks/{name}/deliveries/{delivery}", p.build.APIDelivery, about("Show a delivery with its body"))
	post(api, "/build-hooks/{name}/deliveries/{delivery}/replay", p.build.APIReplay, about("Run a delivery again, against today's rules"))
	get(api, "/builds", p.build.APIList, about("List builds and how they stand, newest first"))
	get(api, "/builds/{build}", p.build.APIShow, about("Show a build with its cluster; it can be waited for"))
	post(api, "/builds/{build}/end", p.build.APIEnd, about("End a build: its cluster is given back"), answers(http.StatusAccepted))
	post(api, "/builds/{build}/extend", p.build.APIExtend, about("Move the end of the lease of a build's cluster"))
	get(api, "/hooks", p.webhook.APIHookList, about("List where notices are sent to, for admins"))
	get(api, "/hooks/{name}", p.webhook.APIHookShow, about("Show a hook"))
	put(api, "/hooks/{name}", p.webhook.APIHookSave, about("Make a hook or change it; what is left out stays"))
	del(api, "/hooks/{name}", p.webhook.APIHookDelete, about("Delete a hook and the list of its deliveries"))
	post(api, "/hooks/{name}/test", p.webhook.APIHookTest, about("Send a test notice"), answers(http.StatusAccepted))
	get(api, "/hooks/{name}/deliveries", p.webhook.APIHookDeliveryList, about("List what was sent to a hook, newest first"))
	get(api, "/hooks/{name}/deliveries/{delivery}", p.webhook.APIHookDelivery, about("Show a delivery: what was sent, and every answer"))
	post(api, "/hooks/{name}/deliveries/{delivery}/resend", p.webhook.APIHookResend, about("Send a delivery again, under the same number"), answers(http.StatusAccepted))

	get(api, "/resource-types", p.resource.APITypes, about("List the types of archives and files that automators and providers take"))
	get(api, "/resources", p.resource.APIList, about("List archives and files for automators and providers, for admins"))
	post(api, "/resource-sync", p.resource.APISync, about("Put all that is staged into use, and take what is recalled out of it, at once"), answers(http.StatusOK))
	get(api, "/resources/{resource}", p.resource.APIShow, about("Show a resource with its versions, who uses them and which provisioners have them"))
	put(api, "/resources/{resource}/content", p.resource.APIPush, about("Push a new version: the body is its content"), answers(http.StatusCreated), resource.Content)
	post(api, "/resources/{resource}/import", p.resource.APIImport, about("Push a new version from a git repository"), answers(http.StatusCreated), resource.Slow)
	get(api, "/resources/{resource}/diff", p.resource.APIDiff, about("Tell how two versions differ, file by file"))
	get(api, "/resources/{resource}/versions/{version}/files", p.resource.APIFiles, about("List what is in a version"))
	get(api, "/resources/{resource}/versions/{version}/content", p.resource.APIContent, about("Download a version"), resource.Content)
	post(api, "/resources/{resource}/versions/{version}/stage", p.resource.APIStage, about("Have a version in use from the next sync on"), answers(http.StatusOK))
	post(api, "/resources/{resource}/versions/{version}/recall", p.resource.APIRecall, about("Have a version out of use from the next sync on"), answers(http.StatusOK))
	del(api, "/resources/{resource}/versions/{version}", p.resource.APIDelete, about("Delete a version that is not in use"), answers(http.StatusNoContent))

	get(api, "/slack", p.chat.APISlackShow, about("Show workspaces, channels and connections of Slack, for admins"))
	put(api, "/slack/workspaces/{team}", p.chat.APISlackChange, about("Change how members of a workspace are linked to accounts"))
	del(api, "/slack/workspaces/{team}", p.chat.APISlackRemove, about("Forget a workspace's tokens, and stop its cards"))
	put(api, "/slack/workspaces/{team}/channels/{channel}", p.chat.APISlackChannel, about("Agree that a channel speaks for a tenant; it does once both sides have"))
	del(api, "/slack/workspaces/{team}/channels/{channel}", p.chat.APISlackChannelReset, about("Give a channel back to the tenant of its workspace"))
	put(api, "/slack/approvals", p.chat.APISlackApprovals, about("Say in which channel requests are shown to their approvers"))
	del(api, "/slack/approvals", p.chat.APISlackApprovalsEnd, about("Show requests in no channel any more"))

	get(api, "/clusters/{id}/checks", p.health.APIChecks, about("Tell what the nodes of a cluster were found to be when they were bootstrapped"))
	get(api, "/clusters/{id}/steps", p.cluster.APIStepList, about("List the steps of an operation"))
	get(api, "/clusters/{id}/events", p.cluster.APIEventList, about("Follow the events of a cluster"), streaming)
	get(api, "/clusters/{id}/logs", p.cluster.APILogList, about("Read the log of a cluster"))

	get(api, "/provisioners", p.fleet.APIProvisionerList, about("List the provisioners, those alive first"))
	post(api, "/provisioners/{name}/drain", p.fleet.APIProvisionerDrain, about("Let a provisioner end what it has, and then itself"))
	get(api, "/provisioner-tokens", p.fleet.APIProvisionerTokenList, about("List the tokens of provisioners"))
	post(api, "/provisioner-tokens", p.fleet.APIProvisionerTokenCreate, about("Make a token for provisioners"), answers(http.StatusCreated))
	del(api, "/provisioner-tokens/{name}", p.fleet.APIProvisionerTokenRevoke, about("Revoke a token and all that registered with it"))
}
