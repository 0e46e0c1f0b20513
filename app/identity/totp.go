package identity

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"time"
)

// Time-based one-time passwords (RFC 6238) as authenticator apps show them: SHA-1, six digits, a new code every 30 seconds. Other values exist, but many apps
// ignore them.
const (
	totpDigits = 6
	totpPeriod = 30
	totpSkew   = 1  // steps that a phone's clock may be off, either way
	totpSecret = 20 // bytes, as many as SHA-1 has; RFC 4226 asks for at least 16
)

// newTOTPSecret returns a random secret to share with an app.
func newTOTPSecret() []byte {
	secret := make([]byte, totpSecret)
	_, _ = rand.Read(secret) // never fails: crypto/rand ends the process instead
	return secret
}

// totpText writes a secret as apps read it.
func totpText(secret []byte) string {
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret)
}

func totpStep(at time.Time) int64 { return at.Unix() / totpPeriod }

// totpCode returns the code of a time step (RFC 4226, section 5.3).
func totpCode(secret []byte, step int64, digits int) string {
	mac := hmac.New(sha1.New, secret)
	_ = binary.Write(mac, binary.BigEndian, step) // a hash accepts everything
	sum := mac.Sum(nil)
	n := binary.BigEndian.Uint32(sum[sum[len(sum)-1]&15:]) & 0x7fffffff
	mod := uint32(1)
	for range digits {
		mod *= 10
	}
	return fmt.Sprintf("%0*d", digits, n%mod)
}

// totpMatch returns the time step whose code this is, if it is one of now or of a clock that is slightly off. All steps are compared, so that the
// time taken doesn't
// tell which one matched.
func totpMatch(secret []byte, code string, now time.Time) (step int64, ok bool) {
	for s := totpStep(now) - totpSkew; s <= totpStep(now)+totpSkew; s++ {
		if subtle.ConstantTimeCompare([]byte(totpCode(secret, s, totpDigits)), []byte(code)) == 1 {
			step, ok = s, true
		}
	}
	return step, ok
}
