// Package circleci reads the outbound webhooks of CircleCI, which report only how workflows and jobs ended.
//
// The payloads in testdata follow "Outbound webhooks reference", circleci.com/docs/webhooks-reference.
package circleci
