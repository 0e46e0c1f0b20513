// Package github reads the webhooks of GitHub and GitHub Enterprise: workflow jobs and runs, pushes, pull requests and
// deployments.
//
// The payloads in testdata follow payload-examples/api.github.com of github.com/octokit/webhooks: workflow_job, workflow_run, push,
// pull_request, deployment and ping.
package github
