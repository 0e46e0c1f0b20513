// Package openstack is what the members for OpenStack and for clouds made of it share: tokens that are renewed in time, servers as machines, the
// names of flavors and images, what errors and faults mean, and what can be notified of an account. Which identity service is asked, and what a
// machine's network is made of, is the members' own. Errors are *app.Error, but for failures of the network, which the family's wrapper knows.
package openstack
