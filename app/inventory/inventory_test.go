package inventory

import (
	"encoding/json"
	"strings"
	"testing"

	"muster/app"
	"muster/app/cluster"
)

func inventoried() cluster.View {
	node := func(name, at, inside string, port int, services ...string) app.Node {
		return app.Node{Name: name, Hostname: name + "-c1.muster.example", Addresses: map[string]string{app.AddressAccess: at, app.AddressBind: inside}, SSHUser: "debian",
			SSHPort: port, HostKey: "ssh-ed25519 AAAA" + name + " comment", Services: services, Status: app.NodeReady}
	}
	v := cluster.View{Cluster: app.Cluster{ID: "c1", Name: "lake.one"}, Nodes: []app.Node{
		node("n1", "192.0.2.1", "10.0.0.1", 22, "web-server", "all"), node("n2", "192.0.2.2", "192.0.2.2", 2222, "web-server", "web_server"),
		node("n3", "192.0.2.3", "", 22), node("n4", "192.0.2.4", "", 22), {Name: "n5", Hostname: "n5-c1.muster.example", Status: app.NodePlanned},
	}}
	v.Nodes[2].Leaving = true
	v.Nodes[3].Status = app.NodeDeleted
	return v
}

func TestInventoryForms(t *testing.T) {
	i, err := NewInventory(inventoried(), Files{})
	if err != nil || len(i.Hosts) != 2 {
		t.Fatalf("%v, with %d hosts; those that leave, are gone or have no address do not count", err, len(i.Hosts))
	}
	for f, want := range map[Format][]string{
		FormatAnsible: {"[muster_lake_one]\nn1-c1.muster.example ansible_host=192.0.2.1 ansible_port=22 ansible_user=debian muster_node=n1 muster_inside=10.0.0.1 ",
			"\n[service_all]\nn1-c1.muster.example\n", "\n[web_server]\nn1-c1.muster.example\nn2-c1.muster.example\n", "\n[service_web_server]\nn2-c1.muster.example\n",
			"[muster_lake_one:vars]\nansible_ssh_private_key_file=~/.ssh/muster-c1.pem\n", "StrictHostKeyChecking=yes"},
		FormatAnsibleYAML: {"all:\n  children:\n    muster_lake_one:\n", "        \"n2-c1.muster.example\":\n          ansible_host: \"192.0.2.2\"\n          ansible_port: 2222\n",
			"    web_server:\n      hosts:\n        \"n1-c1.muster.example\": {}\n"},
		FormatSSH: {"\nHost n2-c1.muster.example n2.lake_one\n  HostName 192.0.2.2\n  User debian\n  Port 2222\n  IdentityFile ~/.ssh/muster-c1.pem\n",
			"HostKeyAlias n2-c1.muster.example\n  UserKnownHostsFile ~/.ssh/muster-c1.known_hosts\n  StrictHostKeyChecking yes\n"},
		FormatKnownHosts: {"n1-c1.muster.example,192.0.2.1 ssh-ed25519 AAAAn1\n", "n2-c1.muster.example,[192.0.2.2]:2222 ssh-ed25519 AAAAn2\n"},
		FormatHosts:      {"192.0.2.1\tn1-c1.muster.example n1.lake_one\n"},
		FormatEnv: {"MUSTER_NODES=n1,n2\n", "MUSTER_NODE_N2=192.0.2.2\n", "MUSTER_SERVICE_WEB_SERVER=192.0.2.1,192.0.2.2\n",
			"MUSTER_CLUSTER_NAME=lake_one\n"},
		FormatJSON: {`"groups": {`, `"hostname": "n1-c1.muster.example"`},
	} {
		text, name, _, err := i.File(f)
		if err != nil || !strings.HasPrefix(name, "muster-c1.") {
			t.Errorf("%s: %q, %v", f, name, err)
		}
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s lacks %q:\n%s", f, w, text)
			}
		}
		if strings.Contains(text, "comment") || strings.Contains(text, "n4") || strings.Contains(text, "PRIVATE") {
			t.Errorf("%s says too much:\n%s", f, text)
		}
	}
	var back Inventory
	text, _, _, _ := i.File(FormatJSON)
	if err := json.Unmarshal([]byte(text), &back); err != nil || len(back.Groups["web-server"]) != 2 {
		t.Errorf("as JSON it is %v (%v)", back, err)
	}
	if _, _, _, err := i.File("xml"); app.CodeOf(err) != app.EInvalid || app.AsError(err).Field != "format" {
		t.Errorf("an unknown format returns %v", err)
	}
}

// TestInventoryIsNotInjectable has a provider, an owner and a key file say what tools would read as something else.
func TestInventoryIsNotInjectable(t *testing.T) {
	for name, spoil := range map[string]func(v *cluster.View){
		"an address with an option": func(v *cluster.View) {
			v.Nodes[0].Addresses[app.AddressAccess] = "192.0.2.1 ansible_connection=local"
		},
		"an address on two lines": func(v *cluster.View) { v.Nodes[0].Addresses[app.AddressAccess] = "192.0.2.1\nProxyCommand evil" },
		"an option as an address": func(v *cluster.View) { v.Nodes[0].Addresses[app.AddressAccess] = "-oProxyCommand=evil" },
		"a user on two lines":     func(v *cluster.View) { v.Nodes[0].SSHUser = "root\nProxyCommand evil" },
		"a command as a user":     func(v *cluster.View) { v.Nodes[0].SSHUser = "$(evil)" },
	} {
		v := inventoried()
		spoil(&v)
		if i, err := NewInventory(v, Files{}); app.CodeOf(err) != app.EInvalid {
			t.Errorf("%s returns %+v, %v", name, i, err)
		}
	}
	for _, key := range []string{"a b", "a\nb", "$(evil)", "'", "-evil", strings.Repeat("a", 300)} {
		if _, err := NewInventory(inventoried(), Files{Key: key}); app.CodeOf(err) != app.EInvalid || app.AsError(err).Field != "key" {
			t.Errorf("the key file %q returns %v", key, err)
		}
		if _, err := NewInventory(inventoried(), Files{KnownHosts: key}); app.CodeOf(err) != app.EInvalid || app.AsError(err).Field != "known_hosts" {
			t.Errorf("the known_hosts file %q returns %v", key, err)
		}
	}
	v := inventoried()
	v.Nodes[0].HostKey = "ssh-ed25519 AAAA\n* ssh-ed25519 EVIL"
	i, err := NewInventory(v, Files{Key: "~/keys/lake.pem"})
	if text, _, _, _ := i.File(FormatKnownHosts); err != nil || strings.Contains(text, "EVIL") {
		t.Errorf("a host key of two lines becomes %q, %v", text, err)
	}
	v.Name, v.Nodes[0].Services = "evil\nname", []string{"a\nb=c"}
	i, err = NewInventory(v, Files{})
	for _, f := range Formats {
		if text, _, _, _ := i.File(f); err != nil || f != FormatJSON && (strings.Contains(text, "evil\n") || strings.Contains(text, "b=c")) {
			t.Errorf("%s: %v\n%s", f, err, text)
		}
	}
}
