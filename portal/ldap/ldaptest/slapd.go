package ldaptest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// People is what a server has: ada and eve, two who share a mail address, a service account, and groups.
const People = `dn: dc=example,dc=org
objectClass: dcObject
objectClass: organization
o: Example
dc: example

dn: ou=people,dc=example,dc=org
objectClass: organizationalUnit
ou: people

dn: ou=groups,dc=example,dc=org
objectClass: organizationalUnit
ou: groups

dn: ou=clubs,dc=example,dc=org
objectClass: organizationalUnit
ou: clubs

dn: cn=muster,dc=example,dc=org
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: muster
userPassword: service-password

dn: uid=ada,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
uid: ada
cn: Ada Lovelace
sn: Lovelace
mail: ada@acme.example
userPassword: lovelace

dn: uid=eve,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
uid: eve
cn: Eve (*)
sn: Dropper
mail: shared@acme.example
userPassword: drop*)(uid=ada

dn: uid=mallory,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
uid: mallory
cn: Mallory
sn: Mallory
mail: shared@acme.example
userPassword: mallory

dn: uid=nopass,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
uid: nopass
cn: No Password
sn: Password

dn: cn=admins,ou=groups,dc=example,dc=org
objectClass: groupOfNames
cn: admins
member: uid=ada,ou=people,dc=example,dc=org

dn: cn=devs,ou=groups,dc=example,dc=org
objectClass: groupOfNames
cn: Devs
member: uid=ada,ou=people,dc=example,dc=org
member: uid=eve,ou=people,dc=example,dc=org

dn: cn=admins,ou=clubs,dc=example,dc=org
objectClass: groupOfNames
cn: admins
member: uid=mallory,ou=people,dc=example,dc=org
`

// Names in People.
const (
	Base            = "ou=people,dc=example,dc=org"
	Groups          = "ou=groups,dc=example,dc=org"
	BindDN          = "cn=muster,dc=example,dc=org"
	BindPassword    = "service-password"
	manager         = "cn=manager,dc=example,dc=org"
	managerPassword = "manager-password"
)

// Server is a running slapd on 127.0.0.1.
type Server struct {
	URL, SecureURL string // ldap:// and ldaps://
	CAFile         string

	t   testing.TB
	cmd *exec.Cmd
}

// Certificate says what the server's is like.
type Certificate struct {
	Expired bool
	Name    string // host name; "": 127.0.0.1
}

// Start starts a server. Without slapd the test is skipped, or fails when the environment has CI=true.
func Start(t testing.TB, c Certificate) *Server {
	t.Helper()
	slapd := ""
	for _, p := range []string{"/usr/sbin/slapd", "/usr/libexec/slapd", "/usr/local/libexec/slapd"} {
		if _, err := os.Stat(p); err == nil {
			slapd = p
			break
		}
	}
	if slapd == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("slapd is not installed")
		}
		t.Skip("slapd is not installed")
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	ca, cert, key := certificates(t, c)
	s := &Server{t: t, CAFile: write("ca.pem", ca)}
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	conf := write("slapd.conf", fmt.Sprintf(`include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload memberof
TLSCACertificateFile %s
TLSCertificateFile %s
TLSCertificateKeyFile %s
TLSVerifyClient never
sizelimit 500
database mdb
suffix "dc=example,dc=org"
rootdn %q
rootpw %s
maxsize 10485760
directory %s
overlay memberof
access to attrs=userPassword by anonymous auth by * none
access to dn.subtree="dc=example,dc=org" by dn.exact=%q read by self read by anonymous auth by * none
`, s.CAFile, write("cert.pem", cert), write("key.pem", key), manager, managerPassword, data, BindDN))
	// The overlay writes memberOf when members are added to a running server, so that groups are added as a client would.
	if out, err := exec.Command(slapd, "-Ta", "-f", conf, "-l", write("people.ldif", People)).CombinedOutput(); err != nil { // -Ta: as slapadd
		t.Fatalf("slapadd: %v: %s", err, out)
	}
	for range 5 {
		plain, secure := freePort(t), freePort(t)
		s.URL, s.SecureURL = "ldap://127.0.0.1:"+plain, "ldaps://127.0.0.1:"+secure
		var log bytes.Buffer
		s.cmd = exec.Command(slapd, "-d", "0", "-f", conf, "-h", s.URL+" "+s.SecureURL)
		s.cmd.Stderr = &log
		if err := s.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		died := make(chan struct{})
		go func(cmd *exec.Cmd) {
			_ = cmd.Wait()
			close(died)
		}(s.cmd)
		if answers(plain, died) && answers(secure, died) {
			t.Cleanup(func() {
				_ = s.cmd.Process.Kill()
				<-died
			})
			return s
		}
		_ = s.cmd.Process.Kill()
		<-died
		t.Logf("slapd didn't start, trying other ports: %s", log.String())
	}
	t.Fatal("slapd doesn't start")
	return nil
}

// Process is the server's, for tests that stop it.
func (s *Server) Process() *os.Process { return s.cmd.Process }

func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := strings.Cut(l.Addr().String(), ":")
	return port
}

func answers(port string, died <-chan struct{}) bool {
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = c.Close()
			return true
		}
		select {
		case <-died:
			return false
		case <-time.After(5 * time.Millisecond):
		}
	}
	return false
}

// certificates returns a CA, and a server's certificate and key from it.
func certificates(t testing.TB, c Certificate) (ca, cert, key string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	now := time.Now()
	root := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Example CA"}, NotBefore: now.Add(-48 * time.Hour),
		NotAfter: now.Add(48 * time.Hour),
		IsCA:     true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	rootDER, err := x509.CreateCertificate(rand.Reader, root, root, &caKey.PublicKey, caKey)
	must(err)
	serverKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "LDAP"}, NotBefore: now.Add(-24 * time.Hour),
		NotAfter: now.Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if c.Name == "" {
		leaf.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	} else {
		leaf.DNSNames = []string{c.Name}
	}
	if c.Expired {
		leaf.NotAfter = now.Add(-time.Hour)
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, root, &serverKey.PublicKey, caKey)
	must(err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(serverKey)
	must(err)
	block := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return block("CERTIFICATE", rootDER), block("CERTIFICATE", leafDER), block("PRIVATE KEY", keyDER)
}
