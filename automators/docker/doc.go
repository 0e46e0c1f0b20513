// Package docker is the automator for services that are containers: each action tells the Docker Engine on the node, by its command line, what the
// service's one
// container should be. Fields are those of Coopr's automator of the same name, read as Coopr's services mean them, and a few more.
//
// A container is made again when what it is made of has changed; labels tell. Values of its environment come in a file that goes away with the
// command, or in the
// environment of one command; credentials of a registry come on standard input. The engine itself keeps the environment of containers, as long as
// they are there.
//
// Errors: an action that failed is EScript with its exit code, and the container's own last line where it ended at once; the rest is EInvalid, or
// what the family.Shell says.
package docker
