//go:build real

package docker

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"muster/app/family"
	"muster/providers/providertest"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  string
}

// sign returns a certificate and its key in PEM form; a nil authority signs itself.
func (a *authority) sign(t *testing.T, name string) (*authority, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	parent, signer := c, key
	if a == nil {
		c.IsCA, c.BasicConstraintsValid, c.KeyUsage, c.IPAddresses = true, true, x509.KeyUsageCertSign, nil
	} else {
		parent, signer = a.cert, a.key
	}
	raw, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	b, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{made, key, pemOf(raw)}, string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: b}))
}

// A real engine that wants certificates lets in who has one of its CA, and no one else.
func TestARealEngineBehindTLS(t *testing.T) {
	var none *authority
	ca, _ := none.sign(t, "ca")
	server, serverKey := ca.sign(t, "engine")
	ours, ourKey := ca.sign(t, "muster")
	otherCA, _ := none.sign(t, "other")
	stranger, strangerKey := otherCA.sign(t, "stranger")
	dir := t.TempDir()
	for name, text := range map[string]string{"ca.pem": ca.pem, "cert.pem": server.pem, "key.pem": serverKey} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := "tcp://" + l.Addr().String()
	_ = l.Close()
	startEngine(t, "-H", at, "--tlsverify", "--tlscacert", filepath.Join(dir, "ca.pem"), "--tlscert", filepath.Join(dir, "cert.pem"), "--tlskey", filepath.Join(dir, "key.pem"))
	for name, c := range map[string]struct {
		settings map[string]any
		lets     bool
	}{
		"with its certificate":                  {map[string]any{"ca": ca.pem, "cert": ours.pem, "key": ourKey}, true},
		"without a certificate":                 {map[string]any{"ca": ca.pem}, false},
		"with a certificate of others":          {map[string]any{"ca": ca.pem, "cert": stranger.pem, "key": strangerKey}, false},
		"to an engine that the CA did not sign": {map[string]any{"ca": otherCA.pem, "cert": ours.pem, "key": ourKey}, false},
		"without TLS":                           {map[string]any{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c.settings["host"] = at
			e, err := open(c.settings)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			found, err := e.CheckAccount(t.Context(), family.AccountNeeds{})
			if err != nil || len(found) == 0 || found[0].About != family.AboutCredentials || found[0].OK != c.lets || !c.lets && found[0].Hint == "" {
				t.Errorf("the check: %+v, %v", found, err)
			}
			s, keys := providertest.Harness{Flavor: "0.5cpu-256mb", Image: realImage}.Spec(t, "secure")
			m, err := e.Create(t.Context(), s)
			if (err == nil) != c.lets {
				t.Fatalf("let in: %v", err)
			}
			if err != nil {
				t.Log(err)
				return
			}
			_ = providertest.Dial(t, providertest.Eventually(t, e, m.ID), keys).Close()
			if err := e.Delete(t.Context(), m.ID); err != nil {
				t.Error(err)
			}
		})
	}
}
