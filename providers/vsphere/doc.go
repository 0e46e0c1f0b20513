// Package vsphere makes machines as clones of VM templates in VMware vCenter. A machine's tags are in its configuration (extraConfig) from its first moment,
// and its place in the intent's history is its instance UUID, which is derived from the intent: so is its name, which vCenter takes only once in a folder.
package vsphere
