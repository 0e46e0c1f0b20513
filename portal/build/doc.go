// Package build holds the pages of builds: hooks of build systems, their rules and statuses, what they delivered, and
// how each build ended. They use the pages of webhooks for deliveries, and the shared parts of package page.
package build

//go:generate go run ../page/generate.go
