// Package remote is a shell on one machine, over SSH. It is the only room that knows SSH.
//
// Dial opens one connection and Wait keeps trying until a new machine answers; both return a *Conn, which is an
// family.Shell. A Pool keeps connections between steps, so that a node is dialled once and not once per step. SetHosts
// and Quote are the two things that every caller of a shell needs sooner or later.
//
// What it never does: it never skips the check of a host key. With Target.HostKey the machine must prove itself with
// exactly that key; without, the key that it shows is kept in Conn.HostKey for the caller to pin. It uses no sftp
// and no terminal: what the machine needs is sh, and the tools mkdir, mv, rm, chmod, head, wc, mktemp, grep and sleep.
//
// Under returns a shell that works under a claim: the node refuses it once it has seen a newer one, and a command that asks for
// Once has its effect once, whatever is cut or killed; see claim.go, and "On the node" in docs/engine.md.
//
// Commands under a claim are carried out by a shell that stays on the machine, where it has bash and they need no sudo; see
// resident.go. Any other command has a session.
//
// A command runs in a process group of its own, tied to its session by a lifeline: a small watcher on the node reads
// the session's standard input, and when that ends (ctx has ended, or this process is gone, or the network is) it
// ends the group, so that no attempt of a step works on beside the next. (What runs once under a claim keeps running, for the next
// attempt to take over.) Processes that should outlive the command leave
// the group with setsid. Only a command whose standard input is a stream of unknown length has no lifeline; it is killed
// through a second session.
//
// Errors are *app.Error: ETransient (no connection, or it was lost), ETimeout and ECancelled (ctx ended), EHostKey (the
// machine is not who it should be), ECredentials (it refused our key, or root rights), EInvalid and ETooLarge (the
// call cannot work as it is), ECapacity (the disk there is full), EStale (the node has seen a newer claim).
package remote
