// Package rackspace makes machines in Rackspace's public cloud: Cloud Servers of one region, with their public address and ServiceNet. It is Nova's
// second version behind Rackspace's own identity service. See docs/providers/rackspace.md.
package rackspace
