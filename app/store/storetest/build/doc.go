// Package build has the cases of every store about builds of CI systems: deliveries, clusters, statuses, approvals and callbacks. It uses
// kit.
package build
