// Package plugin holds what an installation decides about the programs of plugins that its operator has put on the server: an admin registers one, which
// pins its file, or removes one, which isn't run any more. Nothing is uploaded. What package program then refuses is up to its pins.
package plugin
