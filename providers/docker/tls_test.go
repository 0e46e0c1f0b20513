package docker

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"muster/app/family"
	"muster/providers/providertest"
)

// An engine behind TLS lets in who shows a certificate, and proves itself by one that the account's CA has signed.
func TestTLS(t *testing.T) {
	s := newSim()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.routes().ServeHTTP(w, r) }))
	cert, key, known := clientPair(t)
	srv.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: known}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	host, ca := "tcp://"+strings.TrimPrefix(srv.URL, "https://"), pemOf(srv.Certificate().Raw)
	stranger, strangersKey, _ := clientPair(t)
	for name, c := range map[string]struct {
		settings map[string]any
		lets     bool
	}{
		"with its certificate":                  {map[string]any{"ca": ca, "cert": cert, "key": key}, true},
		"without a certificate":                 {map[string]any{"ca": ca}, false},
		"with a certificate of others":          {map[string]any{"ca": ca, "cert": stranger, "key": strangersKey}, false},
		"to an engine that the CA did not sign": {map[string]any{"ca": cert, "cert": cert, "key": key}, false},
		"without TLS":                           {map[string]any{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c.settings["host"] = host
			if err := Check(c.settings); err != nil {
				t.Fatal(err)
			}
			e, err := open(c.settings)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			spec, _ := providertest.Harness{Flavor: "unlimited", Image: "node:1"}.Spec(t, "secure")
			_, err = e.Create(t.Context(), spec)
			if c.lets {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil {
				t.Fatal("it was let in")
			}
			found, err := e.CheckAccount(t.Context(), family.AccountNeeds{})
			if err != nil || len(found) == 0 || found[0].OK || found[0].About != family.AboutCredentials || found[0].Hint == "" {
				t.Errorf("%+v, %v", found, err)
			}
		})
	}
}

// clientPair returns a certificate that has signed itself, its key, and a pool that knows it.
func clientPair(t *testing.T) (cert, key string, known *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, IsCA: true, BasicConstraintsValid: true}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	b, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	known = x509.NewCertPool()
	known.AppendCertsFromPEM([]byte(pemOf(raw)))
	return pemOf(raw), string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: b})), known
}
