package build

import (
	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/identity"
	"muster/app/operation"
	"muster/app/webhook"
)

// Store is what the service needs of the database.
type Store interface {
	app.Store
	identity.AuditStore
	app.BuildStore
	app.RequestStore
}

// Service takes what build systems send, and creates clusters for builds.
type Service struct {
	*app.App
	Store Store

	catalogs   *catalog.Service
	hooks      *webhook.Service
	clusters   *cluster.Service
	operations *operation.Service

	// Builds understands what build systems send, BuildRules the rules about it; nil: nothing is taken from them.
	Builds     BuildSystems
	BuildRules BuildRuleEngine
}

// New returns the service on top of its needs.
func New(a *app.App, store Store, catalogs *catalog.Service, hooks *webhook.Service, clusters *cluster.Service, operations *operation.Service) *Service {
	return &Service{App: a, Store: store, catalogs: catalogs, hooks: hooks, clusters: clusters, operations: operations}
}
