package portal

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"muster/app/identity"
	"muster/app/notification"
)

// emailToken is the token in the link that is emailed next.
func (w *userSite) emailToken() url.Values {
	w.t.Helper()
	due, _, err := w.store.ClaimEmails(w.t.Context(), notification.EmailClaim{Holder: "m", Now: w.clock.now(), For: time.Minute, Most: 10})
	if err != nil || len(due) != 1 {
		w.t.Fatalf("%d emails are due: %v", len(due), err)
	}
	if err := w.store.EndEmail(w.t.Context(), notification.EmailEnd{Email: due[0], State: notification.EmailSent}); err != nil {
		w.t.Fatal(err)
	}
	return url.Values{"token": {due[0].Address.Token}}
}

func TestPeopleChangeTheirEmailAddress(t *testing.T) {
	w := newUserSite(t)
	w.post("/signin", url.Values{"user": {"ada"}, "password": {horse}})
	w.get("/account").reads(http.StatusOK, "No email address", "Email isn't set up on this server", "Ask an admin")
	if err := w.store.KeepEmail(t.Context(), "s", w.clock.now()); err != nil {
		t.Fatal(err)
	}
	w.get("/account").reads(http.StatusOK, "No email address", "Add address")
	w.post("/account/email", url.Values{"email": {"Ada <ada@example.com>"}}).reads(http.StatusUnprocessableEntity, "Invalid email address")
	w.post("/account/email/resend", nil).reads(http.StatusConflict, "No address waits for confirmation")
	w.post("/account/email", url.Values{"email": {"ada@example.com"}}, "Sec-Fetch-Site", "cross-site").reads(http.StatusForbidden, "another site")
	if a := w.post("/account/email", url.Values{"email": {" ada@example.com "}}); a.header.Get("Location") != "/account#email" {
		t.Fatalf("%d: %s", a.status, a.text())
	}
	w.get("/account").reads(http.StatusOK, "Waiting for confirmation of ada@example.com", "Send again", "Cancel")
	token := w.emailToken()
	path := "/account/email/confirm?" + token.Encode()
	w.get(path).reads(http.StatusOK, "Confirm your email address", "ada@example.com", "Confirm address")
	w.get("/account").reads(http.StatusOK, "Waiting for confirmation of ada@example.com") // opening it confirms nothing
	w.post("/account/email/confirm", token)
	w.get("/account").reads(http.StatusOK, "ada@example.com is now your email address", "Notifications are emailed to ada@example.com")
	w.get(path).reads(http.StatusConflict, "This link doesn't work")
	w.post("/account/email/confirm", token).reads(http.StatusConflict, "This link doesn't work")

	// The limit is said on the page.
	for i := range identity.MostPersonEmails - 1 {
		w.post("/account/email", url.Values{"email": {fmt.Sprintf("ada%d@example.org", i)}})
		w.post("/account/email/cancel", nil)
	}
	w.post("/account/email", url.Values{"email": {"ada@example.net"}}).reads(http.StatusTooManyRequests, "which is the limit", "Try again in")
}
