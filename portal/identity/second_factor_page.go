package identity

import (
	"net/url"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/identity"
	"muster/portal/page"
)

// FactorAsk is the part of a form that asks for a second factor; the zero value asks for none.
type FactorAsk struct {
	App     bool   // the account has an authenticator app
	Options string // challenge for a security key, in JSON; "" for no key
	Needed  bool
}

// label is the label of the code field.
func (f FactorAsk) label() string {
	switch {
	case f.App:
		return "Code from your authenticator app, or recovery code"
	case f.Options != "":
		return "Or enter a recovery code"
	}
	return "Recovery code"
}

// Pending is the second page of sign-in.
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
	KeysNeed  KeysNeed // what adding a key needs
	Name      string   // of a key that was not added
	Now       time.Time
	Done      string
	Complaint page.Complaint
}

// KeysNeed is a precondition for adding a security key; "" for none, or where keys can't be added at all.
type KeysNeed string

// Preconditions.
const (
	keysNeedName  KeysNeed = "name"  // a host name as the portal's address
	KeysNeedProof KeysNeed = "proof" // recent authentication
)

// NewApp is the page on which an authenticator app is set up.
type NewApp struct {
	User, Issuer, Secret string
	Code                 string // that was wrong
	Complaint            page.Complaint
}

// uri is what apps read from the QR code; its form is https://github.com/google/google-authenticator/wiki/Key-Uri-Format.
func (n NewApp) uri() string {
	q := url.Values{"secret": {n.Secret}, "issuer": {n.Issuer}}
	return "otpauth://totp/" + url.PathEscape(n.Issuer+":"+n.User) + "?" + strings.ReplaceAll(q.Encode(), "+", "%20")
}

// fours groups a secret by four characters, to type it.
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
	Next  string // page to return to; "" for the list of second factors
}

// factorName names a kind of second factor in a sentence.
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

// factorUsed says when a second factor was last used.
func factorUsed(now time.Time, f identity.SecondFactor) string {
	if f.UsedAt.IsZero() {
		return "never used to sign in"
	}
	return "last used " + humanize.Ago(now, f.UsedAt)
}

// codesLeft says how many recovery codes are left.
func codesLeft(n int) string {
	if n == 0 {
		return "No recovery codes left"
	}
	return humanize.Count(n, "recovery code") + " left"
}
