// Package digitalocean makes machines in an account with DigitalOcean: droplets, their volumes, and one cloud firewall for a cluster. It speaks through
// DigitalOcean's own Go client, godo, whose retries are off.
//
// Droplets carry flat tags only, in letters whose case does not count; tags.go says how ours are written in them. What belongs to one machine (its intent's
// tag, its volume) has a name made of the intent, so that it is found again whatever became of an answer.
package digitalocean
