// Package openstackreal has only tests: the openstack provider, and the program with it, against a real OpenStack that the tests start: Keystone, Nova
// with its fake driver, Placement, Glance and Neutron of Debian 12. They have the build tag real, and run with make test-all. All that they start is in
// network, process and mount namespaces of its own, which end with the tests.
package openstackreal
