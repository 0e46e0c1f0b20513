package google

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/url"
	"time"

	"cloud.google.com/go/auth/credentials"

	"muster/app"
	"muster/app/googleauth"
	"muster/providers/google/internal/gcp"
	"muster/providers/internal/account"
)

// key is what a service account's JSON file says; nil means application default credentials.
type key struct {
	Type     string `json:"type"`
	Project  string `json:"project_id"`
	Email    string `json:"client_email"`
	Private  string `json:"private_key"`
	TokenURL string `json:"token_uri"`
	Universe string `json:"universe_domain"`
}

// keyOf reads the key. Only keys of service accounts are taken: other kinds of credentials name programs to start and places to ask.
func keyOf(s account.Settings) (*key, error) {
	text := s.Text("credentials")
	if text == "" {
		return nil, nil
	}
	bad := func(what string) error {
		e := account.Invalid("credentials", "the service account's key %s", what)
		e.Hint = "Create a JSON key for the service account, and paste the whole file."
		return e
	}
	var k key
	if json.Unmarshal([]byte(text), &k) != nil {
		return nil, bad("isn't valid JSON")
	}
	switch {
	case k.Type != "service_account":
		return nil, bad("has the wrong type: it must be service_account")
	case k.Email == "" || k.Private == "" || k.TokenURL == "":
		return nil, bad("is incomplete: client_email, private_key or token_uri is required")
	}
	block, _ := pem.Decode([]byte(k.Private))
	if block == nil {
		return nil, bad("has an invalid private key")
	}
	if _, err := x509.ParsePKCS8PrivateKey(block.Bytes); err != nil {
		if _, err := x509.ParsePKCS1PrivateKey(block.Bytes); err != nil {
			return nil, bad("has an invalid private key")
		}
	}
	return &k, nil
}

// CheckOwn refuses a key that sends what it signs, or what is signed in with, somewhere other than to Google. The token endpoint is a part of the key file.
func CheckOwn(settings map[string]any) error {
	k, err := keyOf(account.Settings(settings))
	if k == nil || err != nil {
		return err
	}
	if u, err := url.Parse(k.TokenURL); err != nil || u.Scheme != "https" || u.Host != "oauth2.googleapis.com" && u.Host != "accounts.google.com" {
		e := account.Invalid("credentials", "the service account key's token_uri isn't Google's")
		e.Hint = "Use the key file as Google created it, with the token_uri https://oauth2.googleapis.com/token."
		return e
	}
	if k.Universe != "" && k.Universe != "googleapis.com" {
		e := account.Invalid("credentials", "the service account's key is for the universe %.80q, not googleapis.com", k.Universe)
		e.Hint = "Ask a superadmin to save this provider."
		return e
	}
	return nil
}

func projectOf(s account.Settings, k *key) string {
	if k != nil {
		return s.Or("project", k.Project)
	}
	return s.Text("project")
}

func checkURL(text string) error {
	if text == "" {
		return nil
	}
	if u, err := url.Parse(text); err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return account.Invalid("api_url", "the API's address must have the form https://host/compute/v1/")
	}
	return nil
}

// open makes the client. Resources is where the Resource Manager and Cloud DNS answer; "" is their own addresses.
func open(name string, settings map[string]any, resources string, pauses pauses, via account.Network) (*Provider, error) {
	if err := Check(settings); err != nil {
		return nil, err
	}
	s := account.Settings(settings)
	k, err := keyOf(s)
	if err != nil {
		return nil, err
	}
	p := &Provider{name: name, settings: s, project: projectOf(s, k), zone: s.Text("zone"), pauses: pauses, ready: map[uint64]bool{},
		transport: via.Transport()}
	p.disks = &disks{p}
	p.transport.ResponseHeaderTimeout = 3 * time.Minute // an operation is waited for in one call of up to two minutes
	p.transport.MaxIdleConnsPerHost = 16
	detect := &credentials.DetectOptions{Scopes: []string{googleauth.Scope}, Client: &http.Client{Transport: p.transport, Timeout: 30 * time.Second}}
	if k != nil {
		p.login, err = credentials.NewCredentialsFromJSON(credentials.ServiceAccount, []byte(s.Text("credentials")), detect)
	} else {
		p.login, err = credentials.DetectDefault(detect)
	}
	if err != nil {
		e := app.Errorf(app.ECredentials, "no Google Cloud credentials found")
		e.Hint = "Set the service account's key, or set up application default credentials on Muster's host."
		return nil, e
	}
	p.api = gcp.New(googleauth.Client(googleauth.Transport(p.transport, p.login)), s.Text("api_url"), resources)
	return p, nil
}
