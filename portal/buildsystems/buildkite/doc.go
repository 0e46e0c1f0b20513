// Package buildkite reads the webhooks of Buildkite Pipelines: builds and jobs.
//
// The payloads in testdata follow "Build events", "Job events" and "Ping events", buildkite.com/docs/apis/webhooks/pipelines, with the build
// and job of "Builds API" in place of the ellipses.
package buildkite
