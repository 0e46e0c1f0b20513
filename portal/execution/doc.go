// Package execution holds the pages and the REST operations of running work: queues, and manual steps with their forms,
// which ask for values as package template does.
package execution
