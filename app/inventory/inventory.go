package inventory

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/humanize"
)

// Format is a form in which a cluster's machines are reported to other tools.
type Format string

// The forms.
const (
	FormatAnsible     Format = "ansible" // INI
	FormatAnsibleYAML Format = "ansible-yaml"
	FormatSSH         Format = "ssh" // Host blocks of ssh_config
	FormatKnownHosts  Format = "known_hosts"
	FormatHosts       Format = "hosts" // as /etc/hosts
	FormatJSON        Format = "json"
	FormatEnv         Format = "env" // assignments that shells and Docker read
)

// Formats are all forms.
var Formats = []Format{FormatAnsible, FormatAnsibleYAML, FormatSSH, FormatKnownHosts, FormatHosts, FormatJSON, FormatEnv}

// Inventory is how the machines of a cluster are reached. It holds no secret: host keys are public, and of the cluster's own key only
// the place is named where its owner keeps it.
type Inventory struct {
	Cluster string `json:"cluster"`
	Name    string `json:"name"`
	KeyFile string `json:"key_file"`
	// KnownHosts is the file in which ssh looks for the host keys.
	KnownHosts string `json:"known_hosts"`
	Hosts      []Host `json:"hosts"`
	// Groups are the host names by service.
	Groups map[string][]string `json:"groups"`
}

// Host is one machine that has an address.
type Host struct {
	Node     string   `json:"node"`
	Hostname string   `json:"hostname"`
	Address  string   `json:"address"`
	Inside   string   `json:"inside,omitempty"` // where its services listen, where that is another address
	User     string   `json:"user"`
	Port     int      `json:"port"`
	HostKey  string   `json:"host_key,omitempty"`
	Zone     string   `json:"zone,omitempty"`
	Services []string `json:"services"`
}

// defaultKeyFile is where the owner of a cluster is supposed to keep its key.
func defaultKeyFile(cluster string) string { return "~/.ssh/muster-" + cluster + ".pem" }

// defaultKnownHosts is where the owner of a cluster is supposed to keep its host keys.
func defaultKnownHosts(cluster string) string { return "~/.ssh/muster-" + cluster + ".known_hosts" }

var (
	inventoryName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:@%-]*$`)
	inventoryPath = regexp.MustCompile(`^[A-Za-z0-9_./~][A-Za-z0-9_./~@+-]{0,254}$`)
	inventoryKey  = regexp.MustCompile(`^[a-z0-9@.-]+ [A-Za-z0-9+/=]+`)
)

// Files are the paths of the files that an inventory names, on the machine where it is used; "" is the default.
type Files struct {
	Key        string // the cluster's private key
	KnownHosts string // what the format known_hosts is written to
}

// Path reports whether a file's name can be written into every form of an inventory.
func Path(file string) bool { return inventoryPath.MatchString(file) }

// NewInventory lists the machines of a cluster that have an address. EInvalid (field key or known_hosts) where a file's name cannot be part of
// an inventory. What others say of a machine, its provider above all, is checked too, since it ends in files that shells read.
func NewInventory(v appcluster.View, files Files) (Inventory, error) {
	for _, f := range []struct{ field, file, what string }{{"key", files.Key, "key"}, {"known_hosts", files.KnownHosts, "known_hosts"}} {
		if f.file != "" && !Path(f.file) {
			return Inventory{}, &app.Error{Code: app.EInvalid, Field: f.field, Message: "The name of the " + f.what + " file has characters that can't be used in an inventory.",
				Hint: "Use letters, digits and . _ - + @ / ~, at most 255 of them."}
		}
	}
	i := Inventory{Cluster: v.ID, Name: v.Name, KeyFile: cmp.Or(files.Key, defaultKeyFile(v.ID)), KnownHosts: cmp.Or(files.KnownHosts, defaultKnownHosts(v.ID)),
		Hosts: []Host{}, Groups: map[string][]string{}}
	for _, n := range v.Nodes {
		at := n.Address(app.AddressAccess)
		if at == "" || n.Status == app.NodeDeleted || n.Leaving {
			continue
		}
		h := Host{Node: n.Name, Hostname: n.Hostname, Address: at, User: cmp.Or(n.SSHUser, "root"), Port: cmp.Or(n.SSHPort, 22),
			HostKey: inventoryKey.FindString(n.HostKey), Zone: n.Zone, Services: append([]string{}, n.Services...)}
		if in := n.Address(app.AddressBind); in != at {
			h.Inside = in
		}
		for _, s := range []string{h.Node, h.Hostname, h.Address, h.User, cmp.Or(h.Inside, "x"), cmp.Or(h.Zone, "x")} {
			if !inventoryName.MatchString(s) {
				return Inventory{}, app.Errorf(app.EInvalid, "Node %s has an address or a name (%q) that an inventory file can't contain.", n.Name, s)
			}
		}
		i.Hosts = append(i.Hosts, h)
		for _, s := range h.Services {
			i.Groups[s] = append(i.Groups[s], h.Hostname)
		}
	}
	return i, nil
}

// File returns the inventory in a form: its text, the name of its file and its kind. EInvalid (field format) for a form that there is not.
func (i Inventory) File(f Format) (text, name, kind string, err error) {
	const plain = "text/plain; charset=utf-8"
	stem := "muster-" + i.Cluster
	switch f {
	case FormatAnsible:
		return i.ansible(), stem + ".ini", plain, nil
	case FormatAnsibleYAML:
		return i.ansibleYAML(), stem + ".yaml", plain, nil
	case FormatSSH:
		return i.ssh(), stem + ".ssh", plain, nil
	case FormatKnownHosts:
		return i.knownHosts(), stem + ".known_hosts", plain, nil
	case FormatHosts:
		return i.hosts(), stem + ".hosts", plain, nil
	case FormatEnv:
		return i.env(), stem + ".env", plain, nil
	case FormatJSON:
		b, err := json.MarshalIndent(i, "", "  ")
		return string(b) + "\n", stem + ".json", "application/json", err
	}
	names := make([]string, len(Formats))
	for k, x := range Formats {
		names[k] = string(x)
	}
	return "", "", "", &app.Error{Code: app.EInvalid, Field: "format", Message: fmt.Sprintf("Unknown inventory format %q.", f), Hint: "Use " + humanize.Or(names) + "."}
}

// groupNames returns Ansible's name of each service's group. Ansible allows letters, digits and _ only, and has two names of its own.
func (i Inventory) groupNames() (services []string, group map[string]string) {
	group, taken := map[string]string{}, map[string]bool{"all": true, "ungrouped": true, i.clusterGroup(): true}
	for s := range i.Groups {
		services = append(services, s)
	}
	slices.Sort(services)
	for _, s := range services {
		name := variable(s)
		for taken[name] {
			name = "service_" + name
		}
		taken[name], group[s] = true, name
	}
	return services, group
}

func (i Inventory) clusterGroup() string { return "muster_" + variable(i.Name) }

// variable makes a name of letters, digits and _ of any.
func variable(s string) string {
	out := strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
	if out == "" || out[0] >= '0' && out[0] <= '9' {
		out = "_" + out
	}
	return out
}

func (i Inventory) about(of string) string {
	return fmt.Sprintf("# %s of cluster %s (%s), by Muster. Save the key as %s.\n", of, variable(i.Name), i.Cluster, i.KeyFile)
}

func (i Inventory) sshArgs() string {
	return "-o UserKnownHostsFile=" + i.KnownHosts + " -o StrictHostKeyChecking=yes"
}

func (i Inventory) ansible() string {
	var b strings.Builder
	b.WriteString(i.about("Ansible inventory"))
	fmt.Fprintf(&b, "\n[%s]\n", i.clusterGroup())
	for _, h := range i.Hosts {
		fmt.Fprintf(&b, "%s ansible_host=%s ansible_port=%d ansible_user=%s muster_node=%s", h.Hostname, h.Address, h.Port, h.User, h.Node)
		if h.Inside != "" {
			fmt.Fprintf(&b, " muster_inside=%s", h.Inside)
		}
		fmt.Fprintf(&b, " ansible_ssh_extra_args='-o HostKeyAlias=%s'\n", h.Hostname)
	}
	services, group := i.groupNames()
	for _, s := range services {
		fmt.Fprintf(&b, "\n[%s]\n%s\n", group[s], strings.Join(i.Groups[s], "\n"))
	}
	fmt.Fprintf(&b, "\n[%s:vars]\nansible_ssh_private_key_file=%s\nansible_ssh_common_args='%s'\nmuster_cluster=%s\n", i.clusterGroup(), i.KeyFile, i.sshArgs(), i.Cluster)
	return b.String()
}

func (i Inventory) ansibleYAML() string {
	var b strings.Builder
	b.WriteString(i.about("Ansible inventory"))
	fmt.Fprintf(&b, "all:\n  children:\n    %s:\n      vars:\n        ansible_ssh_private_key_file: %q\n        ansible_ssh_common_args: %q\n        muster_cluster: %q\n",
		i.clusterGroup(), i.KeyFile, i.sshArgs(), i.Cluster)
	b.WriteString("      hosts:")
	if len(i.Hosts) == 0 {
		b.WriteString(" {}")
	}
	b.WriteString("\n")
	for _, h := range i.Hosts {
		fmt.Fprintf(&b, "        %q:\n          ansible_host: %q\n          ansible_port: %d\n          ansible_user: %q\n          ansible_ssh_extra_args: %q\n          muster_node: %q\n",
			h.Hostname, h.Address, h.Port, h.User, "-o HostKeyAlias="+h.Hostname, h.Node)
		if h.Inside != "" {
			fmt.Fprintf(&b, "          muster_inside: %q\n", h.Inside)
		}
	}
	services, group := i.groupNames()
	for _, s := range services {
		fmt.Fprintf(&b, "    %s:\n      hosts:\n", group[s])
		for _, h := range i.Groups[s] {
			fmt.Fprintf(&b, "        %q: {}\n", h)
		}
	}
	return b.String()
}

func (i Inventory) ssh() string {
	var b strings.Builder
	b.WriteString(i.about("SSH configuration"))
	fmt.Fprintf(&b, "# Save the host keys as %s; the inventory format known_hosts lists them.\n", i.KnownHosts)
	for _, h := range i.Hosts {
		fmt.Fprintf(&b, "\nHost %s %s.%s\n  HostName %s\n  User %s\n  Port %d\n  IdentityFile %s\n  IdentitiesOnly yes\n  HostKeyAlias %s\n  UserKnownHostsFile %s\n  StrictHostKeyChecking yes\n",
			h.Hostname, h.Node, variable(i.Name), h.Address, h.User, h.Port, i.KeyFile, h.Hostname, i.KnownHosts)
	}
	return b.String()
}

func (i Inventory) knownHosts() string {
	var b strings.Builder
	b.WriteString(i.about("Host keys"))
	for _, h := range i.Hosts {
		if h.HostKey == "" {
			fmt.Fprintf(&b, "# %s hasn't reported its host key yet.\n", h.Hostname)
			continue
		}
		at := h.Address
		if h.Port != 22 {
			at = fmt.Sprintf("[%s]:%d", h.Address, h.Port)
		}
		fmt.Fprintf(&b, "%s,%s %s\n", h.Hostname, at, h.HostKey)
	}
	return b.String()
}

func (i Inventory) hosts() string {
	var b strings.Builder
	b.WriteString(i.about("Host names"))
	for _, h := range i.Hosts {
		fmt.Fprintf(&b, "%s\t%s %s.%s\n", h.Address, h.Hostname, h.Node, variable(i.Name))
	}
	return b.String()
}

func (i Inventory) env() string {
	var b strings.Builder
	b.WriteString(i.about("Environment"))
	var nodes []string
	at := map[string]string{}
	for _, h := range i.Hosts {
		nodes, at[h.Hostname] = append(nodes, h.Node), h.Address
	}
	fmt.Fprintf(&b, "MUSTER_CLUSTER=%s\nMUSTER_CLUSTER_NAME=%s\nMUSTER_SSH_KEY=%s\nMUSTER_NODES=%s\n", i.Cluster, variable(i.Name), i.KeyFile, strings.Join(nodes, ","))
	for _, h := range i.Hosts {
		fmt.Fprintf(&b, "MUSTER_NODE_%s=%s\n", strings.ToUpper(variable(h.Node)), h.Address)
	}
	services, _ := i.groupNames()
	for _, s := range services {
		var addresses []string
		for _, h := range i.Groups[s] {
			addresses = append(addresses, at[h])
		}
		fmt.Fprintf(&b, "MUSTER_SERVICE_%s=%s\n", strings.ToUpper(variable(s)), strings.Join(addresses, ","))
	}
	return b.String()
}

// SSH is the command line that opens a shell with a key.
func (h Host) SSH(key string) string {
	line := "ssh -i " + key
	if h.Port != 22 {
		line += fmt.Sprintf(" -p %d", h.Port)
	}
	return line + " " + h.User + "@" + h.Address
}
