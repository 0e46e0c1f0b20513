package vsphere

import (
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/providers/internal/account"
	"muster/providers/internal/userdata"
)

// Descriptor says what settings an account in the catalog may have.
var Descriptor = family.Descriptor{
	Name:          "vsphere",
	Tested:        "VMware's simulator vcsim. Not a real vCenter.",
	Description:   "Virtual machines in VMware vSphere, cloned from templates by vCenter.",
	Sleeps:        true,
	ResourceTypes: userdata.Resources,
	Fields: []family.Field{
		{Name: "url", SetBy: family.SetByTenant, Reaches: true, Label: "vCenter", Type: family.FieldText, Required: true,
			Help: "Address of vCenter Server, such as https://vcenter.example.com."},
		{Name: "username", SetBy: family.SetByTenant, Label: "User name", Type: family.FieldText, Required: true,
			Help: "Such as muster@vsphere.local. See docs/providers/vsphere.md for the privileges of its role."},
		{Name: "password", SetBy: family.SetByTenant, Label: "Password", Type: family.FieldText, Required: true, Secret: true},
		{Name: "ca_certificate", SetBy: family.SetByTenant, Reaches: true, Label: "CA certificates", Type: family.FieldLines,
			Help: "Certificate authorities to trust instead of the system's, in PEM format. vCenter offers its own for download at /certs/download.zip."},
		{Name: "thumbprint", SetBy: family.SetByTenant, Reaches: true, Label: "Certificate thumbprint", Type: family.FieldText,
			Help: "SHA-256 fingerprint of vCenter's certificate, instead of a CA certificate."},
		{Name: "datacenter", SetBy: family.SetByTenant, Label: "Datacenter", Type: family.FieldText,
			Help: "Name or inventory path of the datacenter. Leave empty if there's only one."},
		{Name: "cluster", SetBy: family.SetByTenant, Label: "Compute cluster", Type: family.FieldText,
			Help: "Name of the compute cluster for machines without a zone. Leave empty if there's only one. Compute clusters are nodes' zones."},
		{Name: "resource_pool", SetBy: family.SetByTenant, Label: "Resource pool", Type: family.FieldText,
			Help: "Name of a resource pool in each compute cluster that is used. Leave empty for the cluster itself."},
		{Name: "datastore", SetBy: family.SetByTenant, Label: "Datastore", Type: family.FieldText,
			Help: "Name of a datastore, or of a datastore cluster, of which the one with the most free space is used. Leave empty for the template's."},
		{Name: "folder", SetBy: family.SetByTenant, Label: "VM folder", Type: family.FieldText, Default: defaultFolder,
			Help: "Folder for the machines, below the datacenter's, such as muster or tools/muster. Its last part is created if it doesn't exist."},
		{Name: "network", SetBy: family.SetByTenant, Label: "Network", Type: family.FieldText,
			Help: "Name of the port group for machines' first network adapter, with DHCP. Leave empty for the template's."},
		{Name: "root_disk_gb", SetBy: family.SetByAccountOwner, Label: "Root disk (GB)", Type: family.FieldInt, Default: "0",
			Help: "Size to which the template's first disk is grown, unless the hardware type sets one. 0 for the template's size."},
		{Name: "data_disk_gb", SetBy: family.SetByAccountOwner, Label: "Data disk (GB)", Type: family.FieldInt, Default: "0",
			Help: "Size of each machine's disk at /data, unless its hardware type sets one. 0 for none."},
		userdata.Field, userdata.ResourceField,
	},
	FlavorFields: []family.Field{
		{Name: "root_disk_gb", SetBy: family.SetByAccountOwner, Label: "Root disk (GB)", Type: family.FieldInt,
			Help: "Size to which the template's first disk is grown. 0 for the template's size."},
		{Name: "data_disk_gb", SetBy: family.SetByAccountOwner, Label: "Data disk (GB)", Type: family.FieldInt,
			Help: "Size of the machine's disk at /data, which is deleted with the machine. 0 for none."},
		userdata.Field,
	},
}

const (
	defaultFolder = "muster"
	largestDisk   = 62 << 10  // GB: vSphere's limit of a virtual disk
	mostCPUs      = 768       // of a virtual machine, as of vSphere 8
	mostMemory    = 24 << 10  // GiB
	limitUserData = 48 << 10  // 64 KiB in base64
	longestName   = 80        // of anything in an inventory
	shownName     = 63        // of a node's name in its machine's
	gib           = 1 << 20   // in KiB, in which vSphere counts disks
	mebibytes     = 1024      // of memory in a GiB
	bigCert       = 256 << 10 // bytes of CA certificates
)

// settings are an account's, read.
type settings struct {
	url                *url.URL
	username, password string
	roots              *x509.CertPool // nil: the system's
	thumbprint         []byte         // SHA-256 of the certificate, instead

	datacenter, cluster, pool, datastore, network string
	folder                                        []string
	rootDisk, dataDisk                            int
	custom                                        string
}

// Check validates settings beyond what the descriptor says; the error is EInvalid.
func Check(s map[string]any) error {
	_, err := read(account.Settings(s))
	return err
}

func read(s account.Settings) (o settings, err error) {
	o = settings{username: s.Text("username"), datacenter: strings.Trim(s.Text("datacenter"), "/"),
		cluster: s.Text("cluster"), pool: s.Text("resource_pool"), datastore: s.Text("datastore"), network: s.Text("network"), custom: s.Text(userdata.Setting)}
	if v := s["password"]; v != nil { // spaces around it are a part of it
		o.password = fmt.Sprint(v)
	}
	if o.url, err = address(s.Text("url")); err != nil {
		return o, err
	}
	if err := o.trust(s.Text("ca_certificate"), s.Text("thumbprint")); err != nil {
		return o, err
	}
	for _, part := range strings.Split(strings.Trim(s.Or("folder", defaultFolder), "/"), "/") {
		if part = strings.TrimSpace(part); part == "" || part == "." || part == ".." || len(part) > longestName {
			e := account.Invalid("folder", "%q isn't a valid folder", s.Text("folder"))
			e.Hint = "Name folders below the datacenter's VM folder, such as muster or tools/muster."
			return o, e
		}
		o.folder = append(o.folder, part)
	}
	if o.rootDisk, err = s.Int("root_disk_gb", 0, 0, largestDisk); err != nil {
		return o, err
	}
	if o.dataDisk, err = s.Int("data_disk_gb", 0, 0, largestDisk); err != nil {
		return o, err
	}
	return o, userdata.CheckCustom(o.custom, limitUserData)
}

// address is where vCenter's API is. It's never reached without TLS.
func address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		shown := text
		if u != nil && u.User != nil { // there may be a password in it
			shown = u.Redacted()
		}
		if err != nil {
			shown = "this value"
		}
		return nil, account.Invalid("url", "%.100q isn't a valid address. For example, https://vcenter.example.com", shown)
	}
	if path := strings.Trim(u.Path, "/"); path != "" && path != "sdk" && path != "ui" {
		return nil, account.Invalid("url", "the address has the path /%.50s. Leave it out: https://%s", path, u.Host)
	}
	return &url.URL{Scheme: "https", Host: u.Host, Path: "/sdk"}, nil
}

func (o *settings) trust(ca, thumbprint string) error {
	if ca != "" {
		if o.roots = x509.NewCertPool(); len(ca) > bigCert || !o.roots.AppendCertsFromPEM([]byte(ca)) {
			e := account.Invalid("ca_certificate", "this value contains no certificate in PEM format")
			e.Hint = "It begins with -----BEGIN CERTIFICATE-----."
			return e
		}
	}
	if thumbprint == "" {
		return nil
	}
	b, err := hex.DecodeString(strings.NewReplacer(":", "", " ", "").Replace(strings.TrimPrefix(strings.ToLower(thumbprint), "sha256:")))
	if err != nil || len(b) != 32 {
		e := account.Invalid("thumbprint", "%.100q isn't a SHA-256 thumbprint", thumbprint)
		e.Hint = "It has 64 hexadecimal digits. In a network that you trust, run openssl s_client -connect vcenter.example.com:443 " +
			"</dev/null | openssl x509 -noout -fingerprint -sha256"
		return e
	}
	if o.roots != nil {
		return account.Invalid("thumbprint", "use either thumbprint or ca_certificate")
	}
	o.thumbprint = b
	return nil
}

var sizeForm = regexp.MustCompile(`^([1-9][0-9]{0,3})x([0-9]{1,5}(?:\.[0-9]{1,2})?)$`)

// size is a flavor, such as 2x4: 2 vCPUs and 4 GiB of memory.
type size struct {
	cpus     int
	memoryMB int
}

func readSize(flavor string) (size, error) {
	m := sizeForm.FindStringSubmatch(strings.ToLower(strings.TrimSpace(flavor)))
	if m == nil {
		e := app.Errorf(app.EInvalid, "%.50q isn't a size of a virtual machine", flavor)
		e.Hint = "Write vCPUs and memory in GiB, such as 2x4 or 1x0.5."
		return size{}, e
	}
	cpus, _ := strconv.Atoi(m[1])
	memory, _ := strconv.ParseFloat(m[2], 64)
	s := size{cpus: cpus, memoryMB: int(memory * mebibytes)}
	switch {
	case cpus > mostCPUs:
		return s, app.Errorf(app.EInvalid, "size %s has %d vCPUs; a virtual machine has at most %d", flavor, cpus, mostCPUs)
	case memory < 0.25 || memory > mostMemory:
		return s, app.Errorf(app.EInvalid, "size %s has %s GiB of memory; a virtual machine has between 0.25 and %d", flavor, m[2], mostMemory)
	case s.memoryMB%4 != 0:
		return s, app.Errorf(app.EInvalid, "size %s has a memory of %d MB, which isn't a multiple of 4", flavor, s.memoryMB)
	}
	return s, nil
}
