// Package jenkins reads the JSON of Jenkins' Notification plugin. The plugin can't sign its requests, so a step of the
// pipeline sends the same JSON signed: deploy/ci-examples has one.
//
// The payloads in testdata follow the example of plugins.jenkins.io/notification, with the fields of its BuildState.
package jenkins
