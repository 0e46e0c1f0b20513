package ldap

import (
	"context"
	"slices"
	"strings"

	"muster/app"
	"muster/app/identity"

	"github.com/go-ldap/ldap/v3"
)

// Check connects, binds and searches as a sign-in does. It returns an error that says what to correct.
func (d *Directory) Check(ctx context.Context) error { return forOperators(d.check(ctx)) }

// forOperators is an error with advice for those who can correct the settings.
func forOperators(err error) error {
	if err == nil {
		return nil
	}
	e := *app.AsError(err)
	if rest, ok := strings.CutPrefix(e.Hint, operator); ok {
		e.Hint = strings.ToUpper(rest[:1]) + rest[1:]
	}
	if e.Reason == "directory" {
		e.Hint = "Check url, the LDAP server and the network. " + localStill
	}
	return &e
}

func (d *Directory) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.c.Timeout)
	defer cancel()
	c, leave, err := d.connect(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := d.bindService(c); err != nil {
		return err
	}
	anyone := strings.ReplaceAll(d.c.Filter, "{user}", "*")
	r := ldap.NewSearchRequest(d.c.Base, ldap.ScopeWholeSubtree, ldap.NeverDerefAliases, 1, d.seconds(), false, anyone, d.c.attributes(), nil)
	found, err := c.Search(r)
	if err != nil && !ldap.IsErrorWithCode(err, ldap.LDAPResultSizeLimitExceeded) {
		return d.noSearch(err, d.c.Base)
	}
	if len(found.Entries) == 0 {
		return &app.Error{Code: app.ENotFound, Reason: identity.ReasonNoEntry, Message: d.c.Label + " has no entry below " + d.c.Base + " that matches the filter, or hides them from the bind DN.",
			Hint: "Correct base and filter, or let the bind DN read these entries."}
	}
	_, err = d.subject(c, "x", found.Entries[0], false)
	return err
}

// LookUp returns what a sign-in of a person would, without the password.
func (d *Directory) LookUp(ctx context.Context, user string) (dn string, s identity.Subject, groups []string, err error) {
	dn, s, groups, err = d.lookUp(ctx, user)
	return dn, s, groups, forOperators(err)
}

func (d *Directory) lookUp(ctx context.Context, user string) (dn string, s identity.Subject, groups []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, d.c.Timeout)
	defer cancel()
	if !usable(user) {
		return "", s, nil, noEntry()
	}
	c, leave, err := d.connect(ctx)
	if err != nil {
		return "", s, nil, err
	}
	defer leave()
	if err := d.bindService(c); err != nil {
		return "", s, nil, err
	}
	e, err := d.find(c, user)
	if err != nil {
		return "", s, nil, err
	}
	if s, err = d.subject(c, user, e, false); err != nil {
		return e.DN, s, nil, err
	}
	groups, err = d.groups(c, user, e, false)
	slices.Sort(groups)
	return e.DN, s, groups, err
}
