// Package server wires a server: it reads the settings of `muster serve`, opens the store, the queue and the accounts of providers, and
// introduces the portal, the bot, the jobs and the families to each other. The provisioner and the processes of its workers are here
// too, and the commands that ask a running server about itself.
//
// It uses cli, families, fleet for what is asked about provisioners, and database for keys and locks.
package server
