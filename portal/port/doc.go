// Package port serves what listens on ports of nodes, each on a name of its own below the domain for apps, and leads there from the portal.
package port
