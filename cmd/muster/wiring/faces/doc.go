// Package faces tells which service each face gets for what it asks for, by noun. It opens nothing, so that tests of a face ask the
// same services as the server does.
package faces
