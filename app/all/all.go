package all

import (
	"context"
	"io"
	"time"

	"muster/app"
	"muster/app/activity"
	"muster/app/bake"
	"muster/app/build"
	"muster/app/bulk"
	"muster/app/catalog"
	"muster/app/chat"
	"muster/app/cluster"
	"muster/app/dashboard"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/idempotency"
	"muster/app/identity"
	"muster/app/idle"
	"muster/app/image"
	"muster/app/label"
	"muster/app/layout"
	"muster/app/lease"
	"muster/app/lock"
	"muster/app/node"
	"muster/app/nodefile"
	"muster/app/notification"
	"muster/app/observe"
	"muster/app/operation"
	"muster/app/output"
	"muster/app/ownership"
	"muster/app/place"
	"muster/app/plan"
	"muster/app/plugin"
	"muster/app/policy"
	"muster/app/pool"
	"muster/app/port"
	"muster/app/providervalue"
	"muster/app/quarantine"
	"muster/app/resource"
	"muster/app/run"
	"muster/app/scaling"
	"muster/app/secret"
	"muster/app/settings"
	"muster/app/sharing"
	"muster/app/sshaccess"
	"muster/app/store"
	"muster/app/template"
	"muster/app/terminal"
	"muster/app/tunnel"
	"muster/app/upkeep"
	"muster/app/usage"
	"muster/app/volume"
	"muster/app/webhook"
	"muster/app/window"
)

// Services are those of all domains. They may be called from many goroutines.
type Services struct {
	Resource *resource.Service
	Catalog  *catalog.Service
	Secret   *secret.Service
	Identity struct {
		AuditLog  *identity.AuditLog
		Devices   *identity.Devices
		Groups    *identity.Groups
		Links     *identity.Links
		Passwords *identity.Passwords
		Factors   *identity.Factors
		Emails    *identity.Emails
		Sessions  *identity.Sessions
		StepUps   *identity.StepUps
		SignIns   *identity.SignIns
		Tokens    *identity.Tokens
		Users     *identity.Users
		Tenants   *identity.Tenants
	}
	Webhook *webhook.Service
	Volume  *volume.Service
	Policy  struct {
		Policies *policy.Service
		Quotas   *policy.Quotas
	}
	Cluster struct {
		Finder    *cluster.Finder
		Masks     *cluster.Masks
		Plans     *cluster.Plans
		Preflight *cluster.Preflight
		Views     *cluster.Views
		Specs     *cluster.Specs
		Creates   *cluster.Creates
		Trials    *cluster.Trials
		Activity  *activity.Service
		Feed      *activity.Feed
		Sharing   *sharing.Service
		Locks     *lock.Service
		Deletes   *cluster.Deletes
		Dashboard *dashboard.Service
	}
	Lease struct {
		Leases        *lease.Service
		Warnings      *lease.Warnings
		PausedDeletes *lease.PausedDeletes
	}
	Operation struct {
		Finder    *operation.Finder
		Builder   *operation.Builder
		Submitter *operation.Submitter
		Updates   *operation.Updates
		Sleeping  *operation.Sleeping
		Schedules *operation.Schedules
		Controls  *operation.Controls
		Partials  *operation.Partials
		RollBacks *operation.RollBacks
		Requests  *operation.Requests
		Drifts    *operation.Drifts
		Backfills *operation.Backfills
	}
	Bulk         *bulk.Service
	Place        *place.Service
	Label        *label.Service
	Idle         *idle.Service
	Scaling      *scaling.Service
	Outputs      *output.Service
	Node         *node.Service
	Window       *window.Service
	Notification *notification.Service
	Plugin       *plugin.Service
	Values       *providervalue.Service
	Ownership    *ownership.Service
	Repeats      *idempotency.Service
	SSHAccess    *sshaccess.Service
	Run          *run.Service
	Tunnel       *tunnel.Service
	Terminal     *terminal.Service
	NodeFiles    *nodefile.Service
	// NodeAccess signs in to nodes for people.
	NodeAccess *sshaccess.Nodes
	Port       *port.Service
	Usage      *usage.Service
	Execution  struct {
		Coordinator *execution.Service
		Facts       *execution.Facts
		Health      *execution.Health
		ManualSteps *execution.ManualSteps
		Waits       *execution.Waits
	}
	Fleet struct {
		Installation *fleet.Installation
		Machines     *fleet.Machines
		Provisioners *fleet.Provisioners
		Registries   *fleet.Registries
	}
	Pool struct {
		Pools      *pool.Service
		Reconciler *pool.Reconciler
	}
	Image struct {
		Finder     *image.Finder
		Images     *image.Service
		Reconciler *image.Reconciler
	}
	Quarantine struct {
		Drafts   *quarantine.Drafts
		Machines *quarantine.Machines
	}
	Build struct {
		Hooks      *build.Hooks
		Builds     *build.Builds
		Access     *build.Access
		Intake     *build.Intake
		Reconciler *build.Reconciler
	}
	Chat struct {
		Cards      *chat.Cards
		Messages   *chat.Messages
		Homes      *chat.Homes
		Reviews    *chat.Reviews
		Workspaces *chat.Workspaces
		Tokens     *chat.Tokens
		Channels   *chat.Channels
		Links      *chat.Links
	}
	Settings *settings.Service
	Upkeep   *upkeep.Service
}

// New returns the services on top of what they need.
func New(c Config) *Services {
	s := &Services{}
	s.Resource = resource.New(resource.Config{
		Store: c.Store, Contents: c.Store, Faults: c.Faults, Now: c.Now, Blobs: c.Blobs, ResourceKinds: c.ResourceKinds, ResourceLimits: c.ResourceLimits})
	s.Catalog = catalog.New(catalog.Config{Own: c.Store, Versions: c.Store, Uses: c.Store, Catalog: c.Catalog, Currency: c.Currency, Now: c.Now,
		SharesHost: c.SharesHost, RemovedType: c.RemovedType, Solver: c.Solver, TenantHostAccess: c.TenantHostAccess, Reader: c.Reader})
	s.Secret = secret.New(secret.Config{Store: c.Store, Now: c.Now, Catalogs: s.Catalog})
	addIdentity(s, c)
	s.Webhook = webhook.New(webhook.Config{Store: c.Store, CheckScript: c.CheckScript, Now: c.Now, HookGuard: c.HookGuard})
	s.Policy.Policies = policy.New(policy.Config{Store: c.Store, Now: c.Now, Policies: c.Policies, Webhooks: c.RequestHooks})
	s.Policy.Quotas = policy.NewQuotas(policy.QuotasConfig{Store: c.Store, Now: c.Now})
	solving, workerKeys := &layout.SolveLimit{}, &identity.WorkerKeys{}
	addCluster(s, c, solving)
	s.Label = label.New(label.Config{Store: c.Store, Now: c.Now, Clusters: s.Cluster.Finder, Rules: labelRules(s.Catalog)})
	addOperation(s, c, solving, workerKeys)
	s.Idle = idle.New(idle.Config{Store: c.Store, Now: c.Now, Catalogs: s.Catalog, Clusters: s.Cluster.Finder, Deletes: s.Cluster.Deletes,
		Sleeping: s.Operation.Sleeping})
	s.Scaling = scaling.New(scaling.Config{Store: c.Store, Now: c.Now, Clusters: s.Cluster.Finder, Updates: s.Operation.Updates, Prometheus: c.Prometheus,
		Guard: c.HookGuard})
	s.Place = place.New(place.Config{Store: c.Store, Requested: c.Store, Now: c.Now, Catalogs: s.Catalog,
		Creates: s.Cluster.Creates, Preflight: s.Cluster.Preflight,
		Clusters: s.Cluster.Finder, Views: s.Cluster.Views, Masks: s.Cluster.Masks, Requests: s.Operation.Requests, RollBacks: s.Operation.RollBacks})
	s.Bulk = bulk.New(bulk.Config{Now: c.Now, Clusters: s.Cluster.Views, Leases: s.Lease.Leases, Sleeping: s.Operation.Sleeping, Deletes: s.Cluster.Deletes,
		Requests: s.Operation.Requests})
	s.Usage = usage.New(usage.Config{Store: c.Store, Now: c.Now, Catalogs: s.Catalog, Clusters: s.Cluster.Finder, LeaseWarnings: s.Lease.Warnings})
	addExecution(s, c)
	addFleet(s, c, workerKeys)
	s.Pool.Pools = pool.New(pool.Config{Store: c.Store, Now: c.Now, Catalogs: s.Catalog, Preflight: s.Cluster.Preflight})
	s.Pool.Reconciler = pool.NewReconciler(pool.ReconcilerConfig{
		Store: c.Store, Now: c.Now, Keys: c.Keys, Catalog: c.Catalog, Plans: s.Cluster.Plans, Pools: s.Pool.Pools})
	s.Image.Images = image.New(image.Config{Store: c.Store, Now: c.Now, Finder: s.Image.Finder, Catalogs: s.Catalog, Creates: s.Cluster.Creates})
	s.Image.Reconciler = image.NewReconciler(image.ReconcilerConfig{
		Store: c.Store, Now: c.Now, Finder: s.Image.Finder, Catalogs: s.Catalog, Plans: s.Cluster.Plans, Keys: c.Keys})
	addBuild(s, c)
	s.Port = port.New(port.Config{Store: c.Store, Now: c.Now, Nodes: s.NodeAccess, Sessions: s.Identity.Sessions, Tenants: s.Identity.Tenants,
		Key: func(ctx context.Context) ([]byte, error) { return workerKeys.Get(ctx, c.Store) }})
	addChat(s, c)
	s.Settings = settings.New(settings.Config{Store: c.Store, Tenants: c.Store, People: c.Store, Rules: c.Store, Integrations: c.Store, Entries: c.Store,
		Faults: c.Faults, Now: c.Now, TenantFiles: c.TenantFiles,
		Catalogs: s.Catalog, Secrets: s.Secret, Users: s.Identity.Users, Hooks: s.Webhook, Policies: s.Policy.Policies, Pools: s.Pool.Pools,
		BuildHooks: s.Build.Hooks, Idle: s.Idle, Windows: s.Window})
	s.Upkeep = upkeep.New(upkeep.Config{
		Store: c.Store, Now: c.Now, Deletes: s.Cluster.Deletes, Idle: s.Idle,
		Schedules: s.Operation.Schedules, PausedDeletes: s.Lease.PausedDeletes,
		Requests: s.Operation.Requests, Backfills: s.Operation.Backfills, Usages: s.Usage, Pools: s.Pool.Reconciler,
		Images: s.Image.Reconciler, Terminals: s.Terminal, Sharing: s.Cluster.Sharing, Runs: s.Run})
	return s
}

// addIdentity adds the services of a domain, as those below do, to services of domains that it needs.
func addIdentity(s *Services, c Config) {
	s.Identity.AuditLog = identity.NewAuditLog(identity.AuditLogConfig{Store: c.Store, Now: c.Now})
	s.Identity.Devices = identity.NewDevices(identity.DevicesConfig{Store: c.Store, Now: c.Now})
	s.Identity.Groups = identity.NewGroups(identity.GroupsConfig{Store: c.Store, Now: c.Now})
	s.Identity.Links = identity.NewLinks(identity.LinksConfig{Store: c.Store, Now: c.Now})
	s.Identity.Passwords = identity.NewPasswords(identity.PasswordsConfig{Store: c.Store, Now: c.Now})
	s.Identity.Factors = identity.NewFactors(identity.FactorsConfig{Store: c.Store, Now: c.Now, AuditLog: s.Identity.AuditLog, Passwords: s.Identity.Passwords})
	s.Identity.Emails = identity.NewEmails(identity.EmailsConfig{Store: c.Store, Now: c.Now})
	s.Identity.Sessions = identity.NewSessions(identity.SessionsConfig{Store: c.Store, Now: c.Now})
	s.Identity.StepUps = identity.NewStepUps(identity.StepUpsConfig{Store: c.Store, Now: c.Now, Factors: s.Identity.Factors, Passwords: s.Identity.Passwords})
	s.Identity.SignIns = identity.NewSignIns(identity.SignInsConfig{
		Store: c.Store, Now: c.Now, AuditLog: s.Identity.AuditLog, Factors: s.Identity.Factors, Sessions: s.Identity.Sessions})
	s.Identity.Tokens = identity.NewTokens(identity.TokensConfig{Store: c.Store, Now: c.Now})
	s.Identity.Users = identity.NewUsers(identity.UsersConfig{Store: c.Store, Now: c.Now})
	s.Identity.Tenants = identity.NewTenants(identity.TenantsConfig{Store: c.Store, Now: c.Now, Catalogs: s.Catalog, Users: s.Identity.Users})
}

func addCluster(s *Services, c Config, solving *layout.SolveLimit) {
	s.Cluster.Finder = cluster.NewFinder(cluster.FinderConfig{Store: c.Store, Now: c.Now, Catalogs: s.Catalog})
	s.Values = providervalue.New(providervalue.Config{Store: c.Store, Now: c.Now, Catalogs: s.Catalog, Clusters: s.Cluster.Finder,
		CheckSpec: c.CheckProvider, Resolve: s.Secret.SecretsOf, List: c.ListAccount, Resource: s.Resource.ProviderText})
	s.Cluster.Masks = cluster.NewMasks(cluster.MasksConfig{Store: c.Store, Catalogs: s.Catalog, Clusters: s.Cluster.Finder})
	s.Cluster.Plans = cluster.NewPlans(cluster.PlansConfig{Store: c.Store, Planner: c.Planner, Now: c.Now, Catalogs: s.Catalog})
	s.Cluster.Preflight = cluster.NewPreflight(cluster.PreflightConfig{
		Store: c.Store, Now: c.Now, Accounts: c.Accounts, CheckScript: c.CheckScript, Provisioned: c.Provisioned, Catalogs: s.Catalog,
		Secrets: s.Secret, Values: s.Values})
	s.Plugin = plugin.New(plugin.Config{Store: c.Store, Now: c.Now, Programs: c.Programs})
	s.Window = window.New(window.Config{Store: c.Store, Now: c.Now, Clusters: s.Cluster.Finder})
	s.Cluster.Views = cluster.NewViews(cluster.ViewsConfig{
		Store: c.Store, Now: c.Now, Catalogs: s.Catalog, Finder: s.Cluster.Finder, Masks: s.Cluster.Masks, Windows: s.Window})
	s.Cluster.Specs = cluster.NewSpecs(cluster.SpecsConfig{Store: c.Store, Catalogs: s.Catalog, Clusters: s.Cluster.Finder})
	s.Image.Finder = image.NewFinder(image.FinderConfig{Store: c.Store, Inputs: c.Inputs, Bakes: c.Bakes})
	s.Cluster.Creates = cluster.NewCreates(cluster.CreatesConfig{
		Store: c.Store, Solver: c.Solver, Now: c.Now, Keys: c.Keys, Explainer: c.Explainer, Firewalls: c.Firewalls, Sleeps: c.Sleeps, Volumes: c.Volumes,
		Resources: s.Resource,
		Catalogs:  s.Catalog, Policies: s.Policy.Policies, Solving: solving, Clusters: s.Cluster.Finder, Plans: s.Cluster.Plans,
		Preflight: s.Cluster.Preflight, Views: s.Cluster.Views, Specs: s.Cluster.Specs, Values: s.Values, Images: s.Image.Finder})
	s.Cluster.Trials = cluster.NewTrials(cluster.TrialsConfig{Catalogs: s.Catalog, Preflight: s.Cluster.Preflight, Creates: s.Cluster.Creates})
	s.Cluster.Activity = activity.New(activity.Config{Store: c.Store, Now: c.Now, Clusters: s.Cluster.Finder, Masks: s.Cluster.Masks})
	s.Cluster.Sharing = sharing.New(sharing.Config{Store: c.Store, Now: c.Now, Clusters: s.Cluster.Finder})
	s.Cluster.Locks = lock.New(lock.Config{Store: c.Store, Now: c.Now, Clusters: s.Cluster.Finder})
	s.Cluster.Feed = activity.NewFeed(activity.FeedConfig{Store: c.Store, Clusters: s.Cluster.Finder})
	s.Ownership = ownership.New(ownership.Config{Store: c.Store, Now: c.Now, Clusters: s.Cluster.Finder, Views: s.Cluster.Views})
	s.Cluster.Deletes = cluster.NewDeletes(cluster.DeletesConfig{
		Store: c.Store, Now: c.Now, Clusters: s.Cluster.Finder, Plans: s.Cluster.Plans, Views: s.Cluster.Views})
	s.Cluster.Dashboard = dashboard.New(dashboard.Config{Store: c.Store, Now: c.Now, Catalogs: s.Catalog, Masks: s.Cluster.Masks})
	s.Notification = notification.New(notification.Config{Store: c.Store, Now: c.Now, Masks: s.Cluster.Masks})
	s.Volume = volume.New(volume.Config{Store: c.Store, SnapshotStore: c.Store, MakesSnapshots: c.Volumes.Snapshots, Now: c.Now,
		Catalogs: s.Catalog, Clusters: s.Cluster.Finder, Locks: s.Cluster.Locks})
	s.Repeats = idempotency.New(idempotency.Config{Store: c.Store, Now: c.Now, Clusters: s.Cluster.Finder})
	s.Quarantine.Drafts = quarantine.NewDrafts(quarantine.DraftsConfig{Store: c.Store, Now: c.Now, Keys: c.Keys, Plans: s.Cluster.Plans})
	s.Quarantine.Machines = quarantine.NewMachines(quarantine.MachinesConfig{
		Store: c.Store, Catalogs: s.Catalog, Clusters: s.Cluster.Finder, Firewalls: c.Firewalls})
	s.Node = node.New(node.Config{Store: c.Store, Clusters: s.Cluster.Finder})
	s.Outputs = output.New(output.Config{Store: c.Store, Now: c.Now, Clusters: s.Cluster.Finder})
	s.SSHAccess = sshaccess.New(sshaccess.Config{Store: c.Store, Now: c.Now, Keys: c.Keys, Clusters: s.Cluster.Finder})
	s.Tunnel = tunnel.New(tunnel.Config{Store: c.Store, Now: c.Now})
	s.NodeAccess = sshaccess.NewNodes(sshaccess.NodesConfig{Store: c.Store, Now: c.Now, Keys: c.Keys, Clusters: s.Cluster.Finder, Catalogs: s.Catalog,
		OwnAccount: s.Values.HasOwnAccount, Tunnels: s.Tunnel, SignIn: c.Connect})
	s.NodeFiles = nodefile.New(nodefile.Config{Store: c.Store, Now: c.Now, Nodes: s.NodeAccess})
	s.Terminal = terminal.New(terminal.Config{Store: c.Store, Recordings: c.Store, Now: c.Now, Clusters: s.Cluster.Finder, Nodes: s.NodeAccess})
}

func addOperation(s *Services, c Config, solving *layout.SolveLimit, workerKeys *identity.WorkerKeys) {
	s.Operation.Finder = operation.NewFinder(operation.FinderConfig{Store: c.Store, Clusters: s.Cluster.Finder})
	s.Operation.Builder = operation.NewBuilder(operation.BuilderConfig{
		Store: c.Store, Changer: c.Changer, DryRuns: c.DryRuns, Sleeps: c.Sleeps, Volumes: c.Volumes, Resources: s.Resource, Catalogs: s.Catalog,
		Plans: s.Cluster.Plans, Preflight: s.Cluster.Preflight, Views: s.Cluster.Views, Keeping: s.Quarantine.Drafts,
		Images: s.Image.Finder, OwnAccount: s.Values.HasOwnAccount})
	s.Operation.Submitter = operation.NewSubmitter(operation.SubmitterConfig{
		Store: c.Store, Now: c.Now, Keys: c.Keys, Policies: s.Policy.Policies, Views: s.Cluster.Views, Windows: s.Window, Keeping: s.Quarantine.Drafts})
	s.Operation.Updates = operation.NewUpdates(operation.UpdatesConfig{
		Clusters: s.Cluster.Finder, Plans: s.Cluster.Plans, Preflight: s.Cluster.Preflight, Solving: solving, Builder: s.Operation.Builder,
		Submitter: s.Operation.Submitter})
	s.Run = run.New(run.Config{Store: c.Store, Schedules: c.Store, Now: c.Now, Clusters: s.Cluster.Finder, Updates: s.Operation.Updates})
	s.Operation.Sleeping = operation.NewSleeping(operation.SleepingConfig{
		Clusters: s.Cluster.Finder, Builder: s.Operation.Builder, Submitter: s.Operation.Submitter})
	s.Operation.Schedules = operation.NewSchedules(operation.SchedulesConfig{
		Store: c.Store, Now: c.Now, Policies: s.Policy.Policies, Clusters: s.Cluster.Finder, Builder: s.Operation.Builder,
		Submitter: s.Operation.Submitter, Sleeping: s.Operation.Sleeping})
	s.Lease.PausedDeletes = lease.NewPausedDeletes(lease.PausedDeletesConfig{Store: c.Store, Now: c.Now, LeaseGrace: c.LeaseGrace})
	s.Lease.Leases = lease.New(lease.Config{
		Store: c.Store, Now: c.Now, Catalogs: s.Catalog, WorkerKeys: workerKeys, Clusters: s.Cluster.Finder,
		Preflight: s.Cluster.Preflight, PausedDeletes: s.Lease.PausedDeletes})
	s.Lease.Warnings = lease.NewWarnings(lease.WarningsConfig{Store: c.Store, Now: c.Now, Leases: s.Lease.Leases})
	s.Operation.Controls = operation.NewControls(operation.ControlsConfig{Store: c.Store, Now: c.Now, Views: s.Cluster.Views, Operations: s.Operation.Finder})
	s.Operation.Partials = operation.NewPartials(operation.PartialsConfig{
		Store: c.Store, Now: c.Now, Catalogs: s.Catalog, Masks: s.Cluster.Masks, Plans: s.Cluster.Plans, Views: s.Cluster.Views,
		Operations: s.Operation.Finder, Builder: s.Operation.Builder, Keeping: s.Quarantine.Drafts})
	s.Operation.RollBacks = operation.NewRollBacks(operation.RollBacksConfig{
		Store: c.Store, Now: c.Now, Plans: s.Cluster.Plans, Views: s.Cluster.Views, Operations: s.Operation.Finder, Partials: s.Operation.Partials,
		Keeping: s.Quarantine.Drafts})
	s.Operation.Requests = operation.NewRequests(operation.RequestsConfig{
		Store: c.Store, Now: c.Now, Catalogs: s.Catalog, Policies: s.Policy.Policies, Clusters: s.Cluster.Finder, Masks: s.Cluster.Masks,
		Plans: s.Cluster.Plans, Preflight: s.Cluster.Preflight, Creates: s.Cluster.Creates, Builder: s.Operation.Builder, Submitter: s.Operation.Submitter,
		Windows: s.Window})
	s.Operation.Drifts = operation.NewDrifts(operation.DriftsConfig{
		Store: c.Store, Now: c.Now, DryRuns: c.DryRuns, Clusters: s.Cluster.Finder, Views: s.Cluster.Views, Updates: s.Operation.Updates})
	s.Operation.Backfills = operation.NewBackfills(operation.BackfillsConfig{
		Store: c.Store, Now: c.Now, Clusters: s.Cluster.Finder, Views: s.Cluster.Views, Updates: s.Operation.Updates})
}

func addExecution(s *Services, c Config) {
	s.Execution.Facts = execution.NewFacts(execution.FactsConfig{Store: c.Store, Clusters: s.Cluster.Finder})
	s.Execution.ManualSteps = execution.NewManualSteps(execution.ManualStepsConfig{Store: c.Store, Now: c.Now, Clusters: s.Cluster.Finder})
	s.Execution.Health = execution.NewHealth(execution.HealthConfig{
		Store: c.Store, Now: c.Now, Clusters: s.Cluster.Finder, Masks: s.Cluster.Masks, Views: s.Cluster.Views, Updates: s.Operation.Updates})
	s.Execution.Waits = execution.NewWaits(execution.WaitsConfig{Store: c.Store, Now: c.Now, Provisioned: c.Provisioned, Tries: c.Tries, Workers: c.Workers,
		Budgets: c.Budgets, Catalogs: s.Catalog, Clusters: s.Cluster.Finder, Masks: s.Cluster.Masks,
		Preflight: s.Cluster.Preflight, Operations: s.Operation.Finder, PausedDeletes: s.Lease.PausedDeletes})
	s.Execution.Coordinator = execution.New(execution.Config{Steps: c.Store, Rounds: c.Store, Inputs: c.Store, Volumes: c.Store, VolumesFirst: c.Volumes.First, Now: c.Now,
		Meter:     c.Meter,
		Resources: s.Resource, Catalogs: s.Catalog, Secrets: s.Secret, Values: s.Values,
		DryRuns: c.DryRuns, Facts: s.Execution.Facts, ManualSteps: s.Execution.ManualSteps,
		Keeping: s.Quarantine.Drafts})
}

func addFleet(s *Services, c Config, workerKeys *identity.WorkerKeys) {
	s.Fleet.Installation = fleet.NewInstallation(fleet.InstallationConfig{Store: c.Store, Now: c.Now, Accounts: c.Accounts, Catalog: c.Catalog,
		Expose: c.Expose, Facts: c.Facts, Calls: c.Calls, RateOf: c.RateOf, Catalogs: s.Catalog, Secrets: s.Secret})
	s.Fleet.Machines = fleet.NewMachines(fleet.MachinesConfig{Store: c.Store, Now: c.Now, Catalogs: s.Catalog, Clusters: s.Cluster.Finder})
	s.Fleet.Provisioners = fleet.NewProvisioners(fleet.ProvisionersConfig{Store: c.Store, Now: c.Now})
	s.Fleet.Registries = fleet.NewRegistries(fleet.RegistriesConfig{Store: c.Store, Now: c.Now, WorkerKeys: workerKeys, Executions: s.Execution.Coordinator,
		Tunnels: s.Tunnel})
}

func addBuild(s *Services, c Config) {
	s.Build.Hooks = build.NewHooks(build.HooksConfig{
		Store: c.Store, Now: c.Now, Systems: c.Builds, BuildRules: c.BuildRules, Catalogs: s.Catalog, Webhooks: s.Webhook})
	s.Build.Builds = build.NewBuilds(build.BuildsConfig{Store: c.Store, Now: c.Now, Clusters: s.Cluster.Finder, Leases: s.Lease.Leases})
	s.Build.Access = build.NewAccess(build.AccessConfig{
		Store: c.Store, Now: c.Now, Views: s.Cluster.Views, Access: s.SSHAccess, Builds: s.Build.Builds, Hooks: s.Build.Hooks})
	s.Build.Intake = build.NewIntake(build.IntakeConfig{Store: c.Store, Now: c.Now, Systems: c.Builds, BuildRules: c.BuildRules,
		Creates: s.Cluster.Creates, Webhooks: s.Webhook, Builds: s.Build.Builds, Hooks: s.Build.Hooks})
	s.Build.Reconciler = build.NewReconciler(build.ReconcilerConfig{
		Store: c.Store, Now: c.Now, Faults: c.Faults, Creates: s.Cluster.Creates, Deletes: s.Cluster.Deletes, Hooks: s.Build.Hooks})
}

func addChat(s *Services, c Config) {
	s.Chat.Cards = chat.NewCards(chat.CardsConfig{Store: c.Store, Runs: c.Store, Now: c.Now, Catalogs: s.Catalog, Masks: s.Cluster.Masks})
	s.Chat.Messages = chat.NewMessages(chat.MessagesConfig{Store: c.Store, Now: c.Now})
	s.Chat.Homes = chat.NewHomes(chat.HomesConfig{Store: c.Store, Now: c.Now})
	s.Chat.Reviews = chat.NewReviews(chat.ReviewsConfig{Store: c.Store, Now: c.Now})
	s.Chat.Workspaces = chat.NewWorkspaces(chat.WorkspacesConfig{Store: c.Store, Now: c.Now})
	s.Chat.Tokens = chat.NewTokens(chat.TokensConfig{Store: c.Store, Now: c.Now})
	s.Chat.Channels = chat.NewChannels(chat.ChannelsConfig{Store: c.Store, Now: c.Now})
	s.Chat.Links = chat.NewLinks(chat.LinksConfig{Store: c.Store, Now: c.Now, Channels: s.Chat.Channels})
}

// Config is what the services need from outside. What may be nil says so.
type Config struct {
	Store *store.Store
	Now   func() time.Time
	Keys  app.Keys
	// Connect signs in to nodes for people.
	Connect family.Connector
	// Faults is for tests: it may fail between two steps that are not one transaction. Nil: never.
	Faults func(where string) error

	// What is decided elsewhere.
	Solver       layout.Solver
	Explainer    layout.Explainer // nil: refusals are not explained further
	Changer      layout.Changer   // nil: no cluster can be updated
	Planner      plan.Planner
	RequestHooks policy.Webhooks // asks tenants' webhooks about requests; nil: there are none
	Policies     policy.Engine   // nil: a tenant with policies gets everything refused

	// Catalog returns the installation's catalog as it is published now. What a tenant sees is that with its own entries over it; see
	// CatalogOf in app/catalog.
	Catalog func() *template.Catalog
	// Currency is the installation's, by ISO 4217; "" is template.DefaultCurrency.
	Currency string
	// Reader understands what tenants lay over it; nil: they cannot.
	Reader catalog.Reader
	// TenantHostAccess lets admins of tenants run what they wrote on machines that are on Muster's own hosts.
	TenantHostAccess bool
	// SharesHost says why machines of a provider would be processes of this host, with the rights of the server's user; "" where they are
	// not, or where only the host that makes them can tell. Nil: none are.
	SharesHost func(ctx context.Context, spec template.ProviderSpec) string

	// What providers and automators can do. Programs finds the programs of plugins; nil: there are none.
	// RemovedType says why a type of provider isn't used any more; nil: none was removed.
	Programs    func() ([]plugin.Program, error)
	RemovedType func(typ string) error
	Accounts    cluster.Accounts                          // asks accounts what they would do; nil: they cannot be asked
	Sleeps      func(kind string) bool                    // machines of a type of provider can be stopped and kept; nil: not known, the steps will tell
	Bakes       func(kind string) bool                    // images can be made of machines of a type of provider; nil: of none
	Inputs      bake.Inputs                               // what installs see of a configuration; nil: nothing is baked
	Firewalls   func(kind string) bool                    // a type of provider makes firewalls for clusters; nil: not known, and no one is warned
	DryRuns     func(automator string) bool               // an automator can say what it would change; nil: none can
	CheckScript func(script string) *template.ScriptFault // what keeps a shell from reading a script, nil for nothing; nil: scripts are not read before they run
	LeaseGrace  time.Duration                             // for how long a deletion may stay paused after the cluster's lease has ended; 0: DefaultLeaseGrace

	// CheckProvider holds an account to what its type wants; nil: only what is declared is checked. ListAccount lists the machines of an account
	// that carry tags; nil: credentials that users replace aren't tried.
	CheckProvider func(spec template.ProviderSpec) error
	ListAccount   func(ctx context.Context, spec template.ProviderSpec, tags map[string]string) ([]family.Machine, error)

	// How steps are carried out, and what people are notified of why one waits; nil: not known, or for Workers what the provisioners say.
	Provisioned bool // by provisioners, which register; what none of them can take is refused
	Workers     execution.Workforce
	Budgets     execution.Budgets
	Tries       func(app.Code) int // how often a step is tried whose attempts fail with a code; 0: not known

	// What operators look at: how the server is set up, what calls went to accounts, and how many they take; nil: not known.
	Facts  func(context.Context) (fleet.ServerInfo, error)
	Calls  fleet.CallBook
	RateOf func(template.ProviderSpec) template.Rate

	// Builds understands what build systems send, BuildRules the rules about it; nil: nothing is taken from them.
	Builds     build.Systems
	BuildRules build.RuleEngine
	Prometheus scaling.Prometheus // answers queries of scaling rules; nil: none is asked
	HookGuard  webhook.Guard      // where hooks may lead; nil: anywhere over https
	// TenantFiles reads and writes what a tenant's settings are kept in; nil: they are neither exported nor imported.
	TenantFiles settings.TenantFiles

	// Blobs keeps the contents of resources; nil: none are taken. ResourceKinds are what members of families declare.
	Blobs          resource.BlobStore
	ResourceKinds  []resource.Types
	ResourceLimits resource.Limits

	// Meter counts what happens, and Expose writes what was counted; nil: it isn't counted.
	Meter  observe.Meter
	Expose func(ctx context.Context, to io.Writer) error

	// What a type of provider makes of volumes; where it isn't known, the steps and the reconciler will tell.
	Volumes volume.Kinds
}
