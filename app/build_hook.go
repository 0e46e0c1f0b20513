package app

import "time"

// BuildHook is an address at which a build system tells of its builds, and what is to be done then. Its secret cannot be read again.
type BuildHook struct {
	ID     string `json:"id"`
	Tenant string `json:"-"`
	Name   string `json:"name"`
	System string `json:"system"`
	// Owner is the user as whom it acts, with that user's rights, groups and quota.
	Owner     string      `json:"owner"`
	Rules     []BuildRule `json:"rules"`
	Enabled   bool        `json:"enabled"`
	Why       string      `json:"why,omitempty"` // it can do nothing now, such as that its owner is disabled
	SecretAt  time.Time   `json:"secret_at"`
	OldUntil  time.Time   `json:"old_until,omitzero"` // until when the secret before counts too
	LastAt    time.Time   `json:"last_at,omitzero"`   // the latest delivery that was signed right
	RefusedAt time.Time   `json:"refused_at,omitzero"`
	Refused   string      `json:"refused,omitempty"` // why the latest one was refused that was not
	// Statuses says that commits show how the build's cluster is, written with a token of the hook at StatusAPI; "" is the system's own.
	Statuses  bool   `json:"statuses"`
	StatusAPI string `json:"status_api,omitempty"`
	Live      int    `json:"live"` // builds that have a cluster, or wait for one
	// Warnings say of one hook what is allowed and still unwise; lists leave them out.
	Warnings  []string  `json:"warnings,omitempty"`
	CreatedBy string    `json:"created_by"`
	CreatedAt time.Time `json:"created_at"`
	ChangedAt time.Time `json:"changed_at"`
	DeletedAt time.Time `json:"-"`
}

// BuildHookChange is a checked change, as the store takes it. What is nil or empty stays.
type BuildHookChange struct {
	Name, System string
	Owner        *string
	Rules        *[]BuildRule
	Enabled      *bool
	Secret       string  // "" leaves it
	StatusToken  *string // "" removes it
	StatusAPI    *string
	New          string // of a hook that is made by this, where Secret is empty
	ID           string // of a hook that is made by this
	TokenKey     []byte // likewise
}
