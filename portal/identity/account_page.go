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
	Home       string            // tenant of the account
	Provider   string            // label of the session's identity provider or directory; "" for a password in Muster
	Labels     map[string]string // of identity providers and directories, by name
	Sessions   []identity.Session
	Identities []identity.Identity
	Tokens     []identity.Token
	Factors    identity.SecondFactors
	Email      EmailForm
	Now        time.Time
	Done       string // message about the last action
}

// others counts the other sessions.
func (a Account) others() int {
	n := 0
	for _, s := range a.Sessions {
		if !s.This {
			n++
		}
	}
	return n
}

// here reports whether a session is in use now; last use is known to the minute.
func (a Account) here(s identity.Session) bool { return s.This || a.Now.Sub(s.SeenAt) < 2*time.Minute }

// came says how a session started.
func (a Account) came(s identity.Session) string {
	switch {
	case s.Provider == "" && s.Second != "":
		return "signed in with password and " + factorName(s.Second)
	case s.Provider == "":
		return "signed in with password"
	case a.Labels[s.Provider] != "":
		return "signed in with " + a.Labels[s.Provider]
	}
	return "signed in with " + s.Provider
}

// fromWhere is the address of a session.
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

// kindName is the display name of a kind of identity.
func kindName(kind string) string {
	if kind == "slack" {
		return "Slack"
	}
	return kind
}

// scopesOf lists the scopes of a token.
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

// Password is the page that changes one's own password.
type Password struct {
	User      string
	Must      bool // the password must be changed before anything else
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

// StepUp is the page on which people re-authenticate; with a Path, at an identity provider.
type StepUp struct {
	Next        string
	Label, Path string // without Path: the directory whose password is asked for
	Factor      FactorAsk
	Kept        bool // the submitted form is kept
	Field       string
	Complaint   page.Complaint
}

func (s StepUp) at(field string) page.Complaint {
	if (s.Field == "code") != (field == "code") {
		return page.Complaint{}
	}
	return s.Complaint
}

// passwordLabel says which password is asked for.
func (s StepUp) passwordLabel() string {
	if s.Label != "" {
		return "Password of " + s.Label
	}
	return "Password"
}

// KeptForm is a form that was submitted before its sender re-authenticated, to be submitted again.
type KeptForm struct {
	To, Back string
	Fields   []KeptField
}

// KeptField is a value of a kept form.
type KeptField struct{ Name, Value string }

// shown are the fields with a value.
func (k KeptForm) shown() (some []KeptField) {
	for _, f := range k.Fields {
		if f.Value != "" {
			some = append(some, KeptField{f.Name, humanize.CutText(f.Value, 200)})
		}
	}
	return some
}

// Link is the page on which an identity elsewhere is linked to an account.
type Link struct {
	Kind, External, Label, Token string
	Ends                         time.Duration
}

// NewToken is the page that creates an API token of one's own; with Made, it shows the new token.
type NewToken struct {
	Label, Days string
	Scopes      []app.Scope // that the user can grant
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

// scopeWords describes a scope in a list of checkboxes.
func scopeWords(s app.Scope) string {
	switch s {
	case app.ScopeRead:
		return "View everything you can see"
	case app.ScopeCluster:
		return "Request and change clusters"
	case app.ScopeApprove:
		return "Approve and deny requests"
	case app.ScopeAdmin:
		return "Administer the tenant"
	}
	return string(s)
}
