// Package openstacktest is an OpenStack cloud in memory, for the tests of members that speak to one: Keystone, Nova, Neutron, Glance and Cinder as
// far as they are asked. It looks at tokens and at what it is sent, and answers, also with its refusals, in the shapes of the real services.
package openstacktest
