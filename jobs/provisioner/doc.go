// Package provisioner registers with a server and runs a worker for each tenant that the server names, in this process or beside it.
package provisioner
