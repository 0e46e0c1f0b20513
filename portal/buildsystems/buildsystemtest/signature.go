package buildsystemtest

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"maps"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/build"
)

// refused reports whether an error turns a delivery away: not signed, signed wrongly, or with headers that make no sense.
func refused(err error) bool {
	code := app.CodeOf(err)
	return code == app.EUnauthorized || code == app.EInvalid
}

func (m Member) badSignatures(t *testing.T, s Scheme, body []byte) {
	secret := m.Secret(0)
	good := m.headers(s, secret, "id-1", now, body)
	with := func(value string) map[string]string {
		h := maps.Clone(good)
		h[s.Header] = value
		return h
	}
	if _, err := m.verify(with(""), body, secret); app.CodeOf(err) != app.EUnauthorized || app.AsError(err).Reason != "unsigned" || app.AsError(err).Field == "" {
		t.Errorf("without a signature: %v", err)
	}
	sum := hmac.New(sha256.New, []byte(secret))
	sum.Write(body)
	old := hmac.New(sha1.New, []byte(secret))
	old.Write(body)
	mac := sum.Sum(nil)
	for _, value := range []string{
		" ", "x", ",", "=", "v1", "v1,", "v1=", "sha256=", "timestamp=,signature=", "timestamp=1,signature=", "null", "\x00", strings.Repeat("a", 4000), strings.Repeat("v1,a ", 700),
		good[s.Header] + "0", " " + good[s.Header] + ".", strings.ToUpper(good[s.Header]),
		"sha1=" + hex.EncodeToString(old.Sum(nil)), hex.EncodeToString(mac), base64.StdEncoding.EncodeToString(mac), "v0=" + hex.EncodeToString(mac),
		"v1a," + base64.StdEncoding.EncodeToString(mac), "SHA256=" + hex.EncodeToString(mac), "sha256=" + strings.ToUpper(hex.EncodeToString(mac)),
	} {
		if value == good[s.Header] {
			continue
		}
		if _, err := m.verify(with(value), body, secret); !refused(err) {
			t.Errorf("with the signature %.80q: %v", value, err)
		}
	}
	for i := range good[s.Header] {
		b := []byte(good[s.Header])
		b[i] ^= 1
		if _, err := m.verify(with(string(b)), body, secret); !refused(err) {
			t.Errorf("with byte %d of the signature changed: %v", i, err)
		}
	}
	// What other systems send, signed with the very secret, is nothing here.
	for name, value := range map[string]string{
		"X-Hub-Signature-256": "sha256=" + hex.EncodeToString(mac), "X-Hub-Signature": "sha1=" + hex.EncodeToString(old.Sum(nil)), "Circleci-Signature": "v1=" + hex.EncodeToString(mac),
		"X-Gitlab-Token": secret, "X-Buildkite-Token": secret, "Authorization": "Bearer " + secret, "X-Token": secret,
	} {
		mine := false
		for _, own := range m.Schemes {
			mine = mine || strings.EqualFold(own.Header, name)
		}
		if _, err := m.verify(map[string]string{name: value, "Content-Type": "application/json"}, body, secret); !mine && app.CodeOf(err) != app.EUnauthorized {
			t.Errorf("signed in %s alone: %v", name, err)
		}
	}
	if _, err := m.Systems.Verify("unknown", func(string) string { return "" }, body, []string{secret}, now); app.CodeOf(err) != app.ENotFound {
		t.Errorf("a system that is not known: %v", err)
	}
}

// rotation takes the old secret and the new one, and no other.
func (m Member) rotation(t *testing.T, s Scheme, body []byte) {
	fresh, old, other := m.Secret(1), m.Secret(0), m.Secret(2)
	for _, secret := range []string{fresh, old} {
		if _, err := m.verify(m.headers(s, secret, "id-1", now, body), body, fresh, old); err != nil {
			t.Errorf("while a secret is replaced: %v", err)
		}
	}
	for name, secrets := range map[string][]string{"another secret": {other}, "the new one alone": {fresh}, "no secret": nil, "an empty one": {""}, "one that is no secret": {"whsec_"}} {
		if _, err := m.verify(m.headers(s, old, "id-1", now, body), body, secrets...); app.CodeOf(err) != app.EUnauthorized {
			t.Errorf("with %s: %v", name, err)
		}
	}
	for _, nothing := range []string{"", "whsec_"} {
		if nothing != "" && !s.ID {
			continue // elsewhere it is a word like any other
		}
		if _, err := m.verify(m.headers(s, nothing, "id-1", now, body), body, nothing); app.CodeOf(err) != app.EUnauthorized {
			t.Errorf("signed with nothing, %q: %v", nothing, err)
		}
	}
}

// times holds signed times to the clock.
func (m Member) times(t *testing.T, s Scheme, body []byte) {
	if !s.Timed {
		return
	}
	secret := m.Secret(0)
	for by, ok := range map[time.Duration]bool{
		-build.ClockSkew: true, build.ClockSkew: true, 0: true,
		-build.ClockSkew - time.Second: false, build.ClockSkew + time.Second: false, -24 * time.Hour: false, 24 * 365 * 100 * time.Hour: false,
	} {
		_, err := m.verify(m.headers(s, secret, "id-1", now.Add(by), body), body, secret)
		if ok && err != nil || !ok && (app.CodeOf(err) != app.EUnauthorized || app.AsError(err).Reason != "time") {
			t.Errorf("sent %v from now: %v", by, err)
		}
	}
}

// repeats knows a delivery again that is sent again, whatever is not signed, and no other.
func (m Member) repeats(t *testing.T, s Scheme, body []byte) {
	secret := m.Secret(0)
	unique := func(id string, at time.Time, body []byte, more map[string]string) string {
		h := m.headers(s, secret, id, at, body)
		maps.Copy(h, more)
		d, err := m.verify(h, body, secret, m.Secret(1))
		if err != nil {
			t.Fatal(err)
		}
		return d.Unique
	}
	first := unique("id-1", now, body, nil)
	for name, again := range map[string]string{
		"at once": unique("id-1", now, body, nil), "a minute later": unique("id-1", now.Add(time.Minute), body, nil),
		"with other unsigned numbers": unique("id-1", now, body, map[string]string{"X-GitHub-Delivery": "other", "X-Gitlab-Event-UUID": "other", "X-Buildkite-Request": "other", "Idempotency-Key": "other"}),
	} {
		if again != first {
			t.Errorf("sent again %s it counts as another delivery", name)
		}
	}
	if other := append([]byte(" "), body...); unique("id-1", now, other, nil) == first {
		t.Error("another body counts as the same delivery")
	}
	if (unique("id-2", now, body, nil) != first) != s.ID {
		t.Error("the same body under another id: an id that is signed makes another delivery, one that is not does not")
	}
}

func (m Member) tooMuch(t *testing.T, s Scheme, body []byte) {
	secret := m.Secret(0)
	large := append(append([]byte{}, body...), []byte(strings.Repeat(" ", build.MaxBuildBody))...)
	if _, err := m.verify(m.headers(s, secret, "id-1", now, large), large, secret); app.CodeOf(err) != app.ETooLarge {
		t.Errorf("a body that is too large: %v", err)
	}
	h := m.headers(s, secret, "id-1", now, body)
	h[s.Header] = strings.Repeat("a", 1<<20)
	if _, err := m.verify(h, body, secret); app.CodeOf(err) != app.EInvalid {
		t.Errorf("a header that is too long: %v", err)
	}
}
