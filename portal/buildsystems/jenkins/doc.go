// Package jenkins understands the JSON of Jenkins' Notification plugin. The plugin cannot sign, so a step of the pipeline sends the same,
// signed: deploy/ci-examples has one.
package jenkins
