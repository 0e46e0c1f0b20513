package identity

import (
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/identity"
	"muster/portal/page"
)

// Account is the page of one's own account.
type Account struct {
	Actor      app.Actor
	Home       string            // the tenant of the account
	Provider   string            // the identity provider that the sign-in came by; "" for a password
	Labels     map[string]string // of identity providers, by name
	Sessions   []identity.Session
	Identities []identity.Identity
	Tokens     []identity.Token
	Factors    identity.SecondFactors
	Now        time.Time
	Done       string // what was just done
}

// others counts the sign-ins beside this one.
func (a Account) others() int {
	n := 0
	for _, s := range a.Sessions {
		if !s.This {
			n++
		}
	}
	return n
}

// here tells whether a sign-in is in use now, as far as that is known: to the minute.
func (a Account) here(s identity.Session) bool { return s.This || a.Now.Sub(s.SeenAt) < 2*time.Minute }

// came says how a sign-in began.
func (a Account) came(s identity.Session) string {
	switch {
	case s.How != identity.ByOIDC && s.Second != "":
		return "by password and " + factorName(s.Second)
	case s.How != identity.ByOIDC:
		return "by password"
	case a.Labels[s.Provider] != "":
		return "by " + a.Labels[s.Provider]
	}
	return "by " + s.Provider
}

// fromWhere says where a sign-in came from.
func fromWhere(s identity.Session) string {
	if s.From == "" {
		return "an unknown address"
	}
	return s.From
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// kindName is a kind of identity for people.
func kindName(kind string) string {
	if kind == "slack" {
		return "Slack"
	}
	return kind
}

// scopesOf says what a token may do.
func scopesOf(t identity.Token) string {
	if len(t.Scopes) == 0 {
		return "all"
	}
	words := make([]string, len(t.Scopes))
	for i, s := range t.Scopes {
		words[i] = string(s)
	}
	return strings.Join(words, ", ")
}

// Password is the page on which one's password is changed.
type Password struct {
	User      string
	Must      bool // nothing else can be done before
	Least     int  // characters
	Field     string
	Complaint page.Complaint
}

func (p Password) at(field string) page.Complaint {
	if p.Field != field {
		return page.Complaint{}
	}
	return p.Complaint
}

// StepUp is the page on which someone proves again who they are. With a Path that is done there.
type StepUp struct {
	Next        string
	Label, Path string
	Factor      FactorAsk
	Kept        bool // what was asked for is at hand afterwards
	Field       string
	Complaint   page.Complaint
}

func (s StepUp) at(field string) page.Complaint {
	if (s.Field == "code") != (field == "code") {
		return page.Complaint{}
	}
	return s.Complaint
}

// KeptForm is a form that was sent before a proof was asked for, to be sent again.
type KeptForm struct {
	To, Back string
	Fields   []KeptField
}

// KeptField is one value of it.
type KeptField struct{ Name, Value string }

// shown are the fields that say something to people.
func (k KeptForm) shown() (some []KeptField) {
	for _, f := range k.Fields {
		if f.Value != "" {
			some = append(some, KeptField{f.Name, humanize.CutText(f.Value, 200)})
		}
	}
	return some
}

// Link is the page on which an identity elsewhere is tied to an account.
type Link struct {
	Kind, External, Label, Token string
	Ends                         time.Duration
}

// NewToken is the page on which an API token of one's own is made; with Made it shows that one.
type NewToken struct {
	Label, Days string
	Scopes      []app.Scope // that can be had
	Chosen      []app.Scope
	Made        string
	Field       string
	Complaint   page.Complaint
}

func (t NewToken) at(field string) page.Complaint {
	if t.Field != field {
		return page.Complaint{}
	}
	return t.Complaint
}

func (t NewToken) has(s app.Scope) bool { return s == app.ScopeRead || slices.Contains(t.Chosen, s) }

// scopeWords says what a scope lets a token do.
func scopeWords(s app.Scope) string {
	switch s {
	case app.ScopeRead:
		return "look at what you see"
	case app.ScopeCluster:
		return "ask for clusters and change them"
	case app.ScopeApprove:
		return "decide on requests"
	case app.ScopeAdmin:
		return "look after the tenant"
	}
	return string(s)
}
