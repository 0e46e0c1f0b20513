package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"time"
)

// The headers of Standard Webhooks.
const (
	HeaderID        = "Webhook-Id"
	HeaderTimestamp = "Webhook-Timestamp"
	HeaderSignature = "Webhook-Signature"
)

// Sign returns the value of the header webhook-signature: of each secret one signature over id, time (in Unix seconds) and
// body.
func Sign(id string, at time.Time, body []byte, secrets ...[]byte) string {
	var all []string
	for _, secret := range secrets {
		m := hmac.New(sha256.New, secret)
		fmt.Fprintf(m, "%s.%d.", id, at.Unix())
		m.Write(body)
		all = append(all, "v1,"+base64.StdEncoding.EncodeToString(m.Sum(nil)))
	}
	return strings.Join(all, " ")
}
