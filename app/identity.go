package app

import "time"

// Role says what a user may do within a tenant.
type Role string

// The roles.
const (
	RoleAdmin  Role = "admin"
	RoleUser   Role = "user"
	RoleViewer Role = "viewer"
)

// Actor is who asks. Every use case takes one, and every row it touches belongs to its tenant.
type Actor struct {
	Tenant string `json:"tenant"`
	User   string `json:"user"`
	Role   Role   `json:"role"`
}

// DefaultTenant is the tenant of a fresh installation.
const DefaultTenant = "default"

// User is a local account. PasswordHash is an argon2id string in PHC form.
type User struct {
	Tenant       string
	Name         string
	Role         Role
	PasswordHash string
	CreatedAt    time.Time
}

// Actor gives what the user acts as.
func (u User) Actor() Actor { return Actor{Tenant: u.Tenant, User: u.Name, Role: u.Role} }
