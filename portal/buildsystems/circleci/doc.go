// Package circleci understands the outbound webhooks of CircleCI, which tell only how workflows and jobs ended.
package circleci
