// Package gitlab understands the webhooks of GitLab: pipelines, jobs, pushes, merge requests and deployments.
package gitlab
