package securitykey

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"muster/app"
	"muster/app/identity"
)

// wait is the time limit for the person's answer.
const wait = 5 * time.Minute

// Keys checks security keys. The zero value is ready.
type Keys struct{}

// account is the owner of a key.
type account struct {
	tenant, name string
	keys         []webauthn.Credential
}

var _ webauthn.User = account{}

// WebAuthnID identifies an account without revealing anything about it.
func (a account) WebAuthnID() []byte {
	sum := sha256.Sum256([]byte("security key\x00" + a.tenant + "\x00" + a.name))
	return sum[:]
}

// WebAuthnName is the name that browsers show.
func (a account) WebAuthnName() string { return a.name }

// WebAuthnDisplayName is the same name, which people sign in with.
func (a account) WebAuthnDisplayName() string { return a.name }

// WebAuthnCredentials are the account's keys.
func (a account) WebAuthnCredentials() []webauthn.Credential { return a.keys }

// accountOf decodes an account's stored keys. It skips keys whose encryption key was lost.
func accountOf(tenant, user string, have []identity.SecondFactor) (account, error) {
	a := account{tenant: tenant, name: user}
	for _, f := range have {
		if f.Kind != identity.FactorKey || len(f.Secret) == 0 {
			continue
		}
		var c webauthn.Credential
		if err := json.Unmarshal(f.Secret, &c); err != nil {
			return a, fmt.Errorf("security key %s: %w", f.ID, err)
		}
		a.keys = append(a.keys, c)
	}
	return a, nil
}

// Possible reports whether browsers use security keys at an origin: it must have a name and, except on one's own machine, TLS.
func (Keys) Possible(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Hostname() == "" || net.ParseIP(u.Hostname()) != nil {
		return false
	}
	return u.Scheme == "https" || u.Hostname() == "localhost" || strings.HasSuffix(u.Hostname(), ".localhost")
}

// party is this portal at an origin; EInvalid if browsers can't use security keys there.
func party(origin string) (*webauthn.WebAuthn, error) {
	u, err := url.Parse(origin)
	if err != nil || !(Keys{}).Possible(origin) {
		return nil, &app.Error{Code: app.EInvalid, Reason: "no_keys_here", Field: "key", Message: "Security keys can't be used at this address.",
			Hint: "Open Muster by its host name, over HTTPS."}
	}
	limit := webauthn.TimeoutConfig{Enforce: true, Timeout: wait, TimeoutUVD: wait}
	return webauthn.New(&webauthn.Config{
		RPID: u.Hostname(), RPDisplayName: "Muster", RPOrigins: []string{origin},
		AttestationPreference: protocol.PreferNoAttestation,
		// The password was entered already, so a touch is enough, and the key needs no room for a name.
		AuthenticatorSelection: protocol.AuthenticatorSelection{ResidentKey: protocol.ResidentKeyRequirementDiscouraged, UserVerification: protocol.VerificationDiscouraged},
		Timeouts:               webauthn.TimeoutsConfig{Login: limit, Registration: limit},
		// Some password managers send unrequested extensions, which we ignore.
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
}

// StartAdd returns the options for the browser to register a new key, and the state for FinishAdd.
func (Keys) StartAdd(origin, tenant, user string, have []identity.SecondFactor) (options string, state []byte, err error) {
	w, err := party(origin)
	if err != nil {
		return "", nil, err
	}
	a, err := accountOf(tenant, user, have)
	if err != nil {
		return "", nil, err
	}
	creation, session, err := w.BeginRegistration(a, webauthn.WithExclusions(webauthn.Credentials(a.keys).CredentialDescriptors()))
	if err != nil {
		return "", nil, fmt.Errorf("security keys: %w", err)
	}
	return pack(creation, session)
}

func pack(ask, session any) (options string, state []byte, err error) {
	b, err := json.Marshal(ask)
	if err == nil {
		state, err = json.Marshal(session)
	}
	return string(b), state, err
}

// FinishAdd checks the answer of a new key and returns the record to store.
func (Keys) FinishAdd(origin, tenant, user string, state, answer []byte) (record []byte, err error) {
	wrong := func(err error) error {
		return &app.Error{Code: app.EInvalid, Reason: "wrong_key", Field: "name", Message: "The security key wasn't accepted.", Hint: "Try again.", Err: err}
	}
	w, err := party(origin)
	if err != nil {
		return nil, err
	}
	var session webauthn.SessionData
	if err := json.Unmarshal(state, &session); err != nil {
		return nil, wrong(err)
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return nil, wrong(err)
	}
	c, err := w.CreateCredential(account{tenant: tenant, name: user}, session, parsed)
	if err != nil {
		return nil, wrong(err)
	}
	c.Attestation = webauthn.CredentialAttestation{} // not requested
	return json.Marshal(c)
}

// StartUse returns the options for the browser to use one of an account's keys, and the state for FinishUse.
func (Keys) StartUse(origin, tenant, user string, have []identity.SecondFactor) (options string, state []byte, err error) {
	w, err := party(origin)
	if err != nil {
		return "", nil, err
	}
	a, err := accountOf(tenant, user, have)
	if err != nil || len(a.keys) == 0 {
		return "", nil, err
	}
	assertion, session, err := w.BeginLogin(a)
	if err != nil {
		return "", nil, fmt.Errorf("security keys: %w", err)
	}
	return pack(assertion, session)
}

// FinishUse checks the answer of one of an account's keys, and returns the key with its new counter, to store.
func (Keys) FinishUse(origin, tenant, user string, have []identity.SecondFactor, state, answer []byte) (identity.SecondFactor, error) {
	wrong := func(message string, err error) (identity.SecondFactor, error) {
		return identity.SecondFactor{}, &app.Error{Code: app.EUnauthorized, Reason: "wrong_key", Field: "code", Message: message, Hint: "Try again, or enter a code.", Err: err}
	}
	const refused = "The security key wasn't accepted."
	w, err := party(origin)
	if err != nil {
		return identity.SecondFactor{}, err
	}
	a, err := accountOf(tenant, user, have)
	if err != nil {
		return identity.SecondFactor{}, err
	}
	var session webauthn.SessionData
	if err := json.Unmarshal(state, &session); err != nil {
		return wrong(refused, err)
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return wrong(refused, err)
	}
	c, err := w.ValidateLogin(a, session, parsed)
	if err != nil {
		return wrong(refused, err)
	}
	if c.Authenticator.CloneWarning { // its counter went back
		return wrong("This security key may have been copied.", nil)
	}
	for _, f := range have {
		var kept webauthn.Credential
		if f.Kind != identity.FactorKey || json.Unmarshal(f.Secret, &kept) != nil || string(kept.ID) != string(c.ID) {
			continue
		}
		f.Secret, err = json.Marshal(c)
		return f, err
	}
	return wrong(refused, nil)
}
