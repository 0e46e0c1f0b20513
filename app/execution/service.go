package execution

import (
	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/operation"
	"muster/app/resource"
	"muster/app/secret"
)

// Store is what the service needs of the database.
type Store interface {
	app.Store
	FactStore
	app.HealthStore
	app.NodeReportStore
	app.ProvisionerStore
	QuestionStore
	resource.ResourceStore
	app.SecretStore
	WaitingStore
}

// Service hands out steps to workers and takes their reports, and tells why something waits.
type Service struct {
	*app.App
	Store Store

	resources  *resource.Service
	catalogs   *catalog.Service
	secrets    *secret.Service
	clusters   *cluster.Service
	operations *operation.Service

	// What people are told of why something waits; nil: not known, or for Workers what the provisioners say.
	Workers Workforce
	Budgets Budgets
	configs configCache
	rounds  roundBell
}

// New returns the service on top of its needs.
func New(a *app.App, store Store, resources *resource.Service, catalogs *catalog.Service, secrets *secret.Service, clusters *cluster.Service, operations *operation.Service) *Service {
	return &Service{App: a, Store: store, resources: resources, catalogs: catalogs, secrets: secrets, clusters: clusters, operations: operations}
}
