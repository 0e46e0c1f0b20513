package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/cmd/muster/cli"
)

// TLSConfig is a server's TLS configuration; the zero value is plain HTTP.
type TLSConfig struct {
	Cert, Key string   // files
	Self      bool     // our own CA and certificate, in the data directory
	Names     []string // additional names and addresses for the latter
}

func (c TLSConfig) On() bool { return c.Self || c.Cert != "" }

func (c TLSConfig) check() error {
	switch {
	case c.Self && (c.Cert != "" || c.Key != ""):
		return cli.Usagef("--tls self can't be combined with --tls-cert and --tls-key")
	case (c.Cert == "") != (c.Key == ""):
		return cli.Usagef("--tls-cert and --tls-key must be set together")
	case len(c.Names) > 0 && !c.Self:
		return cli.Usagef("--tls-name requires --tls self")
	}
	return nil
}

const (
	caYears    = 10
	certDays   = 397
	reloadWait = time.Second
)

// secure wraps the listener in TLS, if configured.
func (s *Server) secure() (bool, error) {
	c := s.TLS
	if !c.On() {
		return false, nil
	}
	if c.Self {
		dir := filepath.Join(s.Data, "tls")
		names := append(ownNames(s.listener.Addr().String()), c.Names...)
		if domain, _, _ := strings.Cut(s.SignIn.Apps, ":"); domain != "" {
			names = append(names, "*."+domain)
		}
		fingerprint, err := SelfSigned(dir, names, time.Now())
		if err != nil {
			return false, fmt.Errorf("certificate: %w", err)
		}
		s.Fingerprint = fingerprint
		c.Cert, c.Key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "cert.key")
	}
	r := &certReloader{cert: c.Cert, key: c.Key, failed: func(err error) {
		s.Log.Warn("can't reload the certificate; keeping the old one", "error", err)
	}}
	if err := r.load(); err != nil {
		return false, &app.Error{Code: app.EInvalid, Field: "tls-cert", Message: "the certificate can't be used: " + err.Error()}
	}
	s.listener = tls.NewListener(s.listener, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: r.get, NextProtos: []string{"h2", "http/1.1"}})
	s.URL = "https://" + strings.TrimPrefix(s.URL, "http://")
	return true, nil
}

// ownNames are this host's possible names.
func ownNames(address string) []string {
	names := []string{"localhost", "127.0.0.1", "::1"}
	if host, err := os.Hostname(); err == nil {
		names = append(names, host)
	}
	host, _, _ := net.SplitHostPort(address)
	if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() {
		return append(names, host)
	}
	addresses, _ := net.InterfaceAddrs()
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok {
			names = append(names, n.IP.String())
		}
	}
	return names
}

// certReloader returns a certificate, and reloads it when its file changes. If that fails, it keeps the old one.
type certReloader struct {
	cert, key string
	failed    func(error)

	mu     sync.Mutex
	now    *tls.Certificate
	read   time.Time
	looked time.Time
}

func (r *certReloader) load() error {
	info, err := os.Stat(r.cert)
	if err != nil {
		return err
	}
	c, err := tls.LoadX509KeyPair(r.cert, r.key)
	if err != nil {
		return err
	}
	r.now, r.read = &c, info.ModTime()
	return nil
}

func (r *certReloader) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.looked) > reloadWait {
		r.looked = time.Now()
		if info, err := os.Stat(r.cert); err == nil && !info.ModTime().Equal(r.read) {
			if err := r.load(); err != nil {
				r.failed(err)
			}
		}
	}
	return r.now, nil
}

// SelfSigned creates a CA in a directory, if there is none, and a fresh certificate from it, and returns the CA's fingerprint. The certificate's
// file includes the CA, so that clients find the one they trust.
func SelfSigned(dir string, names []string, now time.Time) (fingerprint string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	ca, err := tls.LoadX509KeyPair(filepath.Join(dir, "ca.pem"), filepath.Join(dir, "ca.key"))
	if errors.Is(err, fs.ErrNotExist) {
		template := &x509.Certificate{Subject: pkix.Name{CommonName: "Muster CA"}, IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
			KeyUsage: x509.KeyUsageCertSign, NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(caYears, 0, 0)}
		ca, err = issue(template, nil, filepath.Join(dir, "ca"))
	}
	if err != nil {
		return "", err
	}
	if ca.Leaf == nil {
		if ca.Leaf, err = x509.ParseCertificate(ca.Certificate[0]); err != nil {
			return "", err
		}
	}
	// Names change with the host, so the certificate is renewed at each start.
	template := &x509.Certificate{Subject: pkix.Name{CommonName: "Muster"}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(0, 0, certDays)}
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, n)
		}
	}
	if _, err := issue(template, &ca, filepath.Join(dir, "cert")); err != nil {
		return "", err
	}
	return FingerprintOf(ca.Certificate[0]), nil
}

// issue creates a key and a certificate, signed by a CA or self-signed, and writes both.
func issue(template *x509.Certificate, ca *tls.Certificate, file string) (c tls.Certificate, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return c, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return c, err
	}
	parent, signer := template, any(key)
	if ca != nil {
		parent, signer = ca.Leaf, ca.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return c, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return c, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	c = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	if ca != nil {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Certificate[0]})...)
	}
	if err := cli.WritePrivate(file+".key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})); err != nil {
		return c, err
	}
	return c, cli.WritePrivate(file+".pem", text)
}

func FingerprintOf(der []byte) string {
	sum := sha256.Sum256(der)
	return "sha256:" + hex.EncodeToString(sum[:])
}
