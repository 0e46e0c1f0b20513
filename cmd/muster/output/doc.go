// Package output holds the commands that show the outputs of clusters and hand them to shells, programs, kubectl and
// ssh.
package output
