package fleet

import (
	"context"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/identity"
	"muster/app/secret"
)

// Store is what the service needs of the database.
type Store interface {
	app.Store
	app.HealthStore
	app.OrphanStore
	app.ProvisionerStore
	app.ReceiptStore
	app.TenantStore
}

// Service knows provisioners, shares the work between them, and finds machines that nothing accounts for.
type Service struct {
	*app.App
	Store Store

	catalogs   *catalog.Service
	secrets    *secret.Service
	people     *identity.Service
	clusters   *cluster.Service
	executions *execution.Service

	// What operators look at: how the server is set up, what calls went to accounts, and how many they take; nil: not known.
	Facts  func(context.Context) (ServerFacts, error)
	Calls  CallBook
	RateOf func(app.ProviderSpec) app.Rate
}

// New returns the service on top of its needs.
func New(a *app.App, store Store, catalogs *catalog.Service, secrets *secret.Service, people *identity.Service, clusters *cluster.Service, executions *execution.Service) *Service {
	return &Service{App: a, Store: store, catalogs: catalogs, secrets: secrets, people: people, clusters: clusters, executions: executions}
}
