// Package server is the server: it reads the settings of `muster serve`, opens the store, the queue and the accounts of
// providers, and connects portal, bot, jobs and the families (wire.go). It also has the provisioner with its worker
// processes, and the commands that ask a running server about itself.
//
// It uses cli, families, fleet for how provisioners are shown, and database for keys and locks.
package server
