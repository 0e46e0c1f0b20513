package secret

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"regexp"
	"strings"
)

// A generated secret is a password that no one sets: ${secret:generated/NAME} in the configuration or the actions of a catalog. It is
// another one in every cluster, the same on all of its nodes and for all of its life, and gone with the cluster.
//
// It follows from the cluster's own SSH key and the name, so that there is nothing to keep, seal, rotate or wipe beside that key. Anyone who
// has that key is root on all nodes anyway.
const generatedPrefix = "generated/"

// GeneratedSecretName is the form of the names of generated secrets, after "generated/".
const GeneratedSecretName = `[a-z][a-z0-9_]{0,63}`

var generatedSecretName = regexp.MustCompile(`^` + generatedPrefix + GeneratedSecretName + `$`)

// IsGenerated reports whether what a reference names is a generated secret.
func IsGenerated(name string) bool { return generatedSecretName.MatchString(name) }

// CutGenerated parts the names of generated secrets from those of the tenant's.
func CutGenerated(names []string) (set, generated []string) {
	for _, n := range names {
		if IsGenerated(n) {
			generated = append(generated, n)
		} else {
			set = append(set, n)
		}
	}
	return set, generated
}

// GeneratedValues returns what the names stand for in the cluster that has the key: 26 characters of a-z and 2-7, with 128 bits.
// Nothing for none, and where there is no key.
func GeneratedValues(key []byte, names []string) map[string]string {
	out := make(map[string]string, len(names))
	if len(key) == 0 {
		return out
	}
	for _, n := range names {
		h := hmac.New(sha256.New, key)
		h.Write([]byte("muster secret " + strings.TrimPrefix(n, generatedPrefix)))
		out[n] = strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil)[:16]))
	}
	return out
}
