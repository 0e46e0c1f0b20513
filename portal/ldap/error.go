package ldap

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"muster/app"
	"muster/app/identity"

	"github.com/go-ldap/ldap/v3"
)

const (
	operator   = "Your Muster operator must fix this: "
	localStill = "Local accounts can still sign in."
	schemes    = "ldaps:// is for servers with TLS from the start (port 636), ldap:// for StartTLS (port 389)."
)

func noEntry() error {
	return &app.Error{Code: app.EUnauthorized, Reason: identity.ReasonNoEntry, Field: "password", Message: "There is no such person."}
}

func wrongPassword(err error) error {
	return &app.Error{Code: app.EUnauthorized, Reason: "wrong_password", Field: "password", Message: "Wrong username or password.", Err: err}
}

// said is what a server answered, without control characters and cut.
func said(err error) error {
	var e *ldap.Error
	if errors.As(err, &e) && e.ResultCode < ldap.ErrorNetwork { // from here on, they're the client's
		return fmt.Errorf("the server answered %d %s: %s", e.ResultCode, ldap.LDAPResultCodeMap[e.ResultCode], identity.CleanText(e.Err.Error(), 200))
	}
	return errors.New(identity.CleanText(err.Error(), 300))
}

// away is the error for a server that can't be reached, or stopped answering.
func (d *Directory) away(err error) error {
	why := "isn't responding."
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, os.ErrDeadlineExceeded), strings.Contains(err.Error(), "i/o timeout"):
		why = "took too long to respond."
	case strings.Contains(err.Error(), "connection refused"):
		why = "refuses connections."
	}
	return &app.Error{Code: app.ETransient, Reason: "directory", Message: d.c.Label + " " + why,
		Hint: "Try again in a moment. " + localStill + " If the problem persists, your Muster operator must check url, the LDAP server and the network.", Err: said(err)}
}

func (d *Directory) misconfigured(reason, message, hint string, err error) error {
	return &app.Error{Code: app.ECredentials, Reason: reason, Message: message, Hint: operator + hint + " " + localStill, Err: said(err)}
}

// noTLS explains why a connection couldn't be encrypted.
func (d *Directory) noTLS(err error) error {
	text := err.Error()
	bad := func(what, hint string) error {
		return d.misconfigured("tls", fmt.Sprintf("The certificate of %s %s.", d.c.Label, what), hint, err)
	}
	switch {
	case errors.Is(err, io.EOF), strings.Contains(text, "connection reset"):
		return &app.Error{Code: app.ETransient, Reason: "directory", Message: d.c.Label + " closes the connection instead of encrypting it.",
			Hint: "Try again in a moment. " + localStill + " If the problem persists, your Muster operator must check url: " + schemes, Err: said(err)}
	case strings.Contains(text, "signed by unknown authority"):
		return bad("isn't from a trusted CA", "set ca_file to a PEM file with the CA that issued it.")
	case strings.Contains(text, "has expired or is not yet valid"):
		return bad("has expired or isn't valid yet", "renew it on the LDAP server, and check both hosts' clocks.")
	case strings.Contains(text, "certificate is valid for"), strings.Contains(text, "doesn't contain any IP SANs"), strings.Contains(text,
		"not valid for any names"),
		strings.Contains(text, "legacy Common Name"):
		return bad("is for another host name", "use the name in the certificate in url.")
	case strings.Contains(text, "x509:"):
		return bad("is invalid", "see the server log.")
	case ldap.IsErrorAnyOf(err, ldap.LDAPResultProtocolError, ldap.LDAPResultUnavailable, ldap.LDAPResultUnwillingToPerform, ldap.LDAPResultOperationsError):
		return d.misconfigured("tls", d.c.Label+" doesn't support StartTLS.", "set up TLS on the LDAP server, or use ldaps://.", err)
	case strings.Contains(text, "first record does not look like a TLS handshake"), strings.Contains(text, "tls: "):
		return d.misconfigured("tls", d.c.Label+" doesn't support TLS at this address.", "check url: "+schemes, err)
	}
	return d.away(err)
}

// noBind explains why the account that finds people couldn't bind.
func (d *Directory) noBind(err error) error {
	switch {
	case ldap.IsErrorAnyOf(err, ldap.LDAPResultInvalidCredentials, ldap.LDAPResultInappropriateAuthentication, ldap.LDAPResultNoSuchObject):
		return d.misconfigured("bind", d.c.Label+" rejects the bind DN or its password.", "correct bind_dn or its password.", err)
	case ldap.IsErrorAnyOf(err, ldap.LDAPResultConstraintViolation, ldap.LDAPResultUnwillingToPerform, ldap.LDAPResultInsufficientAccessRights,
		ldap.LDAPResultInvalidDNSyntax,
		ldap.LDAPResultStrongAuthRequired, ldap.LDAPResultConfidentialityRequired):
		return d.misconfigured("bind", d.c.Label+" doesn't allow the bind DN to sign in.", "check that account; it may be locked or disabled.", err)
	}
	return d.away(err)
}

// noSearch explains why a search failed.
func (d *Directory) noSearch(err error, base string) error {
	switch {
	case ldap.IsErrorWithCode(err, ldap.LDAPResultNoSuchObject):
		return d.misconfigured("base", fmt.Sprintf("%s has no entry %q, or hides it from the bind DN.", d.c.Label, base),
			"correct base, or let the bind DN read below it.", err)
	case ldap.IsErrorWithCode(err, ldap.LDAPResultReferral):
		return d.misconfigured("referral", d.c.Label+" refers to another server, which Muster doesn't follow.", "set url to the server that has the entries.", err)
	case ldap.IsErrorAnyOf(err, ldap.LDAPResultInsufficientAccessRights, ldap.LDAPResultInappropriateAuthentication, ldap.LDAPResultStrongAuthRequired,
		ldap.LDAPResultOperationsError, ldap.LDAPResultUnwillingToPerform):
		return d.misconfigured("search", d.c.Label+" doesn't allow this search.", "set bind_dn to an account that can read people's entries.", err)
	case ldap.IsErrorAnyOf(err, ldap.LDAPResultTimeLimitExceeded, ldap.LDAPResultAdminLimitExceeded):
		return d.misconfigured("search", d.c.Label+" gave up the search.", "add an index for the attributes in the filter on the LDAP server.", err)
	}
	return d.away(err)
}

// refused explains why a person couldn't bind.
func (d *Directory) refused(err error) error {
	if ldap.IsErrorAnyOf(err, ldap.LDAPResultInvalidCredentials, ldap.LDAPResultInappropriateAuthentication, ldap.LDAPResultConstraintViolation,
		ldap.LDAPResultUnwillingToPerform,
		ldap.LDAPResultInsufficientAccessRights, ldap.LDAPResultNoSuchObject, ldap.LDAPResultInvalidDNSyntax) {
		return wrongPassword(said(err))
	}
	return d.away(err)
}

func (d *Directory) several() error {
	return &app.Error{Code: app.ECredentials, Reason: "several", Message: d.c.Label + " has more than one entry for this name.",
		Hint: operator + "change base or filter so that they match one entry."}
}

func (d *Directory) distrust(why string, err error) error {
	e := &app.Error{Code: app.ECredentials, Reason: "answer", Message: "The answer of " + d.c.Label + " is invalid. " + why, Hint: "Contact your Muster operator."}
	if err != nil {
		e.Err = said(err)
	}
	return e
}
