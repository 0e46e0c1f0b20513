// Package buildkite reads the webhooks of Buildkite Pipelines: builds and jobs.
package buildkite
