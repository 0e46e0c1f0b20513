// Package dashboard is what a person sees first: their clusters, leases that end soon, and their newest notices.
package dashboard
