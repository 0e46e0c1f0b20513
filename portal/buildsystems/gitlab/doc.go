// Package gitlab reads the webhooks of GitLab: pipelines, jobs, pushes, merge requests and deployments.
//
// The payloads in testdata follow "Webhook events", docs.gitlab.com/user/project/integrations/webhook_events; those named *.old are of a job
// from GitLab before 16.7, without project.
package gitlab
