package app

import "time"

// Token is an API token as people see it. The token itself is told once, when it is made, and is kept nowhere.
type Token struct {
	ID     int64   `json:"id"`
	Tenant string  `json:"tenant"`
	User   string  `json:"user"`
	Label  string  `json:"label"`
	Scopes []Scope `json:"scopes,omitempty"` // none: all that the user's role may
	// ExpiresAt is when it ends; zero for the one that a server leaves for clients on its own host.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	CreatedAt time.Time `json:"created_at"`
	CreatedBy string    `json:"created_by"`
	UsedAt    time.Time `json:"used_at,omitzero"`    // to the minute; zero: never
	UsedFrom  string    `json:"used_from,omitempty"` // the address of that use
}

// Expired tells whether it has ended.
func (t Token) Expired(now time.Time) bool { return !t.ExpiresAt.IsZero() && !now.Before(t.ExpiresAt) }
