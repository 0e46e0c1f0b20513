// Package build holds `muster build`: build hooks, their rules and deliveries.
//
// It uses cli, and how webhook reads secrets and numbers deliveries.
package build
