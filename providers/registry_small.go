//go:build small

package providers

// LeftOut names the members that this build does not have.
var LeftOut = []string{"aws", "azure", "digitalocean", "openstack", "rackspace", "vsphere"}

var largeRegistry map[string]registration
