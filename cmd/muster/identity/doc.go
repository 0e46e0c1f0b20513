// Package identity holds the commands on people and what they may do: login and profiles, users, groups, tokens, tenants with their
// settings, secrets and the audit.
//
// It uses cli, and asks a server over the REST API alone.
package identity
