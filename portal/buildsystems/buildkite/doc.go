// Package buildkite understands the webhooks of Buildkite Pipelines: builds and jobs.
package buildkite
