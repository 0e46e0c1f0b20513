package operation

import (
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/identity"
	"muster/app/policy"
	"muster/app/resource"
	"muster/app/secret"
)

// Store is what the service needs of the database.
type Store interface {
	app.Store
	ChangesStore
	GoOnStore
	LeaseStore
	app.NodeReportStore
	cluster.OperationHookStore
	app.OrphanStore
	policy.PolicyStore
	app.ProvisionerStore
	app.ReceiptStore
	app.RequestStore
	app.ScheduleStore
	app.TopUpStore
}

// Service changes clusters that exist: updates, repairs, roll-backs, sleep, schedules and leases.
type Service struct {
	*app.App
	Store Store

	resources *resource.Service
	catalogs  *catalog.Service
	secrets   *secret.Service
	people    *identity.Service
	policies  *policy.Service
	clusters  *cluster.Service

	// LeaseGrace is for how long a deletion may stay paused after the cluster's lease has ended; 0: DefaultLeaseGrace.
	LeaseGrace time.Duration
}

// New returns the service on top of its needs.
func New(a *app.App, store Store, resources *resource.Service, catalogs *catalog.Service, secrets *secret.Service, people *identity.Service, policies *policy.Service, clusters *cluster.Service) *Service {
	return &Service{App: a, Store: store, resources: resources, catalogs: catalogs, secrets: secrets, people: people, policies: policies, clusters: clusters}
}
