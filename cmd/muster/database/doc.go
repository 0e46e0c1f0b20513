// Package database holds the commands that work on the database of this host's server: backup, restore, migrate and
// secrets. It also loads the key of the installation and locks the data directory, for the server too. It uses cli and
// app/store, and needs no running server.
package database
