// Package shell is the automator for scripts: the field "script" of a service action is run with sh -eu on the node, in one
// session. The script finds who and where it is in MUSTER_TENANT, MUSTER_CLUSTER, MUSTER_NODE, MUSTER_HOSTNAME,
// MUSTER_OWNER, MUSTER_SERVICE and MUSTER_ACTION; which step it is in MUSTER_OPERATION and MUSTER_STEP; the cluster configuration as CONFIG_…
// variables and, whole, as JSON in
// the file that MUSTER_CONFIG names; and a directory to keep things in between its actions in MUSTER_STATE.
//
// It runs as root, through sudo where the SSH user is not root, or as the SSH user where there is no sudo. Neither
// configuration nor script is ever on a command line, and both are gone from the node when the script has ended.
// A process that should outlive the script must leave it: setsid server >log 2>&1 </dev/null &.
//
// Errors: a script that ran and failed is EScript with its exit code; the rest is EInvalid, or what the family.Shell says.
package shell
