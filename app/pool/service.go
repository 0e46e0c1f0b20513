package pool

import (
	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	"muster/app/secret"
)

// Store is what the service needs of the database.
type Store interface {
	app.Store
	app.PoolStore
}

// Service keeps machines ready before they are asked for.
type Service struct {
	*app.App
	Store Store

	catalogs *catalog.Service
	secrets  *secret.Service
	clusters *cluster.Service

	pools poolCatalog
}

// New returns the service on top of its needs.
func New(a *app.App, store Store, catalogs *catalog.Service, secrets *secret.Service, clusters *cluster.Service) *Service {
	return &Service{App: a, Store: store, catalogs: catalogs, secrets: secrets, clusters: clusters}
}
