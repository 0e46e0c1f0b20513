//go:build real && openstack && linux

package openstackreal

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// machines is what the cloud's hypervisor doesn't do: for each active server with user data, an OpenSSH server on its addresses that has its host key, its
// authorized keys and its name from there. So that what we give a machine is held to its purpose.
type machines struct {
	c    *openStack
	runs map[string]*machine // by the server's id
}

type machine struct {
	addresses []string // on our loopback
	listens   []string // those that its OpenSSH server listens on
	process   *process // nil while it's stopped
}

// watch follows the cloud's servers from now on.
func watch(c *openStack) {
	m := &machines{c: c, runs: map[string]*machine{}}
	go func() {
		for {
			if err := m.look(); err != nil {
				fmt.Println("machines:", err) // a service may be frozen
			}
			time.Sleep(time.Second)
		}
	}()
}

func (m *machines) look() error {
	servers, err := m.c.list("admin", "compute", "/servers/detail?all_tenants=1", "servers")
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, s := range servers {
		id := s["id"].(string)
		there[id] = true
		if m.runs[id] == nil {
			m.runs[id] = &machine{}
		}
		if err := m.adjust(id, m.runs[id], s); err != nil {
			fmt.Printf("machine of server %s: %v\n", id, err)
		}
	}
	for id := range m.runs {
		if !there[id] {
			m.remove(id)
		}
	}
	return nil
}

// adjust has a machine be as its server is.
func (m *machines) adjust(id string, one *machine, server object) error {
	var now []string
	floats := false
	networks, _ := server["addresses"].(object)
	for _, all := range networks {
		for _, a := range all.([]any) {
			now = append(now, a.(object)["addr"].(string))
			floats = floats || a.(object)["OS-EXT-IPS:type"] == "floating"
		}
	}
	slices.Sort(now)
	for _, a := range now {
		if !slices.Contains(one.addresses, a) {
			if err := command("ip", "address", "add", a+"/32", "dev", "lo"); err != nil {
				return err
			}
			one.addresses = append(one.addresses, a)
		}
	}
	metadata, _ := server["metadata"].(object)
	runs := server["status"] == "ACTIVE" && (floats || metadata["muster-access"] == nil)
	if one.process != nil && (!runs || !slices.Equal(now, one.listens)) {
		one.process.stop(0)
		one.process = nil
	}
	data, _ := server["OS-EXT-SRV-ATTR:user_data"].(string)
	if !runs || one.process != nil || data == "" || len(now) == 0 {
		return nil
	}
	if err := m.boot(id, one, data, now); err != nil {
		return err
	}
	one.listens = now
	return nil
}

// boot does what cloud-init does with user data.
func (m *machines) boot(id string, one *machine, data string, addresses []string) error {
	text, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return err
	}
	var config struct {
		FQDN string            `yaml:"fqdn"`
		Keys []string          `yaml:"ssh_authorized_keys"`
		Host map[string]string `yaml:"ssh_keys"`
	}
	if !strings.HasPrefix(string(text), "#cloud-config\n") {
		return fmt.Errorf("the user data isn't a cloud-config: %.40q", text)
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		return err
	}
	dir := m.c.path("machines", id)
	if err := os.MkdirAll(filepath.Join(dir, "files"), 0o700); err != nil {
		return err
	}
	sshd := "AuthorizedKeysFile /run/machine/authorized_keys\nPermitRootLogin prohibit-password\nPasswordAuthentication no\nStrictModes no\n" +
		"UsePAM no\nPidFile none\nSubsystem sftp internal-sftp\nMaxStartups 100\n"
	for _, a := range addresses {
		sshd += "ListenAddress " + a + "\n"
	}
	contents := map[string]string{"authorized_keys": strings.Join(config.Keys, "\n") + "\n"}
	for name, key := range config.Host {
		if kind, private := strings.CutSuffix(name, "_private"); private {
			contents["host_"+kind] = strings.TrimSpace(key) + "\n"
			sshd += "HostKey /run/machine/host_" + kind + "\n"
		}
	}
	contents["sshd_config"] = sshd
	for name, text := range contents {
		if err := os.WriteFile(filepath.Join(dir, "files", name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	one.process, err = launch(m.c.dir, "machine-"+id, nil,
		"unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child", "sh", m.c.etc("machine.sh"), dir, config.FQDN)
	return err
}

// remove ends a machine with all that was made for it.
func (m *machines) remove(id string) {
	one := m.runs[id]
	if one.process != nil {
		one.process.stop(0)
	}
	for _, a := range one.addresses {
		if err := command("ip", "address", "delete", a+"/32", "dev", "lo"); err != nil {
			fmt.Println(err)
		}
	}
	_ = os.RemoveAll(m.c.path("machines", id))
	delete(m.runs, id)
}
