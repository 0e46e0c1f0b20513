// Package sshaccess lets people sign in to the nodes of clusters: with a certificate for their own key, valid for hours, or with the
// cluster's key. Who may is decided by the authorization table, and each certificate and key is in the audit log. It uses app/cluster.
package sshaccess
