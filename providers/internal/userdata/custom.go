package userdata

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/providers/internal/account"
)

// Setting is the name of the setting with people's own user data.
const Setting = "user_data"

// How much user data clouds take for a machine, in bytes.
const (
	LimitEC2      = 16 << 10
	LimitNova     = 65535 / 4 * 3 // in base64, Nova takes 65535
	LimitDroplet  = 64 << 10
	LimitMetadata = 96 << 10 // clouds with startup scripts; more than a setting can have
)

// ownPart is how much of it is left for Muster's own part.
const ownPart = 4 << 10

// Field is the setting of clouds whose images have cloud-init.
var Field = family.Field{Name: Setting, SetBy: family.SetByTenant, Label: "User data", Type: family.FieldLines, Literal: true,
	Help: "A #cloud-config document or a script (#!/bin/sh) for new machines, in addition to Muster's own. " +
		"Programs on the machine and people with access to the cloud account can read it: no secrets."}

// ScriptField is the setting of clouds that run a script.
var ScriptField = family.Field{Name: Setting, SetBy: family.SetByTenant, Label: "User data", Type: family.FieldLines, Literal: true,
	Help: "A script (#!/bin/sh) that new machines run as root once, after Muster's own. " +
		"Programs on the machine and people with access to the cloud account can read it: no secrets."}

// ResourceField names a resource with user data.
var ResourceField = family.Field{Name: Setting + "_resource", SetBy: family.SetByTenant, Label: "User data resource", Type: family.FieldText,
	Resource: Setting, Help: "Instead of user data: NAME or NAME@VERSION of a resource of the tenant. The cluster keeps the version."}

// Resources are the types of resources of clouds with user data.
var Resources = []template.ResourceType{{Name: Setting, Label: "User data", Format: "file", Mode: 0o700,
	Help: "User data of new machines, which users name in user_data_resource."}}

// reserved are the keys of a cloud-config by which Muster gets in, and knows whom it reached.
var reserved = []string{"ssh_keys", "ssh_deletekeys", "ssh_genkeytypes", "ssh_pwauth", "ssh", "disable_root", "disable_root_opts",
	"hostname", "fqdn", "prefer_fqdn_over_hostname", "preserve_hostname", "manage_etc_hosts", "create_hostname_file", "user", "system_info",
	"merge_how", "merge_type", "cloud_init_modules", "cloud_config_modules", "cloud_final_modules", "datasource", "datasource_list",
	"password", "chpasswd"}

// reservedPaths are where write_files can't write.
var reservedPaths = []string{"/etc/ssh/", "/etc/cloud/", "/etc/sudoers", "/var/lib/cloud/", "/usr/local/sbin/muster-", "/root/.ssh/"}

// CheckCustom refuses user data that doesn't go with Muster's own, or that the cloud wouldn't take with it. Empty text is fine.
func CheckCustom(text string, limit int) error {
	c := config{}
	rest, err := c.add(text, "")
	if err != nil {
		return err
	}
	size := len(rest)
	if c.Extra != nil || rest == "" && text != "" {
		b, err := yaml.Marshal(c)
		if err != nil {
			return account.Invalid(Setting, "the user data can't be written as YAML")
		}
		size = len(b)
	}
	return checkSize(size, limit)
}

// CheckScript is CheckCustom for clouds that run a script.
func CheckScript(text string, limit int) error {
	text = strings.TrimSpace(text)
	if text != "" && !strings.HasPrefix(text, "#!") {
		e := account.Invalid(Setting, "the user data must be a script: images of this cloud don't all have cloud-init")
		e.Hint = "Start it with #!/bin/sh or #!/bin/bash."
		return e
	}
	return checkSize(base64.StdEncoding.EncodedLen(len(text)), limit)
}

func checkSize(size, limit int) error {
	if size <= limit-ownPart {
		return nil
	}
	e := account.Invalid(Setting, "the user data has %d bytes when encoded; the cloud takes %d besides Muster's own", size, limit-ownPart)
	e.Hint = "Shorten it, or have it fetch the rest. For longer scripts, use a service in the catalog."
	return e
}

// add merges a cloud-config into Muster's own, and returns a script as a part of its own.
func (c *config) add(text, user string) (part string, err error) {
	switch text = strings.TrimSpace(text); {
	case text == "":
		return "", nil
	case strings.HasPrefix(text, "#!"):
		return scriptPart(text + "\n"), nil
	case !strings.HasPrefix(text, "#cloud-config"):
		e := account.Invalid(Setting, "the user data is neither a cloud-config nor a script")
		e.Hint = "Start it with #cloud-config, #!/bin/sh or another interpreter."
		return "", e
	}
	doc := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return "", account.Invalid(Setting, "the user data isn't a YAML map")
	}
	for key := range doc {
		if slices.Contains(reserved, key) {
			e := account.Invalid(Setting, "the user data can't set %s, which Muster sets itself", key)
			e.Hint = "Remove " + key + ". Host keys, names and access of machines are Muster's."
			return "", e
		}
	}
	return "", c.merge(doc, user)
}

// merge appends lists that Muster has too, and takes all other keys as they are.
func (c *config) merge(doc map[string]any, user string) error {
	lists := map[string][]any{}
	for _, key := range []string{"write_files", "runcmd", "ssh_authorized_keys", "users"} {
		if v, set := doc[key]; set && v != nil {
			list, ok := v.([]any)
			if !ok {
				return account.Invalid(Setting, "%s of the user data must be a list", key)
			}
			lists[key] = list
		}
		delete(doc, key)
	}
	if err := checkFiles(lists["write_files"], user); err != nil {
		return err
	}
	for _, key := range lists["ssh_authorized_keys"] {
		s, ok := key.(string)
		if !ok {
			return account.Invalid(Setting, "ssh_authorized_keys of the user data must be a list of texts")
		}
		c.Keys = append(c.Keys, s)
	}
	c.Files = append(c.Files, lists["write_files"]...)
	c.Commands = append(c.Commands, lists["runcmd"]...)
	if len(doc) > 0 {
		c.Extra = doc
	}
	return c.addUsers(lists["users"], user)
}

func checkFiles(files []any, user string) error {
	for _, f := range files {
		m, _ := f.(map[string]any)
		name, _ := m["path"].(string)
		clean := path.Clean(name)
		if !path.IsAbs(name) {
			return account.Invalid(Setting, "each of write_files needs an absolute path")
		}
		at := func(begin string) bool { return strings.HasPrefix(clean, begin) }
		if slices.ContainsFunc(reservedPaths, at) || user != "" && at("/home/"+user+"/.ssh/") {
			return account.Invalid(Setting, "write_files can't write %.100q, which Muster or cloud-init manages", name)
		}
	}
	return nil
}

// addUsers appends users. Muster's own and root stay as they are.
func (c *config) addUsers(users []any, own string) error {
	for _, u := range users {
		name, ok := u.(string)
		if m, is := u.(map[string]any); is {
			name, ok = m["name"].(string)
		}
		switch {
		case !ok || name == "":
			return account.Invalid(Setting, "each of users needs a name")
		case name == "root" || name == own:
			return account.Invalid(Setting, "users can't change %s, which Muster signs in as", name)
		case name == "default" && slices.Contains(c.Users, any("default")):
			continue
		}
		c.Users = append(c.Users, u)
	}
	return nil
}

// scriptPart is a script as a part of a MIME message.
func scriptPart(script string) string {
	return mimePart("text/x-shellscript", "user-data", script)
}

// mimePart is plain where mail may be, so that it is short and can be read; base64 else.
func mimePart(kind, name, text string) string {
	encoding := "7bit"
	odd := func(r rune) bool { return r > '~' || r < ' ' && r != '\n' && r != '\t' }
	if strings.IndexFunc(text, odd) >= 0 {
		encoding, text = "base64", wrapped(base64.StdEncoding.EncodeToString([]byte(text)))
	}
	return "Content-Type: " + kind + "; charset=\"utf-8\"\nMIME-Version: 1.0\nContent-Transfer-Encoding: " + encoding +
		"\nContent-Disposition: attachment; filename=\"" + name + "\"\n\n" + text
}

func wrapped(s string) string {
	var b strings.Builder
	for len(s) > 76 {
		b.WriteString(s[:76] + "\n")
		s = s[76:]
	}
	return b.String() + s + "\n"
}

// message puts Muster's cloud-config last: of what both say, cloud-init takes the last. The boundary depends on the content alone, since clouds
// refuse a request that is repeated with other user data.
func message(own, part string) string {
	sum := sha256.Sum256([]byte(own + "\x00" + part))
	mark := "muster-" + hex.EncodeToString(sum[:12])
	return "Content-Type: multipart/mixed; boundary=\"" + mark + "\"\nMIME-Version: 1.0\n\n--" + mark + "\n" + part +
		"\n--" + mark + "\n" + mimePart("text/cloud-config", "muster", own) + "\n--" + mark + "--\n"
}

// tooLong is the error for user data that is longer than a cloud takes.
func tooLong(host string, size, limit int) error {
	return app.Errorf(app.ETooLarge, "the user data of machine %s is %d bytes long; the limit is %d", host, size, limit)
}
