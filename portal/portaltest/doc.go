// Package portaltest drives the portal in a real browser, for tests with the build tag real.
package portaltest
