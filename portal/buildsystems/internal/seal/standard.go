package seal

import (
	"encoding/base64"
	"strings"
	"time"

	"muster/app"
	"muster/app/webhook"
)

// The headers of Standard Webhooks.
const (
	standardID        = "Webhook-Id"
	standardTimestamp = "Webhook-Timestamp"
	StandardSignature = "Webhook-Signature"
)

// StandardScheme is its name in docs.
const StandardScheme = "Standard Webhooks: HMAC-SHA256 over id, time and body in webhook-signature"

const maxSignatures = 10

// Standard verifies a delivery signed with Standard Webhooks, and returns its signed ID and time. Secrets without the form whsec_ and
// base64 never match.
func (r Request) Standard() (id string, at time.Time, err error) {
	given := r.Header(StandardSignature)
	if given == "" {
		return "", time.Time{}, Missing(StandardSignature, "Sign deliveries with this hook's secret as described at standardwebhooks.com.")
	}
	id, stamp := r.Header(standardID), r.Header(standardTimestamp)
	for _, h := range [][2]string{{standardID, id}, {standardTimestamp, stamp}} {
		if h[1] == "" {
			return "", time.Time{}, Missing(h[0], "")
		}
	}
	// Without dots in the ID, the signed content is unambiguous.
	if len(id) > 256 || strings.ContainsFunc(id, notInID) {
		return "", time.Time{}, &app.Error{Code: app.EInvalid, Reason: "header", Field: standardID, Message: "The ID in " + standardID + " must be at most 256 letters, digits, - and _."}
	}
	if strings.HasPrefix(id, app.BuildCallbackMark) {
		return "", time.Time{}, &app.Error{Code: app.EInvalid, Reason: "header", Field: standardID, Message: "The ID in " + standardID + " belongs to one of Muster's own callbacks."}
	}
	if at, err = Time(standardTimestamp, stamp); err != nil {
		return "", time.Time{}, err
	}
	fits := false
	for i, one := range strings.Split(given, " ") {
		mac, v1 := strings.CutPrefix(one, "v1,")
		if !v1 || mac == "" || i >= maxSignatures {
			continue
		}
		one := r.fits(mac, func(secret string) string {
			text, marked := strings.CutPrefix(secret, webhook.HookSecretMark)
			key, err := base64.StdEncoding.DecodeString(text)
			if !marked || err != nil || len(key) == 0 {
				return "" // mac is not empty
			}
			return base64.StdEncoding.EncodeToString(sum(key, []byte(id+"."+stamp+"."), r.Body))
		})
		fits = fits || one
	}
	if !fits {
		return "", time.Time{}, Wrong(StandardSignature)
	}
	if err := r.Fresh(standardTimestamp, at); err != nil {
		return "", time.Time{}, err
	}
	return id, at, nil
}

func notInID(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_'
}
