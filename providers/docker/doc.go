// Package docker makes containers on a Docker Engine and hands them out as machines: each runs an SSH server as its first process, with a host key and a key to
// let us in that were put into it before it started. The engine is spoken to over its API, by the client of the Moby project.
//
// A container has the name of its intent, and names are unique on an engine: that is what makes creating idempotent.
package docker
