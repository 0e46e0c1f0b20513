package site

import "reflect"

// UseCases are the use cases that the portal calls, by noun. All of them must be set. Every method may be called from several goroutines;
// errors are *app.Error if they mean something to people.
type UseCases struct {
	SignIns        SignIns
	Accounts       Accounts
	Factors        Factors
	Emails         Emails
	Users          Users
	Groups         Groups
	Tokens         Tokens
	Devices        Devices
	Tenants        Tenants
	TenantSettings TenantSettings
	Audit          Audit
	Clusters       Clusters
	Dashboard      Dashboard
	Deletes        Deletes
	Bulk           Bulk
	Activity       Activity
	Ownership      Ownership
	Labels         Labels
	ClusterAccess  ClusterAccess
	Terminals      Terminals
	NodeFiles      NodeFiles
	Ports          Ports
	NodeAccess     NodeAccess
	Creates        Creates
	Specs          Specs
	Sharing        Sharing
	Locks          Locks
	Nodes          Nodes
	Feed           Feed
	Repeats        Repeats
	Catalogs       Catalogs
	Trials         Trials
	Templates      Templates
	Operations     Operations
	RollBacks      RollBacks
	Partials       Partials
	Kept           Kept
	Backfills      Backfills
	Drifts         Drifts
	Updates        Updates
	Runs           Runs
	Sleeping       Sleeping
	Schedules      Schedules
	Windows        Windows
	Values         ProviderValues
	Leases         Leases
	Idle           Idle
	Scaling        Scaling
	Outputs        Outputs
	Requests       Requests
	Health         Health
	ManualSteps    ManualSteps
	Queues         Queues
	Policies       Policies
	Quotas         Quotas
	Usage          Usage
	Installation   Installation
	Provisioners   Provisioners
	Plugins        Plugins
	Machines       Machines
	Pools          Pools
	Volumes        Volumes
	Images         Images
	BuildHooks     BuildHooks
	Builds         Builds
	BuildCalls     BuildCalls
	Hooks          Hooks
	Notices        Notices
	Notifications  Notifications
	Chats          Chats
	Resources      Resources
	Versions       Versions
	Secrets        Secrets
	Metering       Metering
}

// Check panics if one isn't set, which is a wiring mistake.
func (u UseCases) Check() {
	for v, i := reflect.ValueOf(u), 0; i < v.NumField(); i++ {
		if v.Field(i).IsNil() {
			panic("portal: the use cases of " + v.Type().Field(i).Name + " are not set: see cmd/muster/wiring/faces, and the fakes of tests")
		}
	}
}
