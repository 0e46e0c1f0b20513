// Package build holds `muster build`: build hooks, their rules and deliveries. It uses cli, and webhook for reading
// secrets and listing deliveries.
package build
