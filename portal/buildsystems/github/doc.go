// Package github reads the webhooks of GitHub and GitHub Enterprise: workflow jobs and runs, pushes, pull requests and
// deployments.
package github
