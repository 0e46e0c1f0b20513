// Package inventory writes the files that other tools reach a cluster's nodes by: inventories for Ansible, SSH client configuration,
// known hosts, /etc/hosts and environment variables. It uses no other domain.
package inventory
