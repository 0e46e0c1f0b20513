package identity

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/identity"
	"muster/portal/page"
)

// FactorAsk is what a form asks for as second factor. Where nothing is asked for, it is the zero value.
type FactorAsk struct {
	App     bool   // the account has an authenticator app
	Options string // what browsers ask a security key, in JSON; "" where there is none
	Needed  bool
}

// label names the field for a code.
func (f FactorAsk) label() string {
	switch {
	case f.App:
		return "Code from your authenticator app, or a recovery code"
	case f.Options != "":
		return "Or enter a recovery code"
	}
	return "Recovery code"
}

// Pending is the second page of a sign-in.
type Pending struct {
	User      string
	Factor    FactorAsk
	Complaint page.Complaint
}

// SecondFactors is the page of one's own second factors.
type SecondFactors struct {
	identity.SecondFactors
	Must      bool // nothing else can be done before
	Options   string
	KeysNeed  KeysNeed // before a key can be added
	Name      string   // of a key that was not added
	Now       time.Time
	Done      string
	Complaint page.Complaint
}

// KeysNeed is what adding a security key needs first; "" for nothing, or where keys can't be added at all.
type KeysNeed string

// What may be needed.
const (
	keysNeedName  KeysNeed = "name"  // another address of the portal
	KeysNeedProof KeysNeed = "proof" // of who it is
)

// NewApp is the page on which an authenticator app is set up.
type NewApp struct {
	User, Issuer, Secret string
	Code                 string // that was not right
	Complaint            page.Complaint
}

// uri is what apps read from the QR code; its form is https://github.com/google/google-authenticator/wiki/Key-Uri-Format.
func (n NewApp) uri() string {
	q := url.Values{"secret": {n.Secret}, "issuer": {n.Issuer}}
	return "otpauth://totp/" + url.PathEscape(n.Issuer+":"+n.User) + "?" + strings.ReplaceAll(q.Encode(), "+", "%20")
}

// fours parts a secret so that people can type it.
func (n NewApp) fours() string {
	var b strings.Builder
	for i, r := range n.Secret {
		if i > 0 && i%4 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Codes is the page that shows recovery codes, once.
type Codes struct {
	Codes []string
	First bool   // they came with the first second factor
	Next  string // the page that was wanted before; "" for that of the second factors
}

// factorName is a kind of second factor in a sentence.
func factorName(k app.FactorKind) string {
	switch k {
	case identity.FactorApp:
		return "authenticator app"
	case identity.FactorKey:
		return "security key"
	case identity.FactorRecovery:
		return "recovery code"
	}
	return string(k)
}

// factorUsed says when one was used.
func factorUsed(now time.Time, f identity.SecondFactor) string {
	if f.UsedAt.IsZero() {
		return "never used to sign in"
	}
	return "last used " + humanize.Ago(now, f.UsedAt)
}

// codesLeft says how many recovery codes there are.
func codesLeft(n int) string {
	if n == 0 {
		return "No recovery codes left"
	}
	return fmt.Sprintf("%s left", humanize.Count(n, "recovery code"))
}
