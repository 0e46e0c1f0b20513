package cluster

import (
	"net/url"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/inventory"
	"muster/portal/page"
)

// Access is the page with the ways to sign in to a cluster's machines.
type Access struct {
	View      cluster.View
	Tabs      page.ClusterTabs
	Inventory inventory.Inventory
	Format    inventory.Format
	Text      string // the inventory in that format
	Key       string // the path of the key file, as typed
	Actor     app.Actor
	May       bool   // the actor can download the key
	SignIn    bool   // the actor can get a certificate
	URL       string // the portal's address; "" if unknown
	Complaint page.Complaint
}

// The most machines with a line of their own, and the most lines of a file that are shown.
const (
	accessShown    = 50
	inventoryShown = 200
)

var inventoryWords = map[inventory.Format]string{
	inventory.FormatSSH: "SSH config", inventory.FormatKnownHosts: "known_hosts", inventory.FormatAnsible: "Ansible (INI)", inventory.FormatAnsibleYAML: "Ansible (YAML)",
	inventory.FormatHosts: "/etc/hosts", inventory.FormatJSON: "JSON", inventory.FormatEnv: "Environment",
}

// formats are the formats, in the order in which they're offered.
var formats = []inventory.Format{inventory.FormatSSH, inventory.FormatKnownHosts, inventory.FormatAnsible, inventory.FormatAnsibleYAML, inventory.FormatHosts, inventory.FormatEnv, inventory.FormatJSON}

// formatHelp says how to use a format.
func (c Access) formatHelp() string {
	i := c.Inventory
	switch c.Format {
	case inventory.FormatSSH:
		return "Include this file in ~/.ssh/config and save the host keys as " + i.KnownHosts + ". Then ssh trusts every machine on first connection."
	case inventory.FormatKnownHosts:
		return "Save this file as " + i.KnownHosts + "."
	case inventory.FormatAnsible, inventory.FormatAnsibleYAML:
		return "Groups are services. Save the host keys as " + i.KnownHosts + " so that Ansible can verify each machine."
	case inventory.FormatHosts:
		return "Add these lines to /etc/hosts."
	case inventory.FormatEnv:
		return "Variables for shells, Docker Compose and systemd."
	}
	return "For scripts and other tools."
}

func (c Access) path(rest string, f inventory.Format) string {
	q := url.Values{"format": {string(f)}}
	if c.Key != "" {
		q.Set("key", c.Key)
	}
	return "/clusters/" + c.View.ID + rest + "?" + q.Encode()
}

// shown returns the part of the file that the page shows, and the number of lines left out.
func (c Access) shown() (text string, more int) {
	lines := strings.SplitAfter(c.Text, "\n")
	if len(lines) <= inventoryShown {
		return c.Text, 0
	}
	return strings.Join(lines[:inventoryShown], ""), len(lines) - inventoryShown
}

func (c Access) keyFile() string { return "muster-" + c.View.ID + ".pem" }

func (c Access) hosts() []inventory.Host {
	return c.Inventory.Hosts[:min(len(c.Inventory.Hosts), accessShown)]
}

// opens reports whether the actor isn't locked out of a node.
func (c Access) opens(node string) bool {
	return (app.Node{Lock: c.lockOf(node)}).CheckLock(c.Actor, c.View.Cluster) == nil
}

// lockOf is the lock of a node; nil where it isn't locked.
func (c Access) lockOf(node string) *app.Lock {
	for _, n := range c.View.Nodes {
		if n.Name == node {
			return n.Lock
		}
	}
	return nil
}

func (c Access) command(f inventory.Format) string {
	return "muster cluster inventory " + c.View.Name + " --format " + string(f)
}
