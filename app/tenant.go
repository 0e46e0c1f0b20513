package app

import (
	"context"
	"time"
)

// Tenant is a part of the installation that cannot see the others: users, clusters, secrets, workers of its own.
type Tenant struct {
	Name  string `json:"name"`
	About string `json:"about,omitempty"`
	// Slots is how many steps its workers carry out at the same time at most, on all provisioners together; 0: as many as the
	// server says for every tenant.
	Slots int `json:"slots"`
	// RequireSecondFactor says that people who sign in with a password need a second factor.
	RequireSecondFactor bool      `json:"require_second_factor"`
	CreatedAt           time.Time `json:"created_at,omitzero"` // zero: it was there before tenants were written down
	CreatedBy           string    `json:"created_by,omitempty"`
	From                string    `json:"from,omitempty"` // the tenant whose settings it began with
	// What it has at the moment.
	Users     int `json:"users"`
	Clusters  int `json:"clusters"`    // that are not deleted
	SlotsHeld int `json:"slots_given"` // by the balance between tenants
}

// TenantChange changes a tenant. What is nil stays.
type TenantChange struct {
	About *string `json:"about,omitempty"`
	Slots *int    `json:"slots,omitempty"`
}

// TenantStore keeps tenants. One that was deleted is ENotFound, and its name is taken for ever.
type TenantStore interface {
	// Tenants gives them by name, with what they have.
	Tenants(ctx context.Context) ([]Tenant, error)
	// TenantNames gives only their names, in order.
	TenantNames(ctx context.Context) ([]string, error)
	Tenant(ctx context.Context, name string) (Tenant, error)
	// CreateTenant writes a tenant, its first admin where there is one, and a copy of another tenant's settings.
	CreateTenant(ctx context.Context, who Actor, t Tenant, admin *User) error
	ChangeTenant(ctx context.Context, who Actor, name string, c TenantChange, at time.Time) (Tenant, error)
	// DeleteTenant drops it with its users, tokens and groups; EConflict says what keeps it. Receipts, usage and audit stay.
	DeleteTenant(ctx context.Context, who Actor, name string, at time.Time) error
}
