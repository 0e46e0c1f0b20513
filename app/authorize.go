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
	own       // what belongs to the actor
	all       // everything of the tenant in which it acts; of use cases about the installation: that
)

// permission is a line of the authorisation table.
type permission struct {
	scope Scope
	// in the order of Roles
	superadmin, admin, approver, user, viewer, robot reach
}

// permissions is the one authorisation table. Each exported method of App that takes an Actor has its line, under its own
// name, and asks it before anything else; a test walks all of them with every role.
var permissions = map[string]permission{
	// Looking                              super admin appr user view robot
	"Catalog":          {ScopeRead, all, all, all, all, all, all},
	"Template":         {ScopeRead, all, all, all, all, all, all},
	"TemplateVersions": {ScopeRead, all, all, all, all, all, all},
	"TemplateChanges":  {ScopeRead, all, all, all, all, all, all},
	"TemplatePrices":   {ScopeRead, all, all, all, all, all, all},
	"Home":             {ScopeRead, own, own, own, own, own, own},
	"Preview":          {ScopeRead, all, all, all, all, all, all},
	"Explain":          {ScopeRead, all, all, all, all, all, all},
	"Cluster":          {ScopeRead, all, all, all, all, all, all},
	"Clusters":         {ScopeRead, all, all, all, all, all, all},
	"ClusterPage":      {ScopeRead, all, all, all, all, all, all},
	"ClusterCounts":    {ScopeRead, all, all, all, all, all, all},
	"Steps":            {ScopeRead, all, all, all, all, all, all},
	"Events":           {ScopeRead, all, all, all, all, all, all},
	"Logs":             {ScopeRead, all, all, all, all, all, all},
	"SearchLogs":       {ScopeRead, all, all, all, all, all, all},
	"StepGraph":        {ScopeRead, all, all, all, all, all, all},
	"Watch":            {ScopeRead, all, all, all, all, all, all},
	"ClusterFacts":     {ScopeRead, all, all, all, own, own, own},
	"NodeReports":      {ScopeRead, all, all, all, all, all, all},
	"PreviewRollBack":  {ScopeRead, all, all, all, all, all, all},
	"PreviewGoOn":      {ScopeRead, all, all, all, all, all, all},
	"PreviewSleep":     {ScopeRead, all, all, all, all, all, all},
	"PreviewWake":      {ScopeRead, all, all, all, all, all, all},
	"Schedule":         {ScopeRead, all, all, all, all, all, all},
	"PreviewClone":     {ScopeRead, all, all, own, own, own, own},
	"ExportCluster":    {ScopeRead, all, all, own, own, own, own},
	"DiffClusters":     {ScopeRead, all, all, own, own, own, own},
	"Receipt":          {ScopeRead, all, all, all, all, all, all},
	"Waiting":          {ScopeRead, all, all, all, all, all, all},
	"Health":           {ScopeRead, all, all, all, all, all, all},
	"Drift":            {ScopeRead, all, all, all, own, own, own}, // it shows values of the configuration
	"ClusterConfig":    {ScopeRead, all, all, all, own, own, own},
	"PreviewAmend":     {ScopeRead, all, all, all, own, own, own}, // it shows values of the configuration

	// Clusters
	"CreateCluster":      {ScopeCluster, all, all, all, all, no, all},
	"DeleteCluster":      {ScopeCluster, all, all, own, own, no, own},
	"Amend":              {ScopeCluster, all, all, own, own, no, own},
	"ClusterKey":         {ScopeCluster, all, all, own, own, no, own},
	"ClusterCertificate": {ScopeCluster, all, all, own, own, no, own},
	"CancelOperation":    {ScopeCluster, all, all, own, own, no, own},
	"PauseOperation":     {ScopeCluster, all, all, own, own, no, own},
	"ResumeOperation":    {ScopeCluster, all, all, own, own, no, own},
	"ResumeCluster":      {ScopeCluster, all, all, own, own, no, own},
	"RetryNode":          {ScopeCluster, all, all, own, own, no, own},
	"RollBack":           {ScopeCluster, all, all, own, own, no, own},
	"GoOn":               {ScopeCluster, all, all, own, own, no, own},
	"SetTopUp":           {ScopeCluster, all, all, own, own, no, own},
	"RenameCluster":      {ScopeCluster, all, all, own, own, no, own},
	"TransferCluster":    {ScopeCluster, all, all, own, own, no, own},
	"SleepCluster":       {ScopeCluster, all, all, own, own, no, own},
	"WakeCluster":        {ScopeCluster, all, all, own, own, no, own},
	"SetSchedule":        {ScopeCluster, all, all, own, own, no, own},
	"CloneCluster":       {ScopeCluster, all, all, own, own, no, own},

	// Questions of steps that people carry out. Who may answer which is up to the question.
	"Questions":  {ScopeRead, all, all, all, all, all, all},
	"AnswerStep": {ScopeCluster, all, all, all, all, no, all},

	// Requests. Who may review which request, or break the glass, is up to the policies that want approvals.
	"Requests":   {ScopeRead, all, all, all, all, all, all},
	"Request":    {ScopeRead, all, all, all, all, all, all},
	"Ask":        {ScopeCluster, all, all, all, all, no, all},
	"Confirm":    {ScopeCluster, all, all, all, all, no, all},
	"Withdraw":   {ScopeCluster, all, all, all, all, no, all},
	"Review":     {ScopeApprove, all, all, all, all, no, no},
	"BreakGlass": {ScopeApprove, all, all, all, all, no, no},

	// Policies
	"PolicyList":    {ScopeRead, all, all, all, no, no, no},
	"Policy":        {ScopeRead, all, all, all, no, no, no},
	"PolicyZone":    {ScopeRead, all, all, all, no, no, no},
	"SavePolicy":    {ScopeAdmin, all, all, no, no, no, no},
	"DeletePolicy":  {ScopeAdmin, all, all, no, no, no, no},
	"TryPolicy":     {ScopeAdmin, all, all, no, no, no, no},
	"SetPolicyZone": {ScopeAdmin, all, all, no, no, no, no},

	// The tenant's own catalog
	"CatalogItems":    {ScopeRead, all, all, no, no, no, no},
	"CatalogSource":   {ScopeRead, all, all, no, no, no, no},
	"CatalogHistory":  {ScopeRead, all, all, no, no, no, no},
	"CatalogFamilies": {ScopeRead, all, all, no, no, no, no},
	"ExportCatalog":   {ScopeRead, all, all, no, no, no, no},
	"CheckProvider":   {ScopeAdmin, all, all, no, no, no, no},
	"ProviderOffers":  {ScopeAdmin, all, all, no, no, no, no},
	"CheckCatalog":    {ScopeAdmin, all, all, no, no, no, no},
	"TryCatalog":      {ScopeAdmin, all, all, no, no, no, no},
	"ExplainCatalog":  {ScopeAdmin, all, all, no, no, no, no},
	"ApplyCatalog":    {ScopeAdmin, all, all, no, no, no, no},
	"RevertCatalog":   {ScopeAdmin, all, all, no, no, no, no},

	// The tenant
	"Queue":        {ScopeRead, all, all, no, no, no, no},
	"Queues":       {ScopeRead, all, no, no, no, no, no},
	"Orphans":      {ScopeRead, all, all, no, no, no, no},
	"DecideOrphan": {ScopeAdmin, all, all, no, no, no, no},
	"Secrets":      {ScopeRead, all, all, no, no, no, no},
	"SetSecret":    {ScopeAdmin, all, all, no, no, no, no},
	"DeleteSecret": {ScopeAdmin, all, all, no, no, no, no},
	"Audit":        {ScopeRead, all, all, no, no, no, no},
	"ExportAudit":  {ScopeAdmin, all, all, no, no, no, no},
	"VerifyAudit":  {ScopeRead, all, all, no, no, no, no},

	// One's own account; admins may end the sign-ins of others, and untie who they are elsewhere. Tokens and robots never may.
	"Sessions":          {ScopeAccount, all, all, own, own, own, no},
	"RevokeSession":     {ScopeAccount, all, all, own, own, own, no},
	"RevokeAllSessions": {ScopeAccount, all, all, own, own, own, no},
	"ChangePassword":    {ScopeAccount, own, own, own, own, own, no},
	"StepUp":            {ScopeAccount, own, own, own, own, own, no},
	"StepUpBy":          {ScopeAccount, own, own, own, own, own, no},
	"ShowLink":          {ScopeAccount, own, own, own, own, own, no},
	"ConfirmLink":       {ScopeAccount, own, own, own, own, own, no},
	"Identities":        {ScopeAccount, all, all, own, own, own, no},
	"RemoveIdentity":    {ScopeAccount, all, all, own, own, own, no},

	// Notices
	"Notices":        {ScopeRead, all, all, own, own, own, own},
	"Hooks":          {ScopeRead, all, all, no, no, no, no},
	"Hook":           {ScopeRead, all, all, no, no, no, no},
	"SaveHook":       {ScopeAdmin, all, all, no, no, no, no},
	"DeleteHook":     {ScopeAdmin, all, all, no, no, no, no},
	"TestHook":       {ScopeAdmin, all, all, no, no, no, no},
	"HookDeliveries": {ScopeRead, all, all, no, no, no, no},
	"HookDelivery":   {ScopeRead, all, all, no, no, no, no},
	"Redeliver":      {ScopeAdmin, all, all, no, no, no, no},

	// Builds. Who sees a cluster sees the build that it is for.
	"BuildHooks":      {ScopeRead, all, all, no, no, no, no},
	"BuildHook":       {ScopeRead, all, all, no, no, no, no},
	"BuildDeliveries": {ScopeRead, all, all, no, no, no, no},
	"BuildDelivery":   {ScopeAdmin, all, all, no, no, no, no}, // payloads may hold secrets
	"SaveBuildHook":   {ScopeAdmin, all, all, no, no, no, no},
	"DeleteBuildHook": {ScopeAdmin, all, all, no, no, no, no},
	"CheckBuildRules": {ScopeAdmin, all, all, no, no, no, no},
	"TryBuild":        {ScopeAdmin, all, all, no, no, no, no},
	"ReplayBuild":     {ScopeAdmin, all, all, no, no, no, no},
	"BuildList":       {ScopeRead, all, all, all, all, all, all},
	"Build":           {ScopeRead, all, all, all, all, all, all},
	"AwaitBuild":      {ScopeRead, all, all, all, all, all, all},
	"EndBuild":        {ScopeCluster, all, all, own, own, no, own},
	"ExtendBuild":     {ScopeCluster, all, all, own, own, no, own},

	// Chats
	"ChatHouse":        {ScopeRead, all, all, no, no, no, no},
	"StartChatInstall": {ScopeAdmin, all, all, no, no, no, no},
	"InstallChat":      {ScopeAdmin, all, all, no, no, no, no},
	"ChangeWorkspace":  {ScopeAdmin, all, all, no, no, no, no},
	"RemoveWorkspace":  {ScopeAdmin, all, all, no, no, no, no},
	"UseChannel":       {ScopeAdmin, all, all, no, no, no, no},
	"ResetChannel":     {ScopeAdmin, all, all, no, no, no, no},
	"SetApprovals":     {ScopeAdmin, all, all, no, no, no, no},

	// People
	"User":              {ScopeRead, all, all, own, own, own, own},
	"Users":             {ScopeRead, all, all, no, no, no, no},
	"CreateUser":        {ScopeAdmin, all, all, no, no, no, no},
	"ChangeUser":        {ScopeAdmin, all, all, no, no, no, no},
	"ResetUserPassword": {ScopeAdmin, all, all, no, no, no, no},
	"DeleteUser":        {ScopeAdmin, all, all, no, no, no, no},
	"Groups":            {ScopeRead, all, all, no, no, no, no},
	"SaveGroup":         {ScopeAdmin, all, all, no, no, no, no},
	"DeleteGroup":       {ScopeAdmin, all, all, no, no, no, no},
	"Tokens":            {ScopeRead, all, all, own, own, own, own},
	"CreateToken":       {ScopeTokens, own, own, own, own, own, no},
	"CreateRobotToken":  {ScopeAdmin, all, all, no, no, no, no},
	"RevokeToken":       {ScopeTokens, all, all, own, own, own, no},
	"EndToken":          {ScopeRead, own, own, own, own, own, own},
	"ShowDevice":        {ScopeAccount, own, own, own, own, own, no},
	"AnswerDevice":      {ScopeAccount, own, own, own, own, own, no},

	// Tenants. Admins see their own.
	"Tenant":       {ScopeRead, all, own, no, no, no, no},
	"Tenants":      {ScopeRead, all, no, no, no, no, no},
	"TenantNames":  {ScopeRead, all, no, no, no, no, no},
	"ExportTenant": {ScopeRead, all, all, no, no, no, no}, // the one in which the actor acts, as the next two
	"CheckTenant":  {ScopeAdmin, all, all, no, no, no, no},
	"ImportTenant": {ScopeAdmin, all, all, no, no, no, no},
	"CreateTenant": {ScopeAdmin, all, no, no, no, no, no},
	"ChangeTenant": {ScopeAdmin, all, no, no, no, no, no},
	"DeleteTenant": {ScopeAdmin, all, no, no, no, no, no},
	"ActIn":        {ScopeRead, all, no, no, no, no, no},

	// The installation
	"Settings":       {ScopeRead, all, no, no, no, no, no},
	"ProviderHealth": {ScopeRead, all, no, no, no, no, no},
	"Metrics":        {ScopeRead, all, no, no, no, no, no},

	// Money. Of usage, who has only its own also sees the sums of the tenant.
	"Quotas":          {ScopeRead, all, all, all, no, no, no},
	"QuotaLeft":       {ScopeRead, all, all, all, all, all, all},
	"SetQuota":        {ScopeAdmin, all, all, no, no, no, no},
	"DeleteQuota":     {ScopeAdmin, all, all, no, no, no, no},
	"SetTenantQuota":  {ScopeAdmin, all, no, no, no, no, no},
	"ExtendLease":     {ScopeCluster, all, all, own, own, no, own},
	"LeaseOutlook":    {ScopeRead, all, all, all, all, all, all},
	"LeaseLink":       {ScopeRead, all, all, all, all, all, all},
	"Usage":           {ScopeRead, all, all, all, own, own, own},
	"UsageOfAll":      {ScopeRead, all, no, no, no, no, no},
	"UsageAhead":      {ScopeRead, all, all, all, own, own, own},
	"UsageAheadOfAll": {ScopeRead, all, no, no, no, no, no},

	// Pools
	"Pools":       {ScopeRead, all, all, no, no, no, no},
	"Pool":        {ScopeRead, all, all, no, no, no, no},
	"PoolReceipt": {ScopeRead, all, all, no, no, no, no},
	"CreatePool":  {ScopeAdmin, all, all, no, no, no, no},
	"ChangePool":  {ScopeAdmin, all, all, no, no, no, no},
	"DrainPool":   {ScopeAdmin, all, all, no, no, no, no},
	"DeletePool":  {ScopeAdmin, all, all, no, no, no, no},

	// Resources
	"ResourceTypes":  {ScopeRead, all, all, no, no, no, no},
	"Resources":      {ScopeRead, all, all, no, no, no, no},
	"Resource":       {ScopeRead, all, all, no, no, no, no},
	"ResourceFiles":  {ScopeRead, all, all, no, no, no, no},
	"DiffResource":   {ScopeRead, all, all, no, no, no, no},
	"OpenResource":   {ScopeRead, all, all, no, no, no, no},
	"PushResource":   {ScopeAdmin, all, all, no, no, no, no},
	"ImportResource": {ScopeAdmin, all, all, no, no, no, no},
	"StageResource":  {ScopeAdmin, all, all, no, no, no, no},
	"RecallResource": {ScopeAdmin, all, all, no, no, no, no},
	"SyncResources":  {ScopeAdmin, all, all, no, no, no, no},
	"DeleteResource": {ScopeAdmin, all, all, no, no, no, no},

	// The installation
	"SetOrphanMode":          {ScopeAdmin, all, no, no, no, no, no},
	"Provisioners":           {ScopeRead, all, no, no, no, no, no},
	"DrainProvisioner":       {ScopeAdmin, all, no, no, no, no, no},
	"CreateProvisionerToken": {ScopeAdmin, all, no, no, no, no, no},
	"ProvisionerTokens":      {ScopeRead, all, no, no, no, no, no},
	"RevokeProvisionerToken": {ScopeAdmin, all, no, no, no, no, no},
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
	_, err := a.reach(useCase)
	return err
}

// May tells faces whether to show something; the use case itself has the last word. With an owner it is about what belongs
// to that user.
func (a Actor) May(useCase string, owner ...string) bool {
	if len(owner) > 0 {
		return a.mayTouch(useCase, owner[0], "") == nil
	}
	return a.may(useCase) == nil
}

// mayTouch tells whether the actor may do it to something of an owner; what names the thing for people, as in
// `cluster "web"`.
func (a Actor) mayTouch(useCase, owner, what string) error {
	r, err := a.reach(useCase)
	if err != nil {
		return err
	}
	if r == all || owner == a.User && a.Home == "" {
		a.noted.add(Allowance{useCase, owner})
		return nil
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
	return a.mayTouch(useCase, c.Owner, fmt.Sprintf("cluster %q", c.Name))
}

// system is Muster itself, acting in a tenant on behalf of nobody.
func system(tenant, name string) Actor {
	return Actor{Tenant: tenant, User: name, Role: RoleAdmin, Via: ViaServer}
}
