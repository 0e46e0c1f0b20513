package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
)

// Argon2id with the parameters that OWASP recommends: 19 MiB, two passes, one lane.
const (
	argonMemory = 19 * 1024 // KiB
	argonTime   = 2
	argonLanes  = 1
	argonKey    = 32
	maxPassword = 1024 // bytes
)

// hashes limits how many passwords are hashed at the same time, and so how much memory strangers can make us use.
var hashes = make(chan struct{}, 4)

// HashPassword returns the argon2id hash in PHC string form.
func HashPassword(password string) string {
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // never fails: crypto/rand ends the process instead
	return phc(salt, argon(password, salt))
}

func argon(password string, salt []byte) []byte {
	hashes <- struct{}{}
	defer func() { <-hashes }()
	return argon2.IDKey([]byte(password), salt, argonTime, argonMemory, argonLanes, argonKey)
}

func phc(salt, key []byte) string {
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonLanes, b64(salt), b64(key))
}

// passwordFits compares in constant time. An empty or foreign hash fits nothing, after the same amount of work, so that
// the time taken does not tell whether an account exists.
func passwordFits(hash, password string) bool {
	if len(password) > maxPassword {
		return false
	}
	salt := make([]byte, 16)
	parts := strings.Split(hash, "$")
	if len(parts) == 6 {
		if s, err := base64.RawStdEncoding.DecodeString(parts[4]); err == nil {
			salt = s
		}
	}
	return subtle.ConstantTimeCompare([]byte(phc(salt, argon(password, salt))), []byte(hash)) == 1
}

// NewPassword returns a random password that people can type: 26 letters and digits, 130 bits.
func NewPassword() string { return strings.ToLower(rand.Text()) }

// NewToken returns a random API token.
func NewToken() string { return "muster_" + strings.ToLower(rand.Text()+rand.Text()) }

// HashToken is what is kept of a token. Tokens are random, so a plain hash is enough.
func HashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}
