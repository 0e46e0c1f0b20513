// Package openstack makes machines in a project of an OpenStack cloud: servers of Nova on networks of Neutron, with floating IPs, volumes and a
// security group for each cluster. The identity service is Keystone's version 3. See docs/providers/openstack.md.
package openstack
