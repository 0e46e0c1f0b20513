// Package sandbox makes machines on this very host that are real to SSH. It is for trying Muster out, for demonstrations
// and for end-to-end tests: no account, no download, no cost.
//
// There are two kinds. "namespaces" needs root on Linux with OpenSSH's server, iproute2 and overlay file systems: each machine
// has its own network address, host name, process tree and file system, in which a real sshd is process 1. Where that
// cannot be had, "process" machines are SSH servers inside this process, each with a folder and a loopback address of
// its own; they share the host's file system, users and host name. Provider.Mode tells which kind is made, and why not
// the better one.
//
// Nothing here confines hostile code: root on a namespaces machine is root, and a process machine's commands run as the
// user who runs Muster.
//
// All state is in files below the data directory, written before anything is made, so that another process, or
// this one after a crash, finds every machine. Machines outlive the process in namespaces mode; process machines come
// back when the provider is opened again, though what ran in the foreground of a session does not.
//
// Errors are *app.Error where something is known about the cause: EInvalid for what cannot be made, ECapacity for no room,
// ENotFound for no such machine. Others are failures of this host.
package sandbox
