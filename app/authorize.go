package app

import (
	"fmt"
	"slices"
	"strings"
)

// Scope narrows what an API token may do. A use case has one; every token may read.
type Scope string

// The scopes.
const (
	ScopeRead    Scope = "read"    // look at what the user may see
	ScopeCluster Scope = "cluster" // ask for clusters and change them
	ScopeApprove Scope = "approve" // decide on what others ask for
	ScopeAdmin   Scope = "admin"   // look after tenant or installation
	ScopeTokens  Scope = "tokens"  // make and revoke API tokens; never given to a token, so that one which leaked makes no other
	ScopeAccount Scope = "account" // the user's own account: password, sessions, tokens; never given to a token
)

// TokenScopes are those that a token can have.
var TokenScopes = []Scope{ScopeRead, ScopeCluster, ScopeApprove, ScopeAdmin}

// reach is how far a role gets with a use case.
type reach byte

const (
	no  reach = iota
	own       // what belongs to the actor; of clusters also those it is co-owner of
	use       // clusters that it may use
	see       // clusters that it may see, and what belongs to them
	all       // everything of the tenant in which it acts; of use cases about the installation: that
)

// access is what it takes of a cluster, for those who do not get everywhere.
func (r reach) access() Access {
	switch r {
	case use:
		return AccessUser
	case see:
		return AccessReader
	}
	return AccessCoOwner
}

// permission is a line of the authorisation table.
type permission struct {
	scope Scope
	// in the order of Roles
	superadmin, admin, approver, user, viewer, robot reach
	proof                                            proof
}

// proof says whether people who are signed in at the portal must have proved who they are within FreshWithin. Tokens prove nothing, and are
// asked nothing: what they may is up to their scopes.
type proof string

const (
	proofNever  proof = "never"
	proofAlways proof = "always"
	proofPartly proof = "partly" // where it comes to that: the use case asks with mustProve
)

// permissions is the one authorisation table. Each exported method of App that takes an Actor has its line, under its own
// name, and asks it before anything else; a test walks all of them with every role. Each line says whether a proof is needed, too: always for
// what makes, shows or replaces what opens doors, and for what cannot be undone.
var permissions = map[string]permission{
	// Looking                              super admin appr user view robot
	"Catalog":          {ScopeRead, all, all, all, all, all, all, proofNever},
	"Template":         {ScopeRead, all, all, all, all, all, all, proofNever},
	"TemplateVersions": {ScopeRead, all, all, all, all, all, all, proofNever},
	"TemplateChanges":  {ScopeRead, all, all, all, all, all, all, proofNever},
	"TemplatePrices":   {ScopeRead, all, all, all, all, all, all, proofNever},
	"Home":             {ScopeRead, own, own, own, own, own, own, proofNever},
	"Preview":          {ScopeRead, all, all, all, all, all, all, proofNever},
	"Explain":          {ScopeRead, all, all, all, all, all, all, proofNever},
	"Cluster":          {ScopeRead, all, all, see, see, see, see, proofNever},
	"Clusters":         {ScopeRead, all, all, see, see, see, see, proofNever},
	"ClusterPage":      {ScopeRead, all, all, see, see, see, see, proofNever},
	"ClusterCounts":    {ScopeRead, all, all, see, see, see, see, proofNever},
	"Steps":            {ScopeRead, all, all, see, see, see, see, proofNever},
	"Events":           {ScopeRead, all, all, see, see, see, see, proofNever},
	"Logs":             {ScopeRead, all, all, see, see, see, see, proofNever},
	"SearchLogs":       {ScopeRead, all, all, see, see, see, see, proofNever},
	"StepGraph":        {ScopeRead, all, all, see, see, see, see, proofNever},
	"Watch":            {ScopeRead, all, all, see, see, see, see, proofNever},
	"ClusterFacts":     {ScopeRead, all, all, see, use, use, use, proofNever},
	"NodeReports":      {ScopeRead, all, all, see, see, see, see, proofNever},
	"PreviewRollBack":  {ScopeRead, all, all, see, see, see, see, proofNever},
	"PreviewGoOn":      {ScopeRead, all, all, see, see, see, see, proofNever},
	"PreviewSleep":     {ScopeRead, all, all, see, see, see, see, proofNever},
	"PreviewWake":      {ScopeRead, all, all, see, see, see, see, proofNever},
	"Schedule":         {ScopeRead, all, all, see, see, see, see, proofNever},
	"PreviewClone":     {ScopeRead, all, all, use, use, use, use, proofNever},
	"ExportCluster":    {ScopeRead, all, all, use, use, use, use, proofNever},
	"DiffClusters":     {ScopeRead, all, all, use, use, use, use, proofNever},
	"Receipt":          {ScopeRead, all, all, see, see, see, see, proofNever},
	"Waiting":          {ScopeRead, all, all, see, see, see, see, proofNever},
	"Health":           {ScopeRead, all, all, see, see, see, see, proofNever},
	"Drift":            {ScopeRead, all, all, see, use, use, use, proofNever}, // it shows values of the configuration
	"ClusterConfig":    {ScopeRead, all, all, see, use, use, use, proofNever},
	"PreviewAmend":     {ScopeRead, all, all, see, use, use, use, proofNever}, // it shows values of the configuration

	// Clusters
	"CreateCluster":      {ScopeCluster, all, all, all, all, no, all, proofNever},
	"DeleteCluster":      {ScopeCluster, all, all, own, own, no, own, proofNever},
	"Amend":              {ScopeCluster, all, all, own, own, no, own, proofNever},
	"AmendServices":      {ScopeCluster, all, all, use, use, no, use, proofNever}, // of Amend: to start, stop, restart and compare services
	"ClusterSharing":     {ScopeRead, all, all, own, own, own, own, proofNever},
	"ShareCluster":       {ScopeCluster, all, all, own, own, no, own, proofNever},
	"ClusterKey":         {ScopeCluster, all, all, own, own, no, own, proofAlways},
	"ClusterCertificate": {ScopeCluster, all, all, use, use, no, use, proofNever},
	"CancelOperation":    {ScopeCluster, all, all, own, own, no, own, proofNever},
	"PauseOperation":     {ScopeCluster, all, all, own, own, no, own, proofNever},
	"ResumeOperation":    {ScopeCluster, all, all, own, own, no, own, proofNever},
	"ResumeCluster":      {ScopeCluster, all, all, own, own, no, own, proofNever},
	"RetryNode":          {ScopeCluster, all, all, own, own, no, own, proofNever},
	"RollBack":           {ScopeCluster, all, all, own, own, no, own, proofNever},
	"GoOn":               {ScopeCluster, all, all, own, own, no, own, proofNever},
	"SetTopUp":           {ScopeCluster, all, all, own, own, no, own, proofNever},
	"RenameCluster":      {ScopeCluster, all, all, own, own, no, own, proofNever},
	"TransferCluster":    {ScopeCluster, all, all, own, own, no, own, proofNever},
	"SleepCluster":       {ScopeCluster, all, all, use, use, no, use, proofNever},
	"WakeCluster":        {ScopeCluster, all, all, use, use, no, use, proofNever},
	"CheckHealth":        {ScopeCluster, all, all, use, use, no, use, proofNever},
	"SetSchedule":        {ScopeCluster, all, all, own, own, no, own, proofNever},
	"CloneCluster":       {ScopeCluster, all, all, use, use, no, use, proofNever},

	// Questions of steps that people carry out. Who may answer which is up to the question.
	"Questions":  {ScopeRead, all, all, see, see, see, see, proofNever},
	"AnswerStep": {ScopeCluster, all, all, see, see, no, see, proofNever},

	// Requests. Who may review which request, or break the glass, is up to the policies that want approvals.
	"Requests":      {ScopeRead, all, all, see, see, see, see, proofNever},
	"Request":       {ScopeRead, all, all, see, see, see, see, proofNever},
	"Ask":           {ScopeCluster, all, all, all, all, no, all, proofNever},
	"SubmitRequest": {ScopeCluster, all, all, all, all, no, all, proofNever},
	"Confirm":       {ScopeCluster, all, all, all, all, no, all, proofNever},
	"Withdraw":      {ScopeCluster, all, all, all, all, no, all, proofNever},
	"Review":        {ScopeApprove, all, all, all, all, no, no, proofPartly},
	"BreakGlass":    {ScopeApprove, all, all, all, all, no, no, proofAlways},

	// Policies
	"PolicyList":    {ScopeRead, all, all, all, no, no, no, proofNever},
	"Policy":        {ScopeRead, all, all, all, no, no, no, proofNever},
	"PolicyZone":    {ScopeRead, all, all, all, no, no, no, proofNever},
	"SavePolicy":    {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"DeletePolicy":  {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"TryPolicy":     {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"SetPolicyZone": {ScopeAdmin, all, all, no, no, no, no, proofNever},

	// The tenant's own catalog
	"CatalogItems":    {ScopeRead, all, all, no, no, no, no, proofNever},
	"CatalogSource":   {ScopeRead, all, all, no, no, no, no, proofNever},
	"CatalogHistory":  {ScopeRead, all, all, no, no, no, no, proofNever},
	"CatalogFamilies": {ScopeRead, all, all, no, no, no, no, proofNever},
	"ExportCatalog":   {ScopeRead, all, all, no, no, no, no, proofNever},
	"CheckProvider":   {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"ProviderOffers":  {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"CheckCatalog":    {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"TryCatalog":      {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"ExplainCatalog":  {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"ApplyCatalog":    {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"RevertCatalog":   {ScopeAdmin, all, all, no, no, no, no, proofNever},

	// Who sees the tenant's new clusters
	"DefaultVisibility":    {ScopeRead, all, all, all, all, all, all, proofNever},
	"SetDefaultVisibility": {ScopeAdmin, all, all, no, no, no, no, proofNever},

	// The tenant
	"Queue":        {ScopeRead, all, all, no, no, no, no, proofNever},
	"Queues":       {ScopeRead, all, no, no, no, no, no, proofNever},
	"Orphans":      {ScopeRead, all, all, no, no, no, no, proofNever},
	"DecideOrphan": {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"Secrets":      {ScopeRead, all, all, no, no, no, no, proofNever},
	"SetSecret":    {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"DeleteSecret": {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"Audit":        {ScopeRead, all, all, no, no, no, no, proofNever},
	"ExportAudit":  {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"VerifyAudit":  {ScopeRead, all, all, no, no, no, no, proofNever},

	// One's own account; admins may end the sign-ins of others, and untie who they are elsewhere. Tokens and robots never may.
	"Sessions":          {ScopeAccount, all, all, own, own, own, no, proofNever},
	"RevokeSession":     {ScopeAccount, all, all, own, own, own, no, proofNever},
	"RevokeAllSessions": {ScopeAccount, all, all, own, own, own, no, proofNever},
	"ChangePassword":    {ScopeAccount, own, own, own, own, own, no, proofNever},
	"StepUp":            {ScopeAccount, own, own, own, own, own, no, proofNever},
	"StepUpBy":          {ScopeAccount, own, own, own, own, own, no, proofNever},
	"ShowLink":          {ScopeAccount, own, own, own, own, own, no, proofNever},
	"ConfirmLink":       {ScopeAccount, own, own, own, own, own, no, proofAlways},
	"Identities":        {ScopeAccount, all, all, own, own, own, no, proofNever},
	"RemoveIdentity":    {ScopeAccount, all, all, own, own, own, no, proofNever},

	// Second factors of one's own account, and those of others where they were lost
	"SecondFactors":        {ScopeAccount, own, own, own, own, own, no, proofNever},
	"StartAuthenticator":   {ScopeAccount, own, own, own, own, own, no, proofAlways},
	"ConfirmAuthenticator": {ScopeAccount, own, own, own, own, own, no, proofAlways},
	"AddSecurityKey":       {ScopeAccount, own, own, own, own, own, no, proofAlways},
	"RemoveSecondFactor":   {ScopeAccount, own, own, own, own, own, no, proofAlways},
	"ReplaceRecoveryCodes": {ScopeAccount, own, own, own, own, own, no, proofAlways},
	"ResetSecondFactor":    {ScopeAdmin, all, all, no, no, no, no, proofAlways},
	"RequireSecondFactor":  {ScopeAdmin, all, all, no, no, no, no, proofAlways},

	// Who is given an answer again is up to what the answer took.
	"MayRepeat": {ScopeRead, all, all, all, all, all, all, proofNever},

	// Notices
	"Notices":        {ScopeRead, all, all, own, own, own, own, proofNever},
	"Hooks":          {ScopeRead, all, all, no, no, no, no, proofNever},
	"Hook":           {ScopeRead, all, all, no, no, no, no, proofNever},
	"SaveHook":       {ScopeAdmin, all, all, no, no, no, no, proofPartly},
	"DeleteHook":     {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"TestHook":       {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"HookDeliveries": {ScopeRead, all, all, no, no, no, no, proofNever},
	"HookDelivery":   {ScopeRead, all, all, no, no, no, no, proofNever},
	"Redeliver":      {ScopeAdmin, all, all, no, no, no, no, proofNever},

	// Builds. Who sees a cluster sees the build that it is for; one without a cluster is shown to whom the hook acts as.
	"BuildHooks":      {ScopeRead, all, all, no, no, no, no, proofNever},
	"BuildHook":       {ScopeRead, all, all, no, no, no, no, proofNever},
	"BuildDeliveries": {ScopeRead, all, all, no, no, no, no, proofNever},
	"BuildDelivery":   {ScopeAdmin, all, all, no, no, no, no, proofNever}, // payloads may hold secrets
	"SaveBuildHook":   {ScopeAdmin, all, all, no, no, no, no, proofPartly},
	"DeleteBuildHook": {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"CheckBuildRules": {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"TryBuild":        {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"ReplayBuild":     {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"BuildList":       {ScopeRead, all, all, see, see, see, see, proofNever},
	"Build":           {ScopeRead, all, all, see, see, see, see, proofNever},
	"AwaitBuild":      {ScopeRead, all, all, see, see, see, see, proofNever},
	"EndBuild":        {ScopeCluster, all, all, own, own, no, own, proofNever},
	"ExtendBuild":     {ScopeCluster, all, all, own, own, no, own, proofNever},

	// Chats
	"ChatHouse":        {ScopeRead, all, all, no, no, no, no, proofNever},
	"StartChatInstall": {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"InstallChat":      {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"ChangeWorkspace":  {ScopeAdmin, all, all, no, no, no, no, proofAlways},
	"RemoveWorkspace":  {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"UseChannel":       {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"ResetChannel":     {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"SetApprovals":     {ScopeAdmin, all, all, no, no, no, no, proofNever},

	// People
	"User":              {ScopeRead, all, all, own, own, own, own, proofNever},
	"Users":             {ScopeRead, all, all, no, no, no, no, proofNever},
	"CreateUser":        {ScopeAdmin, all, all, no, no, no, no, proofPartly},
	"ChangeUser":        {ScopeAdmin, all, all, no, no, no, no, proofPartly},
	"ResetUserPassword": {ScopeAdmin, all, all, no, no, no, no, proofAlways},
	"DeleteUser":        {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"Groups":            {ScopeRead, all, all, no, no, no, no, proofNever},
	"SaveGroup":         {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"DeleteGroup":       {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"Tokens":            {ScopeRead, all, all, own, own, own, own, proofNever},
	"CreateToken":       {ScopeTokens, own, own, own, own, own, no, proofAlways},
	"CreateRobotToken":  {ScopeAdmin, all, all, no, no, no, no, proofAlways},
	"RevokeToken":       {ScopeTokens, all, all, own, own, own, no, proofNever},
	"EndToken":          {ScopeRead, own, own, own, own, own, own, proofNever},
	"ShowDevice":        {ScopeAccount, own, own, own, own, own, no, proofNever},
	"AnswerDevice":      {ScopeAccount, own, own, own, own, own, no, proofPartly},

	// Tenants. Admins see their own.
	"Tenant":       {ScopeRead, all, own, no, no, no, no, proofNever},
	"Tenants":      {ScopeRead, all, no, no, no, no, no, proofNever},
	"TenantNames":  {ScopeRead, all, no, no, no, no, no, proofNever},
	"ExportTenant": {ScopeRead, all, all, no, no, no, no, proofNever}, // the one in which the actor acts, as the next two
	"CheckTenant":  {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"ImportTenant": {ScopeAdmin, all, all, no, no, no, no, proofAlways},
	"CreateTenant": {ScopeAdmin, all, no, no, no, no, no, proofPartly},
	"ChangeTenant": {ScopeAdmin, all, no, no, no, no, no, proofNever},
	"DeleteTenant": {ScopeAdmin, all, no, no, no, no, no, proofAlways},
	"ActIn":        {ScopeRead, all, no, no, no, no, no, proofNever},

	// The installation
	"Settings":       {ScopeRead, all, no, no, no, no, no, proofNever},
	"ProviderHealth": {ScopeRead, all, no, no, no, no, no, proofNever},
	"Metrics":        {ScopeRead, all, no, no, no, no, no, proofNever},

	// Money. Of usage, who has only its own also sees the sums of the tenant.
	"Quotas":          {ScopeRead, all, all, all, no, no, no, proofNever},
	"QuotaLeft":       {ScopeRead, all, all, all, all, all, all, proofNever},
	"SetQuota":        {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"DeleteQuota":     {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"SetTenantQuota":  {ScopeAdmin, all, no, no, no, no, no, proofNever},
	"ExtendLease":     {ScopeCluster, all, all, own, own, no, own, proofNever},
	"LeaseOutlook":    {ScopeRead, all, all, see, see, see, see, proofNever},
	"LeaseLink":       {ScopeRead, all, all, see, see, see, see, proofNever},
	"Usage":           {ScopeRead, all, all, all, own, own, own, proofNever},
	"UsageOfAll":      {ScopeRead, all, no, no, no, no, no, proofNever},
	"UsageAhead":      {ScopeRead, all, all, all, own, own, own, proofNever},
	"UsageAheadOfAll": {ScopeRead, all, no, no, no, no, no, proofNever},

	// Pools
	"Pools":       {ScopeRead, all, all, no, no, no, no, proofNever},
	"Pool":        {ScopeRead, all, all, no, no, no, no, proofNever},
	"PoolReceipt": {ScopeRead, all, all, no, no, no, no, proofNever},
	"CreatePool":  {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"ChangePool":  {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"DrainPool":   {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"DeletePool":  {ScopeAdmin, all, all, no, no, no, no, proofNever},

	// Resources
	"ResourceTypes":  {ScopeRead, all, all, no, no, no, no, proofNever},
	"Resources":      {ScopeRead, all, all, no, no, no, no, proofNever},
	"Resource":       {ScopeRead, all, all, no, no, no, no, proofNever},
	"ResourceFiles":  {ScopeRead, all, all, no, no, no, no, proofNever},
	"DiffResource":   {ScopeRead, all, all, no, no, no, no, proofNever},
	"OpenResource":   {ScopeRead, all, all, no, no, no, no, proofNever},
	"PushResource":   {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"ImportResource": {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"StageResource":  {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"RecallResource": {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"SyncResources":  {ScopeAdmin, all, all, no, no, no, no, proofNever},
	"DeleteResource": {ScopeAdmin, all, all, no, no, no, no, proofNever},

	// The installation
	"SetOrphanMode":          {ScopeAdmin, all, no, no, no, no, no, proofNever},
	"Provisioners":           {ScopeRead, all, no, no, no, no, no, proofNever},
	"DrainProvisioner":       {ScopeAdmin, all, no, no, no, no, no, proofNever},
	"CreateProvisionerToken": {ScopeAdmin, all, no, no, no, no, no, proofAlways},
	"ProvisionerTokens":      {ScopeRead, all, no, no, no, no, no, proofNever},
	"RevokeProvisionerToken": {ScopeAdmin, all, no, no, no, no, no, proofNever},
}

// of gives how far a role gets.
func (p permission) of(r Role) reach {
	switch r {
	case RoleSuperadmin:
		return p.superadmin
	case RoleAdmin:
		return p.admin
	case RoleApprover:
		return p.approver
	case RoleUser:
		return p.user
	case RoleViewer:
		return p.viewer
	case RoleRobot:
		return p.robot
	}
	return no
}

// may tells whether the actor may do such a thing at all; EForbidden says who may. A use case that is not in the table is
// nobody's.
func (a Actor) may(useCase string) error {
	if _, err := a.reach(useCase); err != nil {
		return err
	}
	return a.proven(useCase)
}

// proven asks for a proof of who the actor is where the table says that the use case always takes one.
func (a Actor) proven(useCase string) error {
	if permissions[useCase].proof != proofAlways {
		return nil
	}
	return a.mustProve()
}

// May tells faces whether to show something; the use case itself has the last word. Use cases that need a proof are shown; the proof
// is asked for when one is chosen.
func (a Actor) May(useCase string) bool {
	_, err := a.reach(useCase)
	return err == nil
}

// MayIn is May for a use case about a cluster, as the actor was shown it.
func (a Actor) MayIn(useCase string, c Cluster) bool {
	return a.within(useCase, c) == nil
}

// mayTouch tells whether the actor may do it to something of an owner; what names the thing for people, as in
// `token 3`.
func (a Actor) mayTouch(useCase, owner, what string) error {
	r, err := a.reach(useCase)
	if err != nil {
		return err
	}
	if r == all || owner == a.User && a.Home == "" {
		a.noted.add(Allowance{UseCase: useCase, Owner: owner})
		return a.proven(useCase)
	}
	return &Error{Code: EForbidden, Reason: "not_owner", Message: fmt.Sprintf("%s belongs to %s; only its owner and admins may do that.", upper(what), owner)}
}

func (a Actor) reach(useCase string) (reach, error) {
	p := permissions[useCase]
	r := p.of(a.Role)
	if r == no || a.Tenant == "" || a.User == "" {
		return no, forbidden(p)
	}
	if p.scope == ScopeAccount && a.Token != "" {
		return no, &Error{Code: EForbidden, Reason: "scope", Message: "A token is not for that.", Hint: "Sign in at the portal."}
	}
	if len(a.Scopes) > 0 && p.scope != ScopeRead && !slices.Contains(a.Scopes, p.scope) {
		return no, &Error{Code: EForbidden, Reason: "scope", Message: fmt.Sprintf("This token is not for that: it lacks the scope %q.", p.scope),
			Hint: "Make a token with that scope, or sign in."}
	}
	if a.MustChange && p.scope != ScopeAccount {
		return no, &Error{Code: EForbidden, Reason: "must_change", Message: "Your password was made by somebody else. Choose your own first.",
			Hint: "Do so on your account page."}
	}
	if a.MustAddFactor && p.scope != ScopeAccount {
		return no, &Error{Code: EForbidden, Reason: MustAddReason, Message: "Your tenant requires a second factor, and you have none yet.", Hint: "Add one on your account page."}
	}
	a.noted.add(Allowance{UseCase: useCase})
	return r, nil
}

func forbidden(p permission) error {
	var who []string
	for _, r := range Roles {
		if p.of(r) != no {
			who = append(who, string(r))
		}
	}
	e := &Error{Code: EForbidden, Reason: "role", Message: "Your role does not allow that."}
	if len(who) > 0 {
		e.Hint = "It takes the role " + orList(who) + ". Ask an admin of your tenant."
	}
	return e
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// mayChange tells whether the actor may do something to a cluster.
func (a Actor) mayChange(useCase string, c Cluster) error {
	if c.Pool > 0 && a.Via != ViaServer {
		return &Error{Code: EForbidden, Reason: "pool", Message: fmt.Sprintf("%q is a machine of a pool, which is looked after by Muster itself.", c.Name),
			Hint: "Change the pool instead: see muster pool."}
	}
	if err := a.within(useCase, c); err != nil {
		return err
	}
	return a.proven(useCase)
}

// within is mayChange without the proof, for a cluster that the actor may see.
func (a Actor) within(useCase string, c Cluster) error {
	r, err := a.reach(useCase)
	if err != nil {
		return err
	}
	need := r.access()
	if r == all || c.Access >= need {
		a.noted.add(Allowance{UseCase: useCase, Cluster: c.ID})
		return nil
	}
	e := &Error{Code: EForbidden, Reason: "not_owner", Message: fmt.Sprintf("Cluster %q belongs to %s; only its owner and admins may do that.", c.Name, c.Owner)}
	if need < AccessCoOwner {
		e.Message = fmt.Sprintf("Cluster %q belongs to %s, and your access to it is %q; this takes %q.", c.Name, c.Owner, c.Access, need)
		e.Hint = "Ask " + c.Owner + " to share it with you."
	}
	return e
}

// system is Muster itself, acting in a tenant on behalf of nobody.
func system(tenant, name string) Actor {
	return Actor{Tenant: tenant, User: name, Role: RoleAdmin, Via: ViaServer}
}
