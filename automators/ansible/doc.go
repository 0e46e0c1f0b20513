// Package ansible is the automator for Ansible on the node itself: "ansible-playbook" is run there, for that node alone and without SSH. Its inventory
// has the nodes of the cluster that are known, with their services as groups. The cluster configuration and, under the name muster, who and where
// the node is are extra variables. The playbook's set_stats are facts for later steps.
//
// Playbook, inventory, variables and all that Ansible writes for itself are in a directory that root alone can read and that is gone when the run has
// ended. Nothing of the node's own Ansible configuration is read, and modules do not write their arguments to the node's log.
//
// Errors: a run that failed is EScript with its exit code in words and the task that failed; the rest is EInvalid, or what the family.Shell says.
package ansible
