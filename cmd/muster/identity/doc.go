// Package identity holds the commands on people and permissions: login and profiles, users, groups, tokens, tenants
// with their settings, secrets and the audit log. It uses cli and the REST API only.
package identity
