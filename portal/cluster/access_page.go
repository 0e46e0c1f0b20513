package cluster

import (
	"net/url"
	"strings"

	"muster/app/cluster"
	"muster/app/inventory"
	"muster/portal/page"
)

// Access is the page of all ways into a cluster's machines.
type Access struct {
	View      cluster.ClusterView
	Tabs      page.ClusterTabs
	Inventory inventory.Inventory
	Format    inventory.InventoryFormat
	Text      string // the inventory in that form
	Key       string // where the key is kept, as it was typed
	May       bool   // the actor may have the key
	SignIn    bool   // the actor may have a certificate
	URL       string // where the portal is reached; "" where that is not known
	Complaint page.Complaint
}

// How many machines have a line of their own on the page, and how many lines of a file are shown there.
const (
	accessShown    = 50
	inventoryShown = 200
)

var inventoryWords = map[inventory.InventoryFormat]string{
	inventory.InventorySSH: "SSH config", inventory.InventoryKnownHosts: "known_hosts", inventory.InventoryAnsible: "Ansible (INI)", inventory.InventoryAnsibleYAML: "Ansible (YAML)",
	inventory.InventoryHosts: "/etc/hosts", inventory.InventoryJSON: "JSON", inventory.InventoryEnv: "Environment",
}

// formats are the forms in the order in which they are offered.
var formats = []inventory.InventoryFormat{inventory.InventorySSH, inventory.InventoryKnownHosts, inventory.InventoryAnsible, inventory.InventoryAnsibleYAML, inventory.InventoryHosts, inventory.InventoryEnv, inventory.InventoryJSON}

// formatHelp says what is done with a form.
func (c Access) formatHelp() string {
	i := c.Inventory
	switch c.Format {
	case inventory.InventorySSH:
		return "Include it in ~/.ssh/config, and keep the host keys in " + i.KnownHosts + "; then ssh knows every machine from the first time on."
	case inventory.InventoryKnownHosts:
		return "Save it as " + i.KnownHosts + "."
	case inventory.InventoryAnsible, inventory.InventoryAnsibleYAML:
		return "Groups are services. Keep the host keys in " + i.KnownHosts + "; nothing is trusted blindly."
	case inventory.InventoryHosts:
		return "Lines for /etc/hosts."
	case inventory.InventoryEnv:
		return "Assignments that shells, Compose and systemd read."
	}
	return "For programs."
}

func (c Access) path(rest string, f inventory.InventoryFormat) string {
	q := url.Values{"format": {string(f)}}
	if c.Key != "" {
		q.Set("key", c.Key)
	}
	return "/clusters/" + c.View.ID + rest + "?" + q.Encode()
}

// shown is as much of the file as the page shows, and how many lines more there are.
func (c Access) shown() (text string, more int) {
	lines := strings.SplitAfter(c.Text, "\n")
	if len(lines) <= inventoryShown {
		return c.Text, 0
	}
	return strings.Join(lines[:inventoryShown], ""), len(lines) - inventoryShown
}

func (c Access) keyFile() string { return "muster-" + c.View.ID + ".pem" }

func (c Access) hosts() []inventory.InventoryHost {
	return c.Inventory.Hosts[:min(len(c.Inventory.Hosts), accessShown)]
}

func (c Access) command(f inventory.InventoryFormat) string {
	return "muster cluster inventory " + c.View.Name + " --format " + string(f)
}
