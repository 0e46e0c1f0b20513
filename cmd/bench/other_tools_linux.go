package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Other tools do the same as the engine, on machines of the same kind: five scripts a node, one after the other, the fourth of which waits for
// all nodes. They are set up as people do who want them to be fast, and better: Ansible's raw module needs no Python on the nodes.

const (
	ansibleHow   = "Ansible, raw module, 50 forks, pipelining, ControlPersist; once"
	terraformHow = "Terraform, two resources a node, parallelism 64; once"
)

const ansibleConfig = `[defaults]
forks = 50
gathering = explicit
inventory = inventory
stdout_callback = minimal
local_tmp = tmp
remote_tmp = tmp
[ssh_connection]
pipelining = True
ssh_args = -F /dev/null -o ControlMaster=auto -o ControlPersist=60s -o UserKnownHostsFile=known_hosts -o GlobalKnownHostsFile=/dev/null
control_path_dir = cp
`

const ansibleBook = `- hosts: all
  gather_facts: false
  tasks:
    - raw: "true"
    - raw: "true"
    - raw: "true"
    - raw: "true"
    - raw: "true"
`

// withAnsible measures one play.
func withAnsible(ctx context.Context, nodes int) (sample, error) {
	return otherTool(nodes, func(dir string, f *fakeNodes) (*exec.Cmd, func(string) error, error) {
		var inventory, known strings.Builder
		for _, address := range f.Addresses[:nodes] {
			host, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, nil, err
			}
			fmt.Fprintf(&inventory, "%s ansible_port=%s ansible_user=%s ansible_ssh_private_key_file=key\n", host, port, loginName())
			fmt.Fprintf(&known, "[%s]:%s %s\n", host, port, strings.TrimSpace(f.HostKey))
		}
		for name, text := range map[string]string{"ansible.cfg": ansibleConfig, "book.yml": ansibleBook, "inventory": inventory.String(), "known_hosts": known.String()} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				return nil, nil, err
			}
		}
		done := func(out string) error {
			if n := strings.Count(out, "| CHANGED |"); n != 5*nodes {
				return fmt.Errorf("%d of %d scripts ended well: %.500s", n, 5*nodes, out)
			}
			return nil
		}
		cmd := exec.CommandContext(ctx, "ansible-playbook", "book.yml")
		cmd.Env = append(os.Environ(), "ANSIBLE_CONFIG="+filepath.Join(dir, "ansible.cfg"), "ANSIBLE_HOME="+dir, "HOME="+dir, "ANSIBLE_NOCOLOR=1")
		return cmd, done, nil
	})
}

// A resource can't wait for one instance of another, so all wait for all.
const terraformModule = `locals { nodes = jsondecode(file("nodes.json")) }
resource "terraform_data" "before" {
  count = length(local.nodes)
  connection {
    host        = local.nodes[count.index].host
    port        = local.nodes[count.index].port
    user        = local.nodes[count.index].user
    host_key    = local.nodes[count.index].host_key
    private_key = file("key")
    agent       = false
  }
  provisioner "remote-exec" {
    inline = ["true", "true", "true"]
  }
}
resource "terraform_data" "after" {
  count      = length(local.nodes)
  depends_on = [terraform_data.before]
  connection {
    host        = local.nodes[count.index].host
    port        = local.nodes[count.index].port
    user        = local.nodes[count.index].user
    host_key    = local.nodes[count.index].host_key
    private_key = file("key")
    agent       = false
  }
  provisioner "remote-exec" {
    inline = ["true", "true"]
  }
}
`

// withTerraform measures one apply, with the provider that is part of it.
func withTerraform(ctx context.Context, nodes int) (sample, error) {
	return otherTool(nodes, func(dir string, f *fakeNodes) (*exec.Cmd, func(string) error, error) {
		type node struct {
			Host    string `json:"host"`
			Port    int    `json:"port"`
			User    string `json:"user"`
			HostKey string `json:"host_key"`
		}
		var all []node
		for _, address := range f.Addresses[:nodes] {
			host, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, nil, err
			}
			n, _ := strconv.Atoi(port)
			all = append(all, node{host, n, loginName(), strings.TrimSpace(f.HostKey)})
		}
		text, err := json.Marshal(all)
		if err != nil {
			return nil, nil, err
		}
		err = errors.Join(os.WriteFile(filepath.Join(dir, "nodes.json"), text, 0o600), os.WriteFile(filepath.Join(dir, "main.tf"), []byte(terraformModule), 0o600))
		if err != nil {
			return nil, nil, err
		}
		env := append(os.Environ(), "HOME="+dir, "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1")
		first := exec.CommandContext(ctx, "terraform", "init", "-no-color")
		first.Dir, first.Env = dir, env
		if out, err := first.CombinedOutput(); err != nil {
			return nil, nil, fmt.Errorf("terraform init: %w: %s", err, out)
		}
		done := func(out string) error {
			if want := fmt.Sprintf("%d added", 2*nodes); !strings.Contains(out, want) {
				return fmt.Errorf("not %s: %.500s", want, out)
			}
			return nil
		}
		cmd := exec.CommandContext(ctx, "terraform", "apply", "-auto-approve", "-no-color", "-parallelism="+strconv.Itoa(handshakes))
		cmd.Env = env
		return cmd, done, nil
	})
}

// otherTool measures a program that prepare sets up in a directory, which has the key of the nodes; done checks what it said.
func otherTool(nodes int, prepare func(dir string, f *fakeNodes) (cmd *exec.Cmd, done func(out string) error, err error)) (sample, error) {
	f, err := startFakeNodes(fakeOpenSSH)
	if err != nil {
		return nil, err
	}
	defer f.stop()
	dir, err := os.MkdirTemp(memoryDir(), "bench-") // short: sockets of ssh are in it
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "key"), f.Key, 0o600); err != nil {
		return nil, err
	}
	cmd, done, err := prepare(dir, f)
	if err != nil {
		return nil, err
	}
	// Not a pipe, which ssh would keep open for as long as ControlPersist says.
	out, err := os.Create(filepath.Join(dir, "output"))
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(os.Interrupt) }, 5*time.Second
	began := time.Now()
	failed := cmd.Run()
	wall := time.Since(began)
	text, err := os.ReadFile(out.Name())
	switch {
	case failed != nil:
		return nil, fmt.Errorf("%w: %.2000s", failed, text)
	case err != nil:
		return nil, err
	}
	if err := done(string(text)); err != nil {
		return nil, err
	}
	return sample{"wall": wall.Seconds(), "cpu": (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()}, nil
}
