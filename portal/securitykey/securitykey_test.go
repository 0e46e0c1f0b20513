package securitykey

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"

	"muster/app"
	"muster/app/identity"
)

const here = "https://muster.example.org"

// device is a security key that follows the WebAuthn specification.
type device struct {
	key   *ecdsa.PrivateKey
	id    []byte
	count uint32
}

func newDevice(t *testing.T) *device {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &device{key: key, id: []byte("credential of " + t.Name())[:24]}
}

var b64 = base64.RawURLEncoding.EncodeToString

// challenge reads the challenge of a page's options.
func challenge(t *testing.T, options string) string {
	t.Helper()
	var o struct {
		PublicKey struct{ Challenge string }
	}
	if err := json.Unmarshal([]byte(options), &o); err != nil {
		t.Fatal(err)
	}
	return o.PublicKey.Challenge
}

func client(what, challenge, origin string) []byte {
	b, _ := json.Marshal(map[string]any{"type": what, "challenge": challenge, "origin": origin, "crossOrigin": false})
	return b
}

// data is the authenticator data: site, user presence, counter, and at registration the key.
func (d *device) data(site string, first bool) []byte {
	d.count++
	sum := sha256.Sum256([]byte(site))
	out := append(sum[:], 1) // user present
	out = binary.BigEndian.AppendUint32(out, d.count)
	if !first {
		return out
	}
	out[32] |= 0x40 // with a credential
	out = append(out, make([]byte, 16)...)
	out = binary.BigEndian.AppendUint16(out, uint16(len(d.id)))
	out = append(out, d.id...)
	point, _ := d.key.PublicKey.Bytes() // 4, x, y
	// A COSE key in CBOR: {1: 2, 3: -7, -1: 1, -2: x, -3: y}
	out = append(out, 0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32)
	out = append(out, point[1:33]...)
	out = append(out, 0x22, 0x58, 32)
	return append(out, point[33:]...)
}

func (d *device) add(challenge, site, origin string) []byte {
	data := d.data(site, true)
	// {"fmt": "none", "attStmt": {}, "authData": data}
	object := append([]byte{0xa3, 0x63}, "fmt\x64none\x67attStmt\xa0\x68authData\x59"...)
	object = binary.BigEndian.AppendUint16(object, uint16(len(data)))
	object = append(object, data...)
	b, _ := json.Marshal(map[string]any{"id": b64(d.id), "rawId": b64(d.id), "type": "public-key", "clientExtensionResults": map[string]any{},
		"response": map[string]any{"clientDataJSON": b64(client("webauthn.create", challenge, origin)), "attestationObject": b64(object)}})
	return b
}

func (d *device) use(challenge, site, origin string) []byte {
	data, asked := d.data(site, false), client("webauthn.get", challenge, origin)
	sum := sha256.Sum256(asked)
	all := sha256.Sum256(append(append([]byte{}, data...), sum[:]...))
	signature, _ := ecdsa.SignASN1(rand.Reader, d.key, all[:])
	b, _ := json.Marshal(map[string]any{"id": b64(d.id), "rawId": b64(d.id), "type": "public-key", "clientExtensionResults": map[string]any{},
		"response": map[string]any{"clientDataJSON": b64(asked), "authenticatorData": b64(data), "signature": b64(signature)}})
	return b
}

// added is ada's key.
func added(t *testing.T, d *device) identity.SecondFactor {
	t.Helper()
	options, state, err := Keys{}.StartAdd(here, "default", "ada", nil)
	if err != nil {
		t.Fatal(err)
	}
	record, err := Keys{}.FinishAdd(here, "default", "ada", state, d.add(challenge(t, options), "muster.example.org", here))
	if err != nil {
		t.Fatal(err)
	}
	return identity.SecondFactor{ID: "k1", Kind: identity.FactorKey, Secret: record}
}

func TestAnswersOfSecurityKeys(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(d *device, ask, site, origin *string)
		user   string
		right  bool
	}{
		{"the right one", func(*device, *string, *string, *string) {}, "ada", true},
		{"to another challenge", func(_ *device, ask, _, _ *string) { *ask = b64(make([]byte, 32)) }, "ada", false},
		{"at another site", func(_ *device, _, site, _ *string) { *site = "muster.example.com" }, "ada", false},
		{"from another site's page", func(_ *device, _, _, origin *string) { *origin = "https://muster.example.com" }, "ada", false},
		{"without TLS", func(_ *device, _, _, origin *string) { *origin = "http://muster.example.org" }, "ada", false},
		{"of another account", func(*device, *string, *string, *string) {}, "eve", false},
		{"by another key that says it is this one", func(d *device, _, _, _ *string) {
			d.key, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		}, "ada", false},
		{"by a key that is not known", func(d *device, _, _, _ *string) { d.id = []byte("another one") }, "ada", false},
		{"by a copy, whose counter is behind", func(d *device, _, _, _ *string) { d.count = 0 }, "ada", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDevice(t)
			k := added(t, d)
			options, state, err := Keys{}.StartUse(here, "default", "ada", []identity.SecondFactor{k})
			if err != nil {
				t.Fatal(err)
			}
			ask, site, origin := challenge(t, options), "muster.example.org", here
			c.change(d, &ask, &site, &origin)
			got, err := Keys{}.FinishUse(here, "default", c.user, []identity.SecondFactor{k}, state, d.use(ask, site, origin))
			if c.right != (err == nil) || c.right && got.ID != "k1" {
				t.Fatalf("%+v, %v", got, err)
			}
			if !c.right && app.CodeOf(err) != app.EUnauthorized {
				t.Errorf("the code is %s", app.CodeOf(err))
			}
			if c.right && string(got.Secret) == string(k.Secret) {
				t.Error("its counter isn't stored")
			}
		})
	}
}

func TestAnswersOfNewSecurityKeys(t *testing.T) {
	options, state, err := Keys{}.StartAdd(here, "default", "ada", nil)
	if err != nil {
		t.Fatal(err)
	}
	ask, d := challenge(t, options), newDevice(t)
	for name, answer := range map[string][]byte{
		"nothing": nil, "no JSON": []byte("{"), "another challenge": d.add(b64(make([]byte, 32)), "muster.example.org", here),
		"another site": d.add(ask, "muster.example.com", here), "another origin": d.add(ask, "muster.example.org", "https://example.org"),
		"a use": d.use(ask, "muster.example.org", here),
	} {
		if _, err := (Keys{}).FinishAdd(here, "default", "ada", state, answer); app.CodeOf(err) != app.EInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (Keys{}).FinishAdd(here, "default", "ada", nil, d.add(ask, "muster.example.org", here)); app.CodeOf(err) != app.EInvalid {
		t.Errorf("no registration started: %v", err)
	}
	if _, err := (Keys{}).FinishAdd(here, "default", "eve", state, d.add(ask, "muster.example.org", here)); app.CodeOf(err) != app.EInvalid {
		t.Errorf("another account: %v", err)
	}
}

func TestWhereSecurityKeysArePossible(t *testing.T) {
	for origin, want := range map[string]bool{
		here: true, "https://muster.example.org:8443": true, "http://localhost:8080": true, "http://muster.localhost": true,
		"http://muster.example.org": false, "https://192.0.2.7": false, "http://127.0.0.1:8080": false, "https://[2001:db8::1]": false, "": false, ":": false,
	} {
		if got := (Keys{}).Possible(origin); got != want {
			t.Errorf("%q: %v", origin, got)
		}
	}
}
