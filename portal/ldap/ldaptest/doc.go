// Package ldaptest starts real LDAP servers for tests: OpenLDAP's slapd, with people, groups and certificates of its own CA.
package ldaptest
