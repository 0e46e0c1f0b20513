// Package database holds the commands that whoever runs a server gives on its host, on the database itself: backup, restore, migrate and
// secrets. It opens the key of the installation and locks the data directory, for the server too.
//
// It uses cli and app/store, and needs no server.
package database
