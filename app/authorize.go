package app

import (
	"fmt"
	"slices"

	"muster/app/humanize"
)

// Scope narrows what an API token may do. A use case has one; every token may read.
type Scope string

// The scopes.
const (
	ScopeRead    Scope = "read"    // look at what the user may see
	ScopeCluster Scope = "cluster" // ask for clusters and change them
	ScopeApprove Scope = "approve" // decide on what others ask for
	ScopeAdmin   Scope = "admin"   // manage the tenant or installation
	ScopeTokens  Scope = "tokens"  // make and revoke API tokens; never given to a token, so that one which leaked makes no other
	ScopeAccount Scope = "account" // the user's own account: password, sessions, tokens; never given to a token
)

// TokenScopes are those that a token can have.
var TokenScopes = []Scope{ScopeRead, ScopeCluster, ScopeApprove, ScopeAdmin}

// reach is how far a role gets with a use case.
type reach byte

const (
	No  reach = iota
	Own       // what belongs to the actor; of clusters also those it is co-owner of
	use       // clusters that it may use
	see       // clusters that it may see, and what belongs to them
	All       // everything of the tenant in which it acts; of use cases about the installation: that
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
	Scope Scope `json:"-"`
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
	proofPartly proof = "partly" // where it comes to that: the use case asks with MustStepUp
)

// PermissionTable is the one authorisation table. Each exported method of a service that takes an Actor has its line, under its own
// name, and asks it before anything else; a test walks all of them with every role. Each line says whether a proof is needed, too: always for
// what makes, shows or replaces what opens doors, and for what cannot be undone.
var PermissionTable = map[string]permission{
	// Looking                              super admin appr user view robot
	"Catalog":              {ScopeRead, All, All, All, All, All, All, proofNever},
	"Template":             {ScopeRead, All, All, All, All, All, All, proofNever},
	"TemplateVersions":     {ScopeRead, All, All, All, All, All, All, proofNever},
	"TemplateChanges":      {ScopeRead, All, All, All, All, All, All, proofNever},
	"TemplatePrices":       {ScopeRead, All, All, All, All, All, All, proofNever},
	"Home":                 {ScopeRead, Own, Own, Own, Own, Own, Own, proofNever},
	"Preview":              {ScopeRead, All, All, All, All, All, All, proofNever},
	"Explain":              {ScopeRead, All, All, All, All, All, All, proofNever},
	"Cluster":              {ScopeRead, All, All, see, see, see, see, proofNever},
	"Clusters":             {ScopeRead, All, All, see, see, see, see, proofNever},
	"ClusterPage":          {ScopeRead, All, All, see, see, see, see, proofNever},
	"ClusterCounts":        {ScopeRead, All, All, see, see, see, see, proofNever},
	"Nodes":                {ScopeRead, All, All, see, see, see, see, proofNever},
	"Steps":                {ScopeRead, All, All, see, see, see, see, proofNever},
	"Events":               {ScopeRead, All, All, see, see, see, see, proofNever},
	"Logs":                 {ScopeRead, All, All, see, see, see, see, proofNever},
	"SearchLogs":           {ScopeRead, All, All, see, see, see, see, proofNever},
	"StepGraph":            {ScopeRead, All, All, see, see, see, see, proofNever},
	"Watch":                {ScopeRead, All, All, see, see, see, see, proofNever},
	"ClusterFacts":         {ScopeRead, All, All, see, use, use, use, proofNever},
	"NodeReports":          {ScopeRead, All, All, see, see, see, see, proofNever},
	"Actions":              {ScopeRead, All, All, see, use, use, use, proofNever},
	"ActionSchedules":      {ScopeRead, All, All, see, use, use, use, proofNever},
	"Run":                  {ScopeRead, All, All, see, use, use, use, proofNever}, // a command, whose text may tell of more than its output
	"Places":               {ScopeRead, All, All, see, see, see, see, proofNever},
	"PreviewRollBack":      {ScopeRead, All, All, see, see, see, see, proofNever},
	"PreviewAcceptPartial": {ScopeRead, All, All, see, see, see, see, proofNever},
	"KeptMachines":         {ScopeRead, All, All, see, see, see, see, proofNever},
	"PreviewSleep":         {ScopeRead, All, All, see, see, see, see, proofNever},
	"PreviewWake":          {ScopeRead, All, All, see, see, see, see, proofNever},
	"Activity":             {ScopeRead, All, All, see, see, see, see, proofNever},
	"PreviewBulk":          {ScopeRead, All, All, see, see, see, see, proofNever}, // and what the single use cases say of each cluster
	"Schedule":             {ScopeRead, All, All, see, see, see, see, proofNever},
	"ClusterIdle":          {ScopeRead, All, All, see, see, see, see, proofNever},
	"ClusterScaling":       {ScopeRead, All, All, see, see, see, see, proofNever},
	"ClusterOutputs":       {ScopeRead, All, All, see, see, see, see, proofNever},
	"IdleWarnings":         {ScopeRead, All, All, see, see, see, see, proofNever},
	"PreviewClone":         {ScopeRead, All, All, use, use, use, use, proofNever},
	"ExportCluster":        {ScopeRead, All, All, use, use, use, use, proofNever},
	"DiffClusters":         {ScopeRead, All, All, use, use, use, use, proofNever},
	"Receipt":              {ScopeRead, All, All, see, see, see, see, proofNever},
	"Waiting":              {ScopeRead, All, All, see, see, see, see, proofNever},
	"Health":               {ScopeRead, All, All, see, see, see, see, proofNever},
	"Drift":                {ScopeRead, All, All, see, use, use, use, proofNever}, // it shows values of the configuration
	"ClusterConfig":        {ScopeRead, All, All, see, use, use, use, proofNever},
	"PreviewUpdate":        {ScopeRead, All, All, see, use, use, use, proofNever}, // it shows values of the configuration

	// Clusters
	"CreateCluster":        {ScopeCluster, All, All, All, All, No, All, proofNever},
	"DeleteCluster":        {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"DeleteClusterWith":    {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"Update":               {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"UpdateServices":       {ScopeCluster, All, All, use, use, No, use, proofNever}, // of Update: to start, stop, restart and compare services
	"RunCommand":           {ScopeCluster, All, All, use, use, No, use, proofNever}, // of Update: a command on nodes, as SSH would
	"ClusterSharing":       {ScopeRead, All, All, Own, Own, Own, Own, proofNever},
	"Locks":                {ScopeRead, All, All, No, No, No, No, proofNever},
	"LockCluster":          {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"UnlockCluster":        {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"ShareCluster":         {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"ClusterKey":           {ScopeCluster, All, All, Own, Own, No, Own, proofAlways},
	"ClusterCertificate":   {ScopeCluster, All, All, use, use, No, use, proofNever},
	"RevealOutputs":        {ScopeCluster, All, All, use, use, No, use, proofNever},
	"SSHStream":            {ScopeCluster, All, All, use, use, No, use, proofNever},
	"CheckSSHStream":       {ScopeCluster, All, All, use, use, No, use, proofNever},
	"DialPort":             {ScopeCluster, All, All, use, use, No, use, proofNever},
	"OpenPort":             {ScopeCluster, All, All, use, use, No, use, proofNever},
	"OpenTerminal":         {ScopeCluster, All, All, use, use, No, use, proofPartly},
	"NodeFiles":            {ScopeCluster, All, All, use, use, No, use, proofPartly}, // as OpenTerminal
	"DownloadNodeFile":     {ScopeCluster, All, All, use, use, No, use, proofPartly},
	"UploadNodeFile":       {ScopeCluster, All, All, use, use, No, use, proofPartly},
	"Terminals":            {ScopeRead, All, All, use, use, use, use, proofNever},
	"Recording":            {ScopeRead, All, All, Own, Own, Own, Own, proofNever},
	"RecordedTerminal":     {ScopeRead, All, All, Own, Own, Own, Own, proofNever},
	"TerminalSettings":     {ScopeRead, All, All, All, All, All, All, proofNever},
	"EndTerminal":          {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"CancelOperation":      {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"PauseOperation":       {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"ResumeOperation":      {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"ResumeCluster":        {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"RetryNode":            {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"RollBack":             {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"AcceptPartial":        {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"SetBackfill":          {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"RenameCluster":        {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"LabelCluster":         {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"TransferCluster":      {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"SleepCluster":         {ScopeCluster, All, All, use, use, No, use, proofNever},
	"WakeCluster":          {ScopeCluster, All, All, use, use, No, use, proofNever},
	"RunBulk":              {ScopeCluster, All, All, use, use, No, use, proofNever}, // and what the single use cases say of each cluster
	"CheckHealth":          {ScopeCluster, All, All, use, use, No, use, proofNever},
	"SetSchedule":          {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"KeepCluster":          {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"SetClusterScaling":    {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"ResumeScaling":        {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"SetClusterIdle":       {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"CloneCluster":         {ScopeCluster, All, All, use, use, No, use, proofNever},
	"CreateActionSchedule": {ScopeCluster, All, All, use, use, No, use, proofNever},
	"PauseActionSchedule":  {ScopeCluster, All, All, use, use, No, use, proofNever}, // one's own; all for those who may Update
	"DeleteActionSchedule": {ScopeCluster, All, All, use, use, No, use, proofNever},

	// Volumes: of a cluster, and kept ones.
	"Volumes":        {ScopeRead, All, All, Own, Own, Own, Own, proofNever},
	"Volume":         {ScopeRead, All, All, Own, Own, Own, Own, proofNever},
	"ChooseVolumes":  {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"DeleteVolume":   {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"ExtendVolume":   {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"ForgetVolume":   {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"Snapshot":       {ScopeRead, All, All, Own, Own, Own, Own, proofNever},
	"Snapshots":      {ScopeRead, All, All, Own, Own, Own, Own, proofNever},
	"CreateSnapshot": {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"SetSnapshots":   {ScopeCluster, All, All, Own, Own, No, Own, proofNever}, // by schedule
	"DeleteSnapshot": {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"UseVolume":      {ScopeCluster, All, All, Own, Own, No, Own, proofNever}, // in a new cluster
	// Maintenance windows
	"MaintenanceWindows":    {ScopeRead, All, All, All, All, All, All, proofNever},
	"SetMaintenanceWindows": {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"ClusterMaintenance":    {ScopeRead, All, All, see, see, see, see, proofNever},
	"SetClusterMaintenance": {ScopeCluster, All, All, Own, Own, No, Own, proofNever},

	// What users set for the provider of a cluster
	"ClusterProviderValues":    {ScopeRead, All, All, use, use, use, use, proofNever},
	"SetClusterProviderValues": {ScopeCluster, All, All, Own, Own, No, Own, proofNever},

	// ManualSteps of steps that people carry out. Who may answer which is up to the question.
	"ManualSteps": {ScopeRead, All, All, see, see, see, see, proofNever},
	"AnswerStep":  {ScopeCluster, All, All, see, see, No, see, proofNever},

	// Requests. Who may review which request, or use the emergency override, is up to the policies that want approvals.
	"Requests":      {ScopeRead, All, All, see, see, see, see, proofNever},
	"Request":       {ScopeRead, All, All, see, see, see, see, proofNever},
	"Ask":           {ScopeCluster, All, All, All, All, No, All, proofNever},
	"SubmitRequest": {ScopeCluster, All, All, All, All, No, All, proofNever},
	"Confirm":       {ScopeCluster, All, All, All, All, No, All, proofNever},
	"Withdraw":      {ScopeCluster, All, All, All, All, No, All, proofNever},
	"Review":        {ScopeApprove, All, All, All, All, No, No, proofPartly},
	"RunNow":        {ScopeCluster, All, All, All, All, No, All, proofNever}, // before a maintenance window
	"BreakGlass":    {ScopeApprove, All, All, All, All, No, No, proofAlways},

	// Policies
	"PolicyList":    {ScopeRead, All, All, All, No, No, No, proofNever},
	"Policy":        {ScopeRead, All, All, All, No, No, No, proofNever},
	"PolicyZone":    {ScopeRead, All, All, All, No, No, No, proofNever},
	"SavePolicy":    {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"DeletePolicy":  {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"TryPolicy":     {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"SetPolicyZone": {ScopeAdmin, All, All, No, No, No, No, proofNever},

	// The tenant's own catalog
	"CatalogItems":    {ScopeRead, All, All, No, No, No, No, proofNever},
	"CatalogSource":   {ScopeRead, All, All, No, No, No, No, proofNever},
	"CatalogHistory":  {ScopeRead, All, All, No, No, No, No, proofNever},
	"CatalogFamilies": {ScopeRead, All, All, No, No, No, No, proofNever},
	"ExportCatalog":   {ScopeRead, All, All, No, No, No, No, proofNever},
	"CheckProvider":   {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"ProviderOffers":  {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"CheckCatalog":    {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"TryCatalog":      {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"ExplainCatalog":  {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"ApplyCatalog":    {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"RevertCatalog":   {ScopeAdmin, All, All, No, No, No, No, proofNever},

	// Who sees the tenant's new clusters
	"DefaultVisibility":    {ScopeRead, All, All, All, All, All, All, proofNever},
	"SetDefaultVisibility": {ScopeAdmin, All, All, No, No, No, No, proofNever},

	// What happens to the tenant's clusters that no one uses
	"IdlePolicy":          {ScopeRead, All, All, All, All, All, All, proofNever},
	"SetTerminalSettings": {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"SetIdlePolicy":       {ScopeAdmin, All, All, No, No, No, No, proofNever},

	// The tenant
	"Queue":        {ScopeRead, All, All, No, No, No, No, proofNever},
	"Queues":       {ScopeRead, All, No, No, No, No, No, proofNever},
	"Orphans":      {ScopeRead, All, All, No, No, No, No, proofNever},
	"DecideOrphan": {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"Secrets":      {ScopeRead, All, All, No, No, No, No, proofNever},
	"SetSecret":    {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"DeleteSecret": {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"Audit":        {ScopeRead, All, All, No, No, No, No, proofNever},
	"ExportAudit":  {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"VerifyAudit":  {ScopeRead, All, All, No, No, No, No, proofNever},

	// One's own account; admins may end the sign-ins of others, and untie who they are elsewhere. Tokens and robots never may.
	"Sessions":          {ScopeAccount, All, All, Own, Own, Own, No, proofNever},
	"RevokeSession":     {ScopeAccount, All, All, Own, Own, Own, No, proofNever},
	"RevokeAllSessions": {ScopeAccount, All, All, Own, Own, Own, No, proofNever},
	"ChangePassword":    {ScopeAccount, Own, Own, Own, Own, Own, No, proofNever},
	"StepUp":            {ScopeAccount, Own, Own, Own, Own, Own, No, proofNever},
	"StepUpBy":          {ScopeAccount, Own, Own, Own, Own, Own, No, proofNever},
	"ShowLink":          {ScopeAccount, Own, Own, Own, Own, Own, No, proofNever},
	"ConfirmLink":       {ScopeAccount, Own, Own, Own, Own, Own, No, proofAlways},
	"Identities":        {ScopeAccount, All, All, Own, Own, Own, No, proofNever},
	"RemoveIdentity":    {ScopeAccount, All, All, Own, Own, Own, No, proofNever},
	"OwnEmail":          {ScopeAccount, Own, Own, Own, Own, Own, No, proofNever},
	"ChangeEmail":       {ScopeAccount, Own, Own, Own, Own, Own, No, proofAlways},
	"ResendEmail":       {ScopeAccount, Own, Own, Own, Own, Own, No, proofNever},
	"CancelEmailChange": {ScopeAccount, Own, Own, Own, Own, Own, No, proofNever},
	"ShowEmailChange":   {ScopeAccount, Own, Own, Own, Own, Own, No, proofNever},
	"ConfirmEmail":      {ScopeAccount, Own, Own, Own, Own, Own, No, proofNever},

	// Second factors of one's own account, and those of others where they were lost
	"SecondFactors":        {ScopeAccount, Own, Own, Own, Own, Own, No, proofNever},
	"StartAuthenticator":   {ScopeAccount, Own, Own, Own, Own, Own, No, proofAlways},
	"ConfirmAuthenticator": {ScopeAccount, Own, Own, Own, Own, Own, No, proofAlways},
	"AddSecurityKey":       {ScopeAccount, Own, Own, Own, Own, Own, No, proofAlways},
	"RemoveSecondFactor":   {ScopeAccount, Own, Own, Own, Own, Own, No, proofAlways},
	"ReplaceRecoveryCodes": {ScopeAccount, Own, Own, Own, Own, Own, No, proofAlways},
	"ResetSecondFactor":    {ScopeAdmin, All, All, No, No, No, No, proofAlways},
	"RequireSecondFactor":  {ScopeAdmin, All, All, No, No, No, No, proofAlways},

	// Who is given an answer again is up to what the answer took.
	"MayRepeat": {ScopeRead, All, All, All, All, All, All, proofNever},

	// Notices
	"Notices":        {ScopeRead, All, All, Own, Own, Own, Own, proofNever},
	"Hooks":          {ScopeRead, All, All, No, No, No, No, proofNever},
	"Hook":           {ScopeRead, All, All, No, No, No, No, proofNever},
	"SaveHook":       {ScopeAdmin, All, All, No, No, No, No, proofPartly},
	"DeleteHook":     {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"TestHook":       {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"HookDeliveries": {ScopeRead, All, All, No, No, No, No, proofNever},
	"HookDelivery":   {ScopeRead, All, All, No, No, No, No, proofNever},
	"Redeliver":      {ScopeAdmin, All, All, No, No, No, No, proofNever},

	// One's own inbox. Marking is as little as reading.
	"Notifications":               {ScopeRead, Own, Own, Own, Own, Own, Own, proofNever},
	"UnreadNotifications":         {ScopeRead, Own, Own, Own, Own, Own, Own, proofNever},
	"OpenNotification":            {ScopeRead, Own, Own, Own, Own, Own, Own, proofNever},
	"MarkNotifications":           {ScopeRead, Own, Own, Own, Own, Own, Own, proofNever},
	"NotificationPreferences":     {ScopeRead, Own, Own, Own, Own, Own, Own, proofNever},
	"SaveNotificationPreferences": {ScopeCluster, Own, Own, Own, Own, Own, Own, proofNever},

	// Builds. Who sees a cluster sees the build that it is for; one without a cluster is shown to whom the hook acts as.
	"BuildHooks":      {ScopeRead, All, All, No, No, No, No, proofNever},
	"BuildHook":       {ScopeRead, All, All, No, No, No, No, proofNever},
	"BuildDeliveries": {ScopeRead, All, All, No, No, No, No, proofNever},
	"BuildDelivery":   {ScopeAdmin, All, All, No, No, No, No, proofNever}, // payloads may hold secrets
	"SaveBuildHook":   {ScopeAdmin, All, All, No, No, No, No, proofPartly},
	"DeleteBuildHook": {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"CheckBuildRules": {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"TryBuild":        {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"ReplayBuild":     {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"BuildList":       {ScopeRead, All, All, see, see, see, see, proofNever},
	"Build":           {ScopeRead, All, All, see, see, see, see, proofNever},
	"AwaitBuild":      {ScopeRead, All, All, see, see, see, see, proofNever},
	"EndBuild":        {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"ExtendBuild":     {ScopeCluster, All, All, Own, Own, No, Own, proofNever},

	// Chats
	"ChatSettings":     {ScopeRead, All, All, No, No, No, No, proofNever},
	"StartChatInstall": {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"InstallChat":      {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"ChangeWorkspace":  {ScopeAdmin, All, All, No, No, No, No, proofAlways},
	"RemoveWorkspace":  {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"UseChannel":       {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"ResetChannel":     {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"SetApprovals":     {ScopeAdmin, All, All, No, No, No, No, proofNever},

	// People
	"User":              {ScopeRead, All, All, Own, Own, Own, Own, proofNever},
	"Users":             {ScopeRead, All, All, No, No, No, No, proofNever},
	"CreateUser":        {ScopeAdmin, All, All, No, No, No, No, proofPartly},
	"ChangeUser":        {ScopeAdmin, All, All, No, No, No, No, proofPartly},
	"ResetUserPassword": {ScopeAdmin, All, All, No, No, No, No, proofAlways},
	"DeleteUser":        {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"Groups":            {ScopeRead, All, All, No, No, No, No, proofNever},
	"SaveGroup":         {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"DeleteGroup":       {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"Tokens":            {ScopeRead, All, All, Own, Own, Own, Own, proofNever},
	"CreateToken":       {ScopeTokens, Own, Own, Own, Own, Own, No, proofAlways},
	"CreateRobotToken":  {ScopeAdmin, All, All, No, No, No, No, proofAlways},
	"RevokeToken":       {ScopeTokens, All, All, Own, Own, Own, No, proofNever},
	"EndToken":          {ScopeRead, Own, Own, Own, Own, Own, Own, proofNever},
	"ShowDevice":        {ScopeAccount, Own, Own, Own, Own, Own, No, proofNever},
	"AnswerDevice":      {ScopeAccount, Own, Own, Own, Own, Own, No, proofPartly},

	// Tenants. Admins see their own.
	"Tenant":       {ScopeRead, All, Own, No, No, No, No, proofNever},
	"Tenants":      {ScopeRead, All, No, No, No, No, No, proofNever},
	"TenantNames":  {ScopeRead, All, No, No, No, No, No, proofNever},
	"ExportTenant": {ScopeRead, All, All, No, No, No, No, proofNever}, // the one in which the actor acts, as the next two
	"CheckTenant":  {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"ImportTenant": {ScopeAdmin, All, All, No, No, No, No, proofAlways},
	"CreateTenant": {ScopeAdmin, All, No, No, No, No, No, proofPartly},
	"ChangeTenant": {ScopeAdmin, All, No, No, No, No, No, proofNever},
	"DeleteTenant": {ScopeAdmin, All, No, No, No, No, No, proofAlways},
	"ActIn":        {ScopeRead, All, No, No, No, No, No, proofNever},

	// The installation
	"Settings":       {ScopeRead, All, No, No, No, No, No, proofNever},
	"ProviderHealth": {ScopeRead, All, No, No, No, No, No, proofNever},
	"Metrics":        {ScopeRead, All, No, No, No, No, No, proofNever},

	// Money. Of usage, who has only its own also sees the sums of the tenant.
	"Quotas":          {ScopeRead, All, All, All, No, No, No, proofNever},
	"QuotaLimits":     {ScopeRead, All, All, All, No, No, No, proofNever},
	"QuotasTakeTime":  {ScopeRead, All, All, All, All, All, All, proofNever},
	"ManyMachines":    {ScopeRead, All, All, All, All, All, All, proofNever},
	"QuotaLeft":       {ScopeRead, All, All, All, All, All, All, proofNever},
	"SetQuota":        {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"DeleteQuota":     {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"SetTenantQuota":  {ScopeAdmin, All, No, No, No, No, No, proofNever},
	"ExtendLease":     {ScopeCluster, All, All, Own, Own, No, Own, proofNever},
	"PreviewExtend":   {ScopeRead, All, All, Own, Own, No, Own, proofNever},
	"LeaseOutlook":    {ScopeRead, All, All, see, see, see, see, proofNever},
	"LeaseLink":       {ScopeRead, All, All, see, see, see, see, proofNever},
	"Usage":           {ScopeRead, All, All, All, Own, Own, Own, proofNever},
	"UsageLabels":     {ScopeRead, All, All, All, Own, Own, Own, proofNever},
	"IdleSavings":     {ScopeRead, All, All, All, Own, Own, Own, proofNever},
	"UsageOfAll":      {ScopeRead, All, No, No, No, No, No, proofNever},
	"UsageAhead":      {ScopeRead, All, All, All, Own, Own, Own, proofNever},
	"UsageAheadOfAll": {ScopeRead, All, No, No, No, No, No, proofNever},

	// Pools
	"Pools":       {ScopeRead, All, All, No, No, No, No, proofNever},
	"Pool":        {ScopeRead, All, All, No, No, No, No, proofNever},
	"PoolReceipt": {ScopeRead, All, All, No, No, No, No, proofNever},
	"CreatePool":  {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"ChangePool":  {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"DrainPool":   {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"DeletePool":  {ScopeAdmin, All, All, No, No, No, No, proofNever},

	// Baked images
	"Images":         {ScopeRead, All, All, No, No, No, No, proofNever},
	"BakeImages":     {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"DeleteImage":    {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"SetBakeRule":    {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"DeleteBakeRule": {ScopeAdmin, All, All, No, No, No, No, proofNever},

	// Resources
	"ResourceTypes":  {ScopeRead, All, All, No, No, No, No, proofNever},
	"Resources":      {ScopeRead, All, All, No, No, No, No, proofNever},
	"Resource":       {ScopeRead, All, All, No, No, No, No, proofNever},
	"ResourceFiles":  {ScopeRead, All, All, No, No, No, No, proofNever},
	"DiffResource":   {ScopeRead, All, All, No, No, No, No, proofNever},
	"OpenResource":   {ScopeRead, All, All, No, No, No, No, proofNever},
	"PushResource":   {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"ImportResource": {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"StageResource":  {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"RecallResource": {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"SyncResources":  {ScopeAdmin, All, All, No, No, No, No, proofNever},
	"DeleteResource": {ScopeAdmin, All, All, No, No, No, No, proofNever},

	// The installation
	"Plugins":                {ScopeRead, All, No, No, No, No, No, proofNever},
	"RegisterPlugin":         {ScopeAdmin, All, No, No, No, No, No, proofAlways},
	"RemovePlugin":           {ScopeAdmin, All, No, No, No, No, No, proofAlways},
	"SetOrphanMode":          {ScopeAdmin, All, No, No, No, No, No, proofNever},
	"Provisioners":           {ScopeRead, All, No, No, No, No, No, proofNever},
	"Provisioner":            {ScopeRead, All, No, No, No, No, No, proofNever},
	"DrainProvisioner":       {ScopeAdmin, All, No, No, No, No, No, proofNever},
	"CreateProvisionerToken": {ScopeAdmin, All, No, No, No, No, No, proofAlways},
	"ProvisionerTokens":      {ScopeRead, All, No, No, No, No, No, proofNever},
	"RevokeProvisionerToken": {ScopeAdmin, All, No, No, No, No, No, proofNever},
}

// Of returns how far a role gets.
func (p permission) Of(r Role) reach {
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
	return No
}

// Authorize reports whether the actor may do such a thing at all; EForbidden says who may. A use case that is not in the table is
// no one's.
func (a Actor) Authorize(useCase string) error {
	if _, err := a.Reach(useCase); err != nil {
		return err
	}
	return a.proven(useCase)
}

// proven asks for a proof of who the actor is where the table says that the use case always takes one.
func (a Actor) proven(useCase string) error {
	if PermissionTable[useCase].proof != proofAlways {
		return nil
	}
	return a.MustStepUp()
}

// May tells faces whether to show something; the use case itself has the last word. Use cases that need a proof are shown; the proof
// is asked for when one is chosen.
func (a Actor) May(useCase string) bool {
	_, err := a.Reach(useCase)
	return err == nil
}

// MayIn is May for a use case about a cluster, as the actor was shown it.
func (a Actor) MayIn(useCase string, c Cluster) bool {
	return a.within(useCase, c) == nil
}

// MayTouch reports whether the actor may do it to something of an owner; what names the thing for people, as in
// `token 3`.
func (a Actor) MayTouch(useCase, owner, what string) error {
	r, err := a.Reach(useCase)
	if err != nil {
		return err
	}
	if r == All || owner == a.User && a.Home == "" {
		a.Noted.Add(Allowance{UseCase: useCase, Owner: owner})
		return a.proven(useCase)
	}
	return &Error{Code: EForbidden, Reason: "not_owner", Message: fmt.Sprintf("%s belongs to %s. Only its owner and admins can do this.", humanize.Upper(what), owner)}
}

func (a Actor) Reach(useCase string) (reach, error) {
	p := PermissionTable[useCase]
	r := p.Of(a.Role)
	if r == No || a.Tenant == "" || a.User == "" {
		return No, forbidden(p)
	}
	if p.Scope == ScopeAccount && a.Token != "" {
		return No, &Error{Code: EForbidden, Reason: "scope", Message: "API tokens can't be used for this.", Hint: "Sign in at the portal."}
	}
	if len(a.Scopes) > 0 && p.Scope != ScopeRead && !slices.Contains(a.Scopes, p.Scope) {
		return No, &Error{Code: EForbidden, Reason: "scope", Message: fmt.Sprintf("This API token lacks the scope %q.", p.Scope),
			Hint: "Create a token with that scope, or sign in at the portal."}
	}
	if a.MustChange && p.Scope != ScopeAccount {
		return No, &Error{Code: EForbidden, Reason: "must_change", Message: "Someone else set your password. Choose a new one first.",
			Hint: "Change it on your account page."}
	}
	if a.MustAddFactor && p.Scope != ScopeAccount {
		return No, &Error{Code: EForbidden, Reason: MustAddReason, Message: "Your tenant requires a second factor, and you haven't added one.", Hint: "Add one on your account page."}
	}
	a.Noted.Add(Allowance{UseCase: useCase})
	return r, nil
}

func forbidden(p permission) error {
	var who []string
	for _, r := range Roles {
		if p.Of(r) != No {
			who = append(who, string(r))
		}
	}
	e := &Error{Code: EForbidden, Reason: "role", Message: "Your role doesn't allow this."}
	if len(who) > 0 {
		e.Hint = "This requires the role " + humanize.Or(who) + ". Ask an admin of your tenant."
	}
	return e
}

// MayChange reports whether the actor may do something to a cluster.
func (a Actor) MayChange(useCase string, c Cluster) error {
	if c.Pool > 0 && a.Via != ViaServer {
		return &Error{Code: EForbidden, Reason: "pool", Message: fmt.Sprintf("%q is a pool machine. Muster manages it.", c.Name),
			Hint: "Change its pool instead: muster pool."}
	}
	if err := c.keptAllows(useCase); err != nil {
		return err
	}
	if err := a.within(useCase, c); err != nil {
		return err
	}
	return a.proven(useCase)
}

// within is MayChange without the proof, for a cluster that the actor may see.
func (a Actor) within(useCase string, c Cluster) error {
	r, err := a.Reach(useCase)
	if err != nil {
		return err
	}
	if err := c.CheckLock(a); err != nil {
		return err
	}
	if r != All {
		if err := c.lastingOnly(useCase); err != nil {
			return err
		}
	}
	need := r.access()
	if r == All || c.Access >= need {
		a.Noted.Add(Allowance{UseCase: useCase, Cluster: c.ID})
		return nil
	}
	e := &Error{Code: EForbidden, Reason: "not_owner", Message: fmt.Sprintf("Cluster %q belongs to %s. Only its owner and admins can do this.", c.Name, c.Owner)}
	if need < AccessCoOwner {
		e.Message = fmt.Sprintf("Cluster %q belongs to %s. Your access is %q; this requires %q.", c.Name, c.Owner, c.Access, need)
		e.Hint = "Ask " + c.Owner + " to share the cluster with you."
	}
	return e
}

// System is Muster itself, acting in a tenant on behalf of no one.
func System(tenant, name string) Actor {
	return Actor{Tenant: tenant, User: name, Role: RoleAdmin, Via: ViaServer}
}

// SeesDrafts reports whether the actor may try templates that are not published yet.
func (a Actor) SeesDrafts() bool { return a.Role == RoleAdmin || a.Role == RoleSuperadmin }

// AtLeast reports whether a role is another one or mightier; viewers and robots are mightier than none.
func (r Role) AtLeast(other Role) bool {
	i, j := slices.Index(Roles, r), slices.Index(Roles, other)
	return i >= 0 && j >= 0 && i <= j
}
