package cluster

import (
	"muster/app"
	"muster/app/catalog"
	"muster/app/identity"
	"muster/app/policy"
	"muster/app/resource"
	"muster/app/secret"
	"muster/app/webhook"
)

// Store is what the service needs of the database.
type Store interface {
	app.Store
	identity.AuditStore
	app.BuildStore
	app.HealthStore
	HomeStore
	webhook.HookStore
	IdempotencyStore
	LifeStore
	OperationHookStore
	policy.PaceStore
	policy.PolicyStore
	app.PoolStore
	app.ProvisionerStore
	app.RequestStore
	RetentionStore
	SharingStore
	app.TopUpStore
}

// Service creates, previews, shows and compares clusters.
type Service struct {
	*app.App
	Store Store

	resources *resource.Service
	catalogs  *catalog.Service
	secrets   *secret.Service
	policies  *policy.Service

	Solving    solving
	preflights preflights
	faults     scriptFaults
}

// New returns the service on top of its needs.
func New(a *app.App, store Store, resources *resource.Service, catalogs *catalog.Service, secrets *secret.Service, policies *policy.Service) *Service {
	return &Service{App: a, Store: store, resources: resources, catalogs: catalogs, secrets: secrets, policies: policies}
}
