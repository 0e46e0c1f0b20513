// Package providertest runs the suite of providers/conformance in a test: a member's test fills in a Harness and calls Run.
package providertest
