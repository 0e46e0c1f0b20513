// Package template holds what admins publish: templates, and the services, hardware, images and providers that they name, together a Catalog;
// with their parameters, macros, health checks, leases, hooks and firewalls. It is nouns and rules only, and uses no other domain.
package template
