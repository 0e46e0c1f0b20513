package kms

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
)

// vaultTLS sets what Vault's variables say of certificates. VAULT_SKIP_VERIFY is honoured as Vault's own tools do, for installations that
// were set up with it: anyone on the network between this host and Vault can then read data keys.
func vaultTLS(t *http.Transport) error {
	conf := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: os.Getenv("VAULT_TLS_SERVER_NAME")}
	if text := os.Getenv("VAULT_SKIP_VERIFY"); text != "" {
		var err error
		if conf.InsecureSkipVerify, err = strconv.ParseBool(text); err != nil {
			return wrongVariable("VAULT_SKIP_VERIFY", "true or false", nil)
		}
	}
	var err error
	if conf.RootCAs, err = vaultRoots(); err != nil {
		return err
	}
	cert, key := os.Getenv("VAULT_CLIENT_CERT"), os.Getenv("VAULT_CLIENT_KEY")
	if (cert == "") != (key == "") {
		return wrongVariable("VAULT_CLIENT_CERT or VAULT_CLIENT_KEY", "set when the other is", nil)
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return wrongVariable("VAULT_CLIENT_CERT or VAULT_CLIENT_KEY", "a file with a certificate or its key", err)
		}
		// Whatever authorities the server asks for: it may take certificates of others too.
		conf.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	}
	t.TLSClientConfig = conf
	return nil
}

// vaultRoots are the authorities that certificates of Vault may come from; nil: those of the host.
func vaultRoots() (*x509.CertPool, error) {
	file, bytes, dir := os.Getenv("VAULT_CACERT"), os.Getenv("VAULT_CACERT_BYTES"), os.Getenv("VAULT_CAPATH")
	pool := x509.NewCertPool()
	switch {
	case file != "":
		text, err := os.ReadFile(file)
		if err != nil || !pool.AppendCertsFromPEM(text) {
			return nil, wrongVariable("VAULT_CACERT", "a file with certificates", err)
		}
	case bytes != "":
		if !pool.AppendCertsFromPEM([]byte(bytes)) {
			return nil, wrongVariable("VAULT_CACERT_BYTES", "certificates", nil)
		}
	case dir != "":
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		found := false
		for _, file := range files {
			if text, err := os.ReadFile(file); err == nil && pool.AppendCertsFromPEM(text) {
				found = true
			}
		}
		if !found {
			return nil, wrongVariable("VAULT_CAPATH", "a directory with certificates", err)
		}
	default:
		return nil, nil
	}
	return pool, nil
}

func dialSocket(t *http.Transport, socket string) {
	t.Proxy = nil
	t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
}
