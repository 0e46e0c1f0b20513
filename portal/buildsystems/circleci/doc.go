// Package circleci reads the outbound webhooks of CircleCI, which report only how workflows and jobs ended.
package circleci
