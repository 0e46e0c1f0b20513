// Package puppet is the automator for Puppet without a server: "puppet apply" is run on the node, with a manifest or classes of modules that come as
// resources. The cluster configuration is there as Hiera data, whole and unchanged and, for parameters of classes, by their names
// (config {web: {port: 80}} is web::port); who and where the node is is in the structured fact $facts['muster']. A manifest that writes lines
// name=value, or a JSON object, to the file $facts['muster']['outputs'] leaves facts for later steps.
//
// Configuration, facts and what Puppet itself keeps (its reports, states and copies of replaced files) are in a directory that root alone can read and that
// is gone when the run has ended. Nothing of the node's own Puppet configuration is read.
//
// Errors: a run that failed is EScript with its exit code in words and the resource that failed; the rest is EInvalid, or what the family.Shell says.
package puppet
