// Package coordinator is the server as workers and provisioners on other hosts see it: app's contracts, carried over HTTPS.
package coordinator
