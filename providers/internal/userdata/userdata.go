package userdata

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
	"muster/app"
	"muster/app/family"
	"muster/providers/internal/account"
)

// Options are what a member adds to the spec.
type Options struct {
	// User is who Muster logs in as: root, or one that gets sudo without a password. "" is root.
	User string
	// DataDisks tells that every disk without a file system is to be formatted and mounted: the first at /data, others at /data2 and so on.
	DataDisks bool
	// Commands run at the end of the first start, as root, each as one line for sh.
	Commands []string
	// Custom is people's own user data, see CheckCustom; Limit is how long all of it may be: 0 is most.
	Custom string
	Limit  int
}

// most is how long user data may be anywhere, in bytes: 16 KiB, as on AWS.
const most = 16 << 10

type user struct {
	Name  string   `yaml:"name"`
	Sudo  string   `yaml:"sudo,omitempty"`
	Shell string   `yaml:"shell,omitempty"`
	Lock  bool     `yaml:"lock_passwd"`
	Keys  []string `yaml:"ssh_authorized_keys"`
}

type file struct {
	Path        string `yaml:"path"`
	Permissions string `yaml:"permissions"`
	Encoding    string `yaml:"encoding"`
	Content     string `yaml:"content"`
}

type config struct {
	Hostname    string            `yaml:"hostname"`
	FQDN        string            `yaml:"fqdn"`
	Preserve    bool              `yaml:"preserve_hostname"`
	ManageHosts bool              `yaml:"manage_etc_hosts"`
	DisableRoot bool              `yaml:"disable_root"`
	Passwords   bool              `yaml:"ssh_pwauth"`
	Keys        []string          `yaml:"ssh_authorized_keys,omitempty"`
	Users       []any             `yaml:"users,omitempty"`
	DeleteKeys  bool              `yaml:"ssh_deletekeys"`
	HostKeys    map[string]string `yaml:"ssh_keys,omitempty"`
	Files       []any             `yaml:"write_files,omitempty"`
	Commands    []any             `yaml:"runcmd,omitempty"`
	Extra       map[string]any    `yaml:",inline"`
}

// CloudConfig returns the user data for a machine, and the public half of the host key that it holds. EInvalid for a host key that cannot be
// read, and ETooLarge for more than any cloud takes.
func CloudConfig(spec family.MachineSpec, o Options) (text, hostKey string, err error) {
	c := config{Hostname: account.Name(spec.Hostname), FQDN: spec.Hostname, DeleteKeys: true}
	if len(spec.HostKey) > 0 {
		if hostKey, err = account.PublicLine(spec.HostKey); err != nil {
			return "", "", err
		}
		kind, ok := kinds[strings.Fields(hostKey)[0]]
		if !ok {
			return "", "", app.Errorf(app.EInvalid, "host keys of type %s aren't supported", strings.Fields(hostKey)[0])
		}
		c.HostKeys = map[string]string{kind + "_private": string(spec.HostKey), kind + "_public": hostKey}
	}
	if o.User == "" || o.User == "root" {
		c.Keys = []string{spec.AuthorizedKey}
	} else {
		c.Users = []any{"default", user{Name: o.User, Sudo: "ALL=(ALL) NOPASSWD:ALL", Shell: "/bin/bash", Lock: true, Keys: []string{spec.AuthorizedKey}}}
		c.DisableRoot = true
	}
	if o.DataDisks {
		c.Files = append(c.Files, file{Path: diskScriptPath, Permissions: "0755", Encoding: "b64", Content: base64.StdEncoding.EncodeToString([]byte(diskScript))})
		c.Commands = append(c.Commands, []string{"sh", diskScriptPath})
	}
	for _, line := range o.Commands {
		c.Commands = append(c.Commands, []string{"sh", "-c", line})
	}
	text, err = c.write(spec.Hostname, o)
	return text, hostKey, err
}

// write adds people's own user data, and returns all of it.
func (c *config) write(host string, o Options) (text string, err error) {
	part, err := c.add(o.Custom, o.User)
	if err != nil {
		return "", err
	}
	b, err := yaml.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("user data: %w", err)
	}
	text = "#cloud-config\n" + string(b)
	if part != "" {
		text = message(text, part)
	}
	if limit := cmp.Or(o.Limit, most); len(text) > limit {
		return "", tooLong(host, len(text), limit)
	}
	return text, nil
}

// kinds are cloud-init's names for kinds of host keys.
var kinds = map[string]string{"ssh-ed25519": "ed25519", "ssh-rsa": "rsa", "ecdsa-sha2-nistp256": "ecdsa"}

const diskScriptPath = "/usr/local/sbin/muster-data-disks"

// diskScript formats and mounts disks that no one uses. It takes only whole disks without partitions, file system or mount, and running it
// again changes nothing. Disks are mounted by their file system's id, since their names change from start to start.
const diskScript = `#!/bin/sh
# Formats disks that hold nothing, and mounts them at /data, /data2 and so on.
set -eu
n=0
for entry in $(awk '$2 ~ "^/data[0-9]*$" { print $2 }' /etc/fstab); do n=$((n + 1)); done
for disk in $(lsblk -dnpo NAME,TYPE | awk '$2 == "disk" { print $1 }'); do
	[ "$(lsblk -nro NAME "$disk" | wc -l)" = 1 ] || continue
	case $(lsblk -nro MOUNTPOINT "$disk") in ?*) continue ;; esac
	blkid -p "$disk" >/dev/null 2>&1 && continue
	[ "$(blockdev --getsize64 "$disk")" -ge 1073741824 ] || continue
	mkfs.ext4 -q -F "$disk"
	n=$((n + 1))
	dir=/data
	[ "$n" = 1 ] || dir=/data$n
	mkdir -p "$dir"
	udevadm settle 2>/dev/null || true
	echo "UUID=$(blkid -p -s UUID -o value "$disk") $dir ext4 defaults,nofail 0 2" >>/etc/fstab
	mount "$dir"
done
`
