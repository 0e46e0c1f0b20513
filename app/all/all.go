package all

import (
	"context"
	"io"
	"time"

	"muster/app"
	"muster/app/build"
	"muster/app/catalog"
	"muster/app/chat"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/fleet"
	"muster/app/identity"
	"muster/app/layout"
	"muster/app/observe"
	"muster/app/operation"
	"muster/app/plan"
	"muster/app/policy"
	"muster/app/pool"
	"muster/app/resource"
	"muster/app/secret"
	"muster/app/settings"
	"muster/app/store"
	"muster/app/template"
	"muster/app/upkeep"
	"muster/app/usage"
	"muster/app/webhook"
)

// The services, by names that can be embedded side by side.
type (
	ResourceService        = resource.Service
	CatalogService         = catalog.Service
	SecretService          = secret.Service
	ClusterFinderService   = cluster.Finder
	MaskService            = cluster.Masks
	PlanService            = cluster.Plans
	PreflightService       = cluster.Preflight
	ViewService            = cluster.Views
	SpecService            = cluster.Specs
	CreateService          = cluster.Creates
	TrialService           = cluster.Trials
	ActivityService        = cluster.Activity
	SharingService         = cluster.Sharing
	OwnershipService       = cluster.Ownership
	DeleteService          = cluster.Deletes
	DashboardService       = cluster.Dashboard
	RepeatService          = cluster.Repeats
	ClusterAccessService   = cluster.Access
	AuditService           = identity.AuditLog
	DeviceService          = identity.Devices
	GroupService           = identity.Groups
	LinkService            = identity.Links
	PasswordService        = identity.Passwords
	FactorService          = identity.Factors
	SessionService         = identity.Sessions
	StepUpService          = identity.StepUps
	SignInService          = identity.SignIns
	TokenService           = identity.Tokens
	UserService            = identity.Users
	TenantService          = identity.Tenants
	WebhookService         = webhook.Service
	PolicyService          = policy.Service
	OperationFinderService = operation.Finder
	UpdateBuilderService   = operation.Builder
	UpdateSubmitterService = operation.Submitter
	UpdateService          = operation.Updates
	SleepService           = operation.Sleeping
	ScheduleService        = operation.Schedules
	PausedDeleteService    = operation.PausedDeletes
	LeaseService           = operation.Leases
	LeaseWarningService    = operation.LeaseWarnings
	ControlService         = operation.Controls
	PartialService         = operation.Partials
	RollBackService        = operation.RollBacks
	RequestService         = operation.Requests
	DriftService           = operation.Drifts
	BackfillService        = operation.Backfills
	UsageService           = usage.Service
	ExecutionService       = execution.Service
	PoolService            = pool.Service
	BuildHookService       = build.Hooks
	BuildService           = build.Builds
	BuildAccessService     = build.Access
	BuildIntakeService     = build.Intake
	BuildReconciler        = build.Reconciler
	ChatCardService        = chat.Cards
	ChatMessageService     = chat.Messages
	ChatHomeService        = chat.Homes
	ChatReviewService      = chat.Reviews
	ChatWorkspaceService   = chat.Workspaces
	ChatTokenService       = chat.Tokens
	ChatChannelService     = chat.Channels
	ChatLinkService        = chat.Links
	SettingsService        = settings.Service
	UpkeepService          = upkeep.Service
	QuotaService           = policy.Quotas
	FactService            = execution.Facts
	HealthService          = execution.Health
	QuestionService        = execution.Questions
	WaitService            = execution.Waits
	InstallationService    = fleet.Installation
	MachineService         = fleet.Machines
	ProvisionerService     = fleet.Provisioners
	RegistryService        = fleet.Registries
	PoolReconciler         = pool.Reconciler
)

// App is all services at once. Its methods may be called from many goroutines.
type App struct {
	*ResourceService
	*CatalogService
	*SecretService
	*AuditService
	*DeviceService
	*GroupService
	*LinkService
	*PasswordService
	*FactorService
	*SessionService
	*StepUpService
	*SignInService
	*TokenService
	*UserService
	*TenantService
	*WebhookService
	*PolicyService
	*QuotaService
	*ClusterFinderService
	*MaskService
	*PlanService
	*PreflightService
	*ViewService
	*SpecService
	*CreateService
	*TrialService
	*ActivityService
	*SharingService
	*OwnershipService
	*DeleteService
	*DashboardService
	*RepeatService
	*ClusterAccessService
	*OperationFinderService
	*UpdateBuilderService
	*UpdateSubmitterService
	*UpdateService
	*SleepService
	*ScheduleService
	*PausedDeleteService
	*LeaseService
	*LeaseWarningService
	*ControlService
	*PartialService
	*RollBackService
	*RequestService
	*DriftService
	*BackfillService
	*UsageService
	*ExecutionService
	*FactService
	*HealthService
	*QuestionService
	*WaitService
	*InstallationService
	*MachineService
	*ProvisionerService
	*RegistryService
	*PoolService
	*PoolReconciler
	*BuildHookService
	*BuildService
	*BuildAccessService
	*BuildIntakeService
	*BuildReconciler
	*ChatCardService
	*ChatMessageService
	*ChatHomeService
	*ChatReviewService
	*ChatWorkspaceService
	*ChatTokenService
	*ChatChannelService
	*ChatLinkService
	*SettingsService
	*UpkeepService
}

// New returns the services on top of its needs.
func New(d Deps) *App {
	a := &App{}
	a.ResourceService = resource.New(resource.Config{
		Store: d.Store, Contents: d.Store, Faults: d.Faults, Now: d.Now, Blobs: d.Blobs, ResourceKinds: d.ResourceKinds, ResourceLimits: d.ResourceLimits})
	a.CatalogService = catalog.New(catalog.Config{Own: d.Store, Versions: d.Store, Uses: d.Store, Catalog: d.Catalog, Now: d.Now,
		SharesHost: d.SharesHost, Solver: d.Solver, TenantHostAccess: d.TenantHostAccess, Reader: d.Reader})
	a.SecretService = secret.New(secret.Config{Store: d.Store, Now: d.Now, Catalogs: a.CatalogService})
	a.AuditService = identity.NewAuditLog(identity.AuditLogConfig{Store: d.Store, Now: d.Now})
	a.DeviceService = identity.NewDevices(identity.DevicesConfig{Store: d.Store, Now: d.Now})
	a.GroupService = identity.NewGroups(identity.GroupsConfig{Store: d.Store, Now: d.Now})
	a.LinkService = identity.NewLinks(identity.LinksConfig{Store: d.Store, Now: d.Now})
	a.PasswordService = identity.NewPasswords(identity.PasswordsConfig{Store: d.Store, Now: d.Now})
	a.FactorService = identity.NewFactors(identity.FactorsConfig{Store: d.Store, Now: d.Now, AuditLog: a.AuditService, Passwords: a.PasswordService})
	a.SessionService = identity.NewSessions(identity.SessionsConfig{Store: d.Store, Now: d.Now})
	a.StepUpService = identity.NewStepUps(identity.StepUpsConfig{Store: d.Store, Now: d.Now, Factors: a.FactorService, Passwords: a.PasswordService})
	a.SignInService = identity.NewSignIns(identity.SignInsConfig{
		Store: d.Store, Now: d.Now, AuditLog: a.AuditService, Factors: a.FactorService, Sessions: a.SessionService})
	a.TokenService = identity.NewTokens(identity.TokensConfig{Store: d.Store, Now: d.Now})
	a.UserService = identity.NewUsers(identity.UsersConfig{Store: d.Store, Now: d.Now})
	a.TenantService = identity.NewTenants(identity.TenantsConfig{Store: d.Store, Now: d.Now, Catalogs: a.CatalogService, Users: a.UserService})
	a.WebhookService = webhook.New(webhook.Config{Store: d.Store, CheckScript: d.CheckScript, Now: d.Now, HookGuard: d.HookGuard})
	a.PolicyService = policy.New(policy.Config{Store: d.Store, Now: d.Now, Policies: d.Policies})
	a.QuotaService = policy.NewQuotas(policy.QuotasConfig{Store: d.Store, Now: d.Now})
	solving, workerKeys := &layout.SolveLimit{}, &identity.WorkerKeys{}
	a.ClusterFinderService = cluster.NewFinder(cluster.FinderConfig{Store: d.Store})
	a.MaskService = cluster.NewMasks(cluster.MasksConfig{Store: d.Store, Catalogs: a.CatalogService, Clusters: a.ClusterFinderService})
	a.PlanService = cluster.NewPlans(cluster.PlansConfig{Store: d.Store, Planner: d.Planner, Now: d.Now, Catalogs: a.CatalogService})
	a.PreflightService = cluster.NewPreflight(cluster.PreflightConfig{
		Store: d.Store, Now: d.Now, Accounts: d.Accounts, CheckScript: d.CheckScript, Provisioned: d.Provisioned, Catalogs: a.CatalogService,
		Secrets: a.SecretService})
	a.ViewService = cluster.NewViews(cluster.ViewsConfig{
		Store: d.Store, Now: d.Now, Catalogs: a.CatalogService, Finder: a.ClusterFinderService, Masks: a.MaskService})
	a.SpecService = cluster.NewSpecs(cluster.SpecsConfig{Store: d.Store, Catalogs: a.CatalogService, Clusters: a.ClusterFinderService})
	a.CreateService = cluster.NewCreates(cluster.CreatesConfig{
		Store: d.Store, Solver: d.Solver, Now: d.Now, Keys: d.Keys, Explainer: d.Explainer, Firewalls: d.Firewalls, Resources: a.ResourceService,
		Catalogs: a.CatalogService, Policies: a.PolicyService, Solving: solving, Clusters: a.ClusterFinderService, Plans: a.PlanService,
		Preflight: a.PreflightService, Views: a.ViewService, Specs: a.SpecService})
	a.TrialService = cluster.NewTrials(cluster.TrialsConfig{Catalogs: a.CatalogService, Preflight: a.PreflightService, Creates: a.CreateService})
	a.ActivityService = cluster.NewActivity(cluster.ActivityConfig{Store: d.Store, Now: d.Now, Clusters: a.ClusterFinderService, Masks: a.MaskService})
	a.SharingService = cluster.NewSharing(cluster.SharingConfig{Store: d.Store, Now: d.Now, Clusters: a.ClusterFinderService})
	a.OwnershipService = cluster.NewOwnership(cluster.OwnershipConfig{Store: d.Store, Now: d.Now, Clusters: a.ClusterFinderService, Views: a.ViewService})
	a.DeleteService = cluster.NewDeletes(cluster.DeletesConfig{
		Store: d.Store, Now: d.Now, Clusters: a.ClusterFinderService, Plans: a.PlanService, Views: a.ViewService})
	a.DashboardService = cluster.NewDashboard(cluster.DashboardConfig{Store: d.Store, Now: d.Now, Masks: a.MaskService})
	a.RepeatService = cluster.NewRepeats(cluster.RepeatsConfig{Store: d.Store, Now: d.Now, Clusters: a.ClusterFinderService})
	a.ClusterAccessService = cluster.NewAccess(cluster.AccessConfig{Store: d.Store, Now: d.Now, Keys: d.Keys, Clusters: a.ClusterFinderService})
	a.OperationFinderService = operation.NewFinder(operation.FinderConfig{Store: d.Store, Clusters: a.ClusterFinderService})
	a.UpdateBuilderService = operation.NewBuilder(operation.BuilderConfig{
		Store: d.Store, Changer: d.Changer, DryRuns: d.DryRuns, Sleeps: d.Sleeps, Resources: a.ResourceService, Catalogs: a.CatalogService,
		Plans: a.PlanService, Preflight: a.PreflightService, Views: a.ViewService})
	a.UpdateSubmitterService = operation.NewSubmitter(operation.SubmitterConfig{
		Store: d.Store, Now: d.Now, Keys: d.Keys, Policies: a.PolicyService, Views: a.ViewService})
	a.UpdateService = operation.NewUpdates(operation.UpdatesConfig{
		Clusters: a.ClusterFinderService, Plans: a.PlanService, Preflight: a.PreflightService, Solving: solving, Builder: a.UpdateBuilderService,
		Submitter: a.UpdateSubmitterService})
	a.SleepService = operation.NewSleeping(operation.SleepingConfig{
		Clusters: a.ClusterFinderService, Builder: a.UpdateBuilderService, Submitter: a.UpdateSubmitterService})
	a.ScheduleService = operation.NewSchedules(operation.SchedulesConfig{
		Store: d.Store, Now: d.Now, Policies: a.PolicyService, Clusters: a.ClusterFinderService, Builder: a.UpdateBuilderService,
		Submitter: a.UpdateSubmitterService, Sleeping: a.SleepService})
	a.PausedDeleteService = operation.NewPausedDeletes(operation.PausedDeletesConfig{Store: d.Store, Now: d.Now, LeaseGrace: d.LeaseGrace})
	a.LeaseService = operation.NewLeases(operation.LeasesConfig{
		Store: d.Store, Now: d.Now, Catalogs: a.CatalogService, WorkerKeys: workerKeys, Clusters: a.ClusterFinderService,
		Preflight: a.PreflightService, PausedDeletes: a.PausedDeleteService})
	a.LeaseWarningService = operation.NewLeaseWarnings(operation.LeaseWarningsConfig{Store: d.Store, Now: d.Now, Leases: a.LeaseService})
	a.ControlService = operation.NewControls(operation.ControlsConfig{Store: d.Store, Now: d.Now, Views: a.ViewService, Operations: a.OperationFinderService})
	a.PartialService = operation.NewPartials(operation.PartialsConfig{
		Store: d.Store, Now: d.Now, Catalogs: a.CatalogService, Masks: a.MaskService, Plans: a.PlanService, Views: a.ViewService,
		Operations: a.OperationFinderService, Builder: a.UpdateBuilderService})
	a.RollBackService = operation.NewRollBacks(operation.RollBacksConfig{
		Store: d.Store, Now: d.Now, Plans: a.PlanService, Views: a.ViewService, Operations: a.OperationFinderService, Partials: a.PartialService})
	a.RequestService = operation.NewRequests(operation.RequestsConfig{
		Store: d.Store, Now: d.Now, Catalogs: a.CatalogService, Policies: a.PolicyService, Clusters: a.ClusterFinderService, Masks: a.MaskService,
		Plans: a.PlanService, Preflight: a.PreflightService, Creates: a.CreateService, Builder: a.UpdateBuilderService, Submitter: a.UpdateSubmitterService})
	a.DriftService = operation.NewDrifts(operation.DriftsConfig{
		Store: d.Store, Now: d.Now, DryRuns: d.DryRuns, Clusters: a.ClusterFinderService, Views: a.ViewService, Updates: a.UpdateService})
	a.BackfillService = operation.NewBackfills(operation.BackfillsConfig{
		Store: d.Store, Now: d.Now, Clusters: a.ClusterFinderService, Views: a.ViewService, Updates: a.UpdateService})
	a.UsageService = usage.New(usage.Config{Store: d.Store, Now: d.Now, Clusters: a.ClusterFinderService, LeaseWarnings: a.LeaseWarningService})
	a.FactService = execution.NewFacts(execution.FactsConfig{Store: d.Store, Clusters: a.ClusterFinderService})
	a.QuestionService = execution.NewQuestions(execution.QuestionsConfig{Store: d.Store, Now: d.Now, Clusters: a.ClusterFinderService})
	a.HealthService = execution.NewHealth(execution.HealthConfig{
		Store: d.Store, Now: d.Now, Clusters: a.ClusterFinderService, Masks: a.MaskService, Views: a.ViewService, Updates: a.UpdateService})
	a.WaitService = execution.NewWaits(execution.WaitsConfig{Store: d.Store, Now: d.Now, Provisioned: d.Provisioned, Tries: d.Tries, Workers: d.Workers,
		Budgets: d.Budgets, Catalogs: a.CatalogService, Clusters: a.ClusterFinderService, Masks: a.MaskService,
		Preflight: a.PreflightService, Operations: a.OperationFinderService, PausedDeletes: a.PausedDeleteService})
	a.ExecutionService = execution.New(execution.Config{Steps: d.Store, Rounds: d.Store, Inputs: d.Store, Now: d.Now, Meter: d.Meter,
		Resources: a.ResourceService, Catalogs: a.CatalogService, Secrets: a.SecretService, DryRuns: d.DryRuns, Facts: a.FactService, Questions: a.QuestionService})
	a.InstallationService = fleet.NewInstallation(fleet.InstallationConfig{Store: d.Store, Now: d.Now, Accounts: d.Accounts, Catalog: d.Catalog,
		Expose: d.Expose, Facts: d.Facts, Calls: d.Calls, RateOf: d.RateOf, Catalogs: a.CatalogService, Secrets: a.SecretService})
	a.MachineService = fleet.NewMachines(fleet.MachinesConfig{Store: d.Store, Now: d.Now, Clusters: a.ClusterFinderService})
	a.ProvisionerService = fleet.NewProvisioners(fleet.ProvisionersConfig{Store: d.Store, Now: d.Now})
	a.RegistryService = fleet.NewRegistries(fleet.RegistriesConfig{Store: d.Store, Now: d.Now, WorkerKeys: workerKeys, Executions: a.ExecutionService})
	a.PoolService = pool.New(pool.Config{Store: d.Store, Now: d.Now, Catalogs: a.CatalogService, Preflight: a.PreflightService})
	a.PoolReconciler = pool.NewReconciler(pool.ReconcilerConfig{
		Store: d.Store, Now: d.Now, Keys: d.Keys, Catalog: d.Catalog, Plans: a.PlanService, Pools: a.PoolService})
	a.BuildHookService = build.NewHooks(build.HooksConfig{
		Store: d.Store, Now: d.Now, Systems: d.Builds, BuildRules: d.BuildRules, Catalogs: a.CatalogService, Webhooks: a.WebhookService})
	a.BuildService = build.NewBuilds(build.BuildsConfig{Store: d.Store, Now: d.Now, Clusters: a.ClusterFinderService, Leases: a.LeaseService})
	a.BuildAccessService = build.NewAccess(build.AccessConfig{
		Store: d.Store, Now: d.Now, Views: a.ViewService, Access: a.ClusterAccessService, Builds: a.BuildService, Hooks: a.BuildHookService})
	a.BuildIntakeService = build.NewIntake(build.IntakeConfig{Store: d.Store, Now: d.Now, Systems: d.Builds, BuildRules: d.BuildRules,
		Creates: a.CreateService, Webhooks: a.WebhookService, Builds: a.BuildService, Hooks: a.BuildHookService})
	a.BuildReconciler = build.NewReconciler(build.ReconcilerConfig{
		Store: d.Store, Now: d.Now, Faults: d.Faults, Creates: a.CreateService, Deletes: a.DeleteService, Hooks: a.BuildHookService})
	a.ChatCardService = chat.NewCards(chat.CardsConfig{Store: d.Store, Now: d.Now, Masks: a.MaskService})
	a.ChatMessageService = chat.NewMessages(chat.MessagesConfig{Store: d.Store, Now: d.Now})
	a.ChatHomeService = chat.NewHomes(chat.HomesConfig{Store: d.Store, Now: d.Now})
	a.ChatReviewService = chat.NewReviews(chat.ReviewsConfig{Store: d.Store, Now: d.Now})
	a.ChatWorkspaceService = chat.NewWorkspaces(chat.WorkspacesConfig{Store: d.Store, Now: d.Now})
	a.ChatTokenService = chat.NewTokens(chat.TokensConfig{Store: d.Store, Now: d.Now})
	a.ChatChannelService = chat.NewChannels(chat.ChannelsConfig{Store: d.Store, Now: d.Now})
	a.ChatLinkService = chat.NewLinks(chat.LinksConfig{Store: d.Store, Now: d.Now, Channels: a.ChatChannelService})
	a.SettingsService = settings.New(settings.Config{Store: d.Store, Tenants: d.Store, People: d.Store, Rules: d.Store, Integrations: d.Store, Entries: d.Store,
		Faults: d.Faults, Now: d.Now, TenantFiles: d.TenantFiles,
		Catalogs: a.CatalogService, Secrets: a.SecretService, Users: a.UserService, Hooks: a.WebhookService, Policies: a.PolicyService, Pools: a.PoolService, BuildHooks: a.BuildHookService})
	a.UpkeepService = upkeep.New(upkeep.Config{
		Store: d.Store, Now: d.Now, Deletes: a.DeleteService, Schedules: a.ScheduleService, PausedDeletes: a.PausedDeleteService, Requests: a.RequestService, Backfills: a.BackfillService, Usages: a.UsageService, Pools: a.PoolReconciler})
	return a
}

// Deps is what the services together need from outside. All fields but Explainer and the last ones are required.
type Deps struct {
	Store     *store.Store
	Solver    layout.Solver
	Explainer layout.Explainer // nil: refusals are not explained further
	Changer   layout.Changer   // nil: no cluster can be amended
	Planner   plan.Planner
	Keys      app.Keys
	// Catalog returns the installation's catalog as it is published now. What a tenant sees is that with its own entries over it; see
	// CatalogOf in app/catalog.
	Catalog func() *template.Catalog
	// Reader understands what tenants lay over it; nil: they cannot.
	Reader catalog.CatalogReader
	// TenantHostAccess lets admins of tenants run what they wrote on machines that are on Muster's own hosts.
	TenantHostAccess bool
	// SharesHost says why machines of a provider would be processes of this host, with the rights of the server's user; "" where they are
	// not, or where only the host that makes them can tell. Nil: none are.
	SharesHost func(ctx context.Context, spec template.ProviderSpec) string
	// Policies evaluates policies; nil: a tenant with policies gets everything refused.
	Policies policy.PolicyEngine
	Now      func() time.Time
	// What people are told of why something waits; nil: not known, or for Workers what the provisioners say.
	Workers   execution.Workforce
	Budgets   execution.Budgets
	Tries     func(app.Code) int // how often a step is tried whose attempts fail with a code; 0: not known
	HookGuard webhook.HookGuard  // where hooks may lead; nil: anywhere over https
	// What operators look at: how the server is set up, what calls went to accounts, and how many they take; nil: not known.
	Facts  func(context.Context) (fleet.ServerFacts, error)
	Calls  fleet.CallBook
	RateOf func(template.ProviderSpec) template.Rate
	// Provisioned says that steps are carried out by provisioners, which register. What none of them can take is refused.
	Provisioned bool
	// Sleeps tells whether machines of a type of provider can be stopped and kept; nil: not known, the steps will tell.
	Sleeps func(kind string) bool
	// DryRuns tells whether an automator can say what it would change; nil: none can.
	DryRuns func(automator string) bool
	// Firewalls tells whether a type of provider makes firewalls for clusters; nil: not known, and no one is warned.
	Firewalls func(kind string) bool
	// CheckScript tells what keeps a shell from reading a script, nil for nothing; nil: scripts are not read before they run.
	CheckScript func(script string) *template.ScriptFault
	// Accounts asks accounts what they would do; nil: they cannot be asked.
	Accounts cluster.Accounts
	// LeaseGrace is for how long a deletion may stay paused after the cluster's lease has ended; 0: DefaultLeaseGrace.
	LeaseGrace time.Duration
	// Builds understands what build systems send, BuildRules the rules about it; nil: nothing is taken from them.
	Builds     build.BuildSystems
	BuildRules build.BuildRuleEngine
	// TenantFiles reads and writes what a tenant's settings are kept in; nil: they are neither exported nor imported.
	TenantFiles settings.TenantFiles
	// Blobs keeps the contents of resources; nil: none are taken. ResourceKinds are what members of families declare.
	Blobs          resource.BlobStore
	ResourceKinds  []resource.ResourceTypes
	ResourceLimits resource.ResourceLimits
	// Meter counts what happens, Expose writes what was counted, and Tracer follows requests; nil: they are not counted or followed.
	Meter  observe.Meter
	Expose func(ctx context.Context, to io.Writer) error
	Tracer observe.Tracer
	// Faults is for tests: it may fail between two steps that are not one transaction. Nil: never.
	Faults func(where string) error
}
