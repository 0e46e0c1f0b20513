// Package records keeps the DNS records of machines in a zone of a cloud's own: A and AAAA for a machine's name, and beside them a TXT record that
// says whose they
// are. What has no such record beside it is someone else's and is never changed. The zone itself is the member's to speak to.
package records
