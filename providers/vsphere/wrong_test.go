package vsphere

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"muster/app/family"
	"muster/providers/providertest"
)

// wrong are accounts in which something is not as it must be.
func (w *world) wrong(t *testing.T, more []string) []providertest.Wrong {
	bad := func(name, about string, o orders, also ...string) providertest.Wrong {
		return providertest.Wrong{Name: name, About: about, Open: func(t *testing.T) (family.Provider, func()) {
			w.control(t, o)
			return w.open(t, append(append([]string{}, more...), also...)...), func() { w.control(t, orders{}) }
		}}
	}
	setting := func(name, about, field, value string) providertest.Wrong {
		return bad(name, about, orders{}, field, value)
	}
	lacks := func(privilege string) providertest.Wrong {
		return bad("a user without "+privilege, family.AboutPermissions, orders{Lacks: []string{privilege}})
	}
	return []providertest.Wrong{
		setting("a wrong password", family.AboutCredentials, "password", "another"),
		setting("a wrong user", family.AboutCredentials, "username", "administrator@vsphere.local"),
		setting("a CA that didn't sign the certificate", family.AboutCredentials, "ca_certificate", aCertificate(t)),
		bad("another certificate", family.AboutCredentials, orders{}, "ca_certificate", "", "thumbprint", otherThumbprint),
		setting("an address where nothing is", family.AboutCredentials, "url", "https://127.0.0.1:1"),
		setting("a datacenter that doesn't exist", family.AboutRegion, "datacenter", "DC9"),
		setting("a compute cluster that doesn't exist", family.AboutRegion, "cluster", "DC0_C9"),
		setting("a resource pool that doesn't exist", family.AboutRegion, "resource_pool", "none"),
		setting("a datastore that doesn't exist", family.AboutQuota, "datastore", "LocalDS_9"),
		setting("a network that doesn't exist", family.AboutNetwork, "network", "none"),
		setting("a folder below one that doesn't exist", family.AboutNetwork, "folder", "none/muster"),
		setting("a root disk that's smaller than the template's", family.AboutImage, "root_disk_gb", "1"),
		bad("hosts in maintenance", family.AboutRegion, orders{World: "maintenance"}),
		bad("a datastore in maintenance", family.AboutQuota, orders{World: "datastore"}),
		bad("a full datastore", family.AboutQuota, orders{World: "full"}),
		bad("a template that's a virtual machine now", family.AboutImage, orders{World: "template"}),
		lacks("VirtualMachine.Provisioning.DeployTemplate"),
		lacks("VirtualMachine.Inventory.CreateFromExisting"),
		lacks("VirtualMachine.Config.AdvancedConfig"),
		lacks("Resource.AssignVMToPool"),
		lacks("Datastore.AllocateSpace"),
	}
}

// otherThumbprint is no vCenter's.
const otherThumbprint = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

// aCertificate is a new certificate of someone else's.
func aCertificate(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}
