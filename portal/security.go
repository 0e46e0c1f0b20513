package portal

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"muster/portal/site"
)

// securityPath is the path of security.txt (RFC 9116).
const securityPath = "/.well-known/security.txt"

// securityLife is its validity; the RFC recommends less than a year.
const securityLife = 180 * 24 * time.Hour

// securityShow serves security.txt, without a sign-in.
func (p *Portal) securityShow(w http.ResponseWriter, r *http.Request) {
	if p.security.contact == "" {
		p.AnswerError(w, r, site.ErrNoSuchPage)
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Contact: %s\nExpires: %s\nPreferred-Languages: en\n", p.security.contact, p.Now().UTC().Add(securityLife).Truncate(24*time.Hour).Format(time.RFC3339))
	if p.URL != "" {
		fmt.Fprintf(&b, "Canonical: %s\n", p.URL+securityPath)
	}
	if p.security.policy != "" {
		fmt.Fprintf(&b, "Policy: %s\n", p.security.policy)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(b.String()))
}
