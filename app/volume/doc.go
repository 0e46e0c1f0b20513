// Package volume keeps the data of services: volumes, which outlive the machines that they are attached to. They belong to a node as long as it exists,
// whatever machine it has, and are then deleted or kept. A kept volume belongs to its owner until it expires, is deleted, or a new cluster uses it.
//
// Volumes are created, attached and detached by steps of operations, and deleted by these or, once they are kept, by the reconciler.
package volume
