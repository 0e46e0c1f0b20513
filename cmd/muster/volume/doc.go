// Package volume holds `muster volume`: disks that outlive machines, and their snapshots. It uses cli and the REST API only.
package volume
