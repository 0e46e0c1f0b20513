// Package gitlab reads the webhooks of GitLab: pipelines, jobs, pushes, merge requests and deployments.
package gitlab
