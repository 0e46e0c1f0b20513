// Package output is the values that clusters publish for use from outside: addresses, connection strings, passwords,
// files such as a kubeconfig. Templates declare them. Those with secrets are shown on demand to people who can use
// the cluster, and each time is in the audit log.
package output
