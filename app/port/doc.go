// Package port opens what listens on ports of nodes to people in browsers, each on a name of its own: port--node--cluster below a domain of the
// installation. So an app's pages are of another origin than the portal, and have neither its cookies nor its answers. Who may sign in to a node may
// open its ports.
package port
