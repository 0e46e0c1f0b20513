package vsphere

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"muster/app"
	"muster/providers/internal/account"

	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
	"github.com/vmware/govmomi/vim25/xml"
)

const (
	hintLogin       = "Check the account's username and password. The user name includes the domain, such as muster@vsphere.local."
	hintPermission  = "Assign the user a role with the privileges in docs/providers/vsphere.md."
	hintCapacity    = "Free resources in the compute cluster, choose another one, or use smaller machines."
	hintStorage     = "Free space in the datastore, or set another datastore."
	hintCertificate = "Save vCenter's CA certificate in the account's ca_certificate setting, or its certificate's thumbprint in thumbprint, and use the name " +
		"that is in the certificate."
	// whenToAsk is for answers that don't say it.
	whenToAsk = 10 * time.Second
	longText  = 300 // of vCenter's words in a message
)

// status is the error for an answer that isn't vCenter's API's.
func status(answer *http.Response) *app.Error {
	e := account.Status(answer.StatusCode, answer.Header, "vCenter responded "+answer.Status+".")
	switch {
	case e.Code == app.ERateLimit:
		e.RetryAfter = cmp.Or(e.RetryAfter, whenToAsk)
	case answer.StatusCode/100 == 3 || e.Code == app.ENotFound:
		e.Code, e.Field = app.EInvalid, "settings.url"
		e.Message = "The address in url responded " + answer.Status + ": it isn't vCenter's."
		e.Hint = "Use vCenter's own address, such as https://vcenter.example.com."
	case e.Code == app.ECredentials, e.Code == app.EConflict:
		e.Code = app.ETransient // vCenter itself says so in a fault
	}
	return e
}

// faultOf returns what vCenter said; nil where it's something else.
func faultOf(err error) types.BaseMethodFault {
	var f interface{ Fault() types.BaseMethodFault }
	if err != nil && errors.As(err, &f) {
		return f.Fault()
	}
	return nil
}

// vimError is an error with vCenter's fault, which callers may look at.
type vimError struct {
	coded *app.Error
	fault types.BaseMethodFault
}

func (e *vimError) Error() string                { return e.coded.Error() }
func (e *vimError) Unwrap() error                { return e.coded }
func (e *vimError) Fault() types.BaseMethodFault { return e.fault }

// failure returns an error of a call its code. What never came to an answer is left to the family's wrapper.
func failure(err error) error {
	var coded *app.Error
	var certificate *tls.CertificateVerificationError
	switch f := faultOf(err); {
	case err == nil:
		return nil
	case errors.As(err, &coded):
		return coded
	case f != nil:
		return &vimError{refusal(f, text(err)), f}
	case soap.IsSoapFault(err):
		return app.Errorf(app.ETransient, "vCenter responded with an error: %s.", text(err))
	case errors.As(err, &certificate), errors.Is(err, errThumbprint):
		e := app.Errorf(app.ECredentials, "vCenter's certificate isn't trusted: %s.", strings.TrimSuffix(clip(rootCause(err).Error()), "."))
		e.Reason, e.Hint = "certificate", hintCertificate
		return e
	case illegible(err):
		return app.Errorf(app.ETransient, "Can't parse vCenter's response: %w", err)
	}
	return err
}

// illegible reports whether an answer came that isn't XML, or none of vCenter's. A connection that ended without an answer is a failure of the network.
func illegible(err error) bool {
	var syntax *xml.SyntaxError
	var kind xml.UnmarshalError
	var network *url.Error
	return errors.As(err, &syntax) || errors.As(err, &kind) || errors.Is(err, io.EOF) && !errors.As(err, &network)
}

// taskFailure is failure for a task.
func taskFailure(f *types.LocalizedMethodFault) error {
	if f == nil || f.Fault == nil {
		return app.Errorf(app.ETransient, "vCenter didn't finish a task, and doesn't say why.")
	}
	said := f.LocalizedMessage
	if strings.HasPrefix(said, "*") { // a type of Go's, as simulators say it
		said = ""
	}
	return &vimError{refusal(f.Fault, said), f.Fault}
}

// text is what a fault says.
func text(err error) string {
	said := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "ServerFaultCode:"), "ServerFaultCode")
	return strings.TrimSpace(said)
}

func clip(s string) string {
	if s = strings.TrimSuffix(strings.Join(strings.Fields(s), " "), "."); len(s) > longText {
		s = strings.ToValidUTF8(s[:longText], "") + "…"
	}
	return s
}

// kind is a fault's name, such as NoPermission.
func kind(f types.BaseMethodFault) string { return reflect.Indirect(reflect.ValueOf(f)).Type().Name() }

// refusal is the error for a fault.
func refusal(f types.BaseMethodFault, said string) *app.Error {
	if said = clip(said); said == "" || said == kind(f) {
		said = kind(f)
	} else {
		said += " (" + kind(f) + ")"
	}
	e := &app.Error{Code: app.ETransient, Message: "vCenter responded: " + said + "."}
	coded := func(code app.Code, hint string) { e.Code, e.Hint = code, hint }
	switch f := f.(type) {
	case *types.InvalidLogin, *types.InvalidLocale, *types.PasswordExpired:
		coded(app.ECredentials, hintLogin)
		e.Message = "vCenter rejected the user name or the password."
	case *types.NotAuthenticated: // even after another login: vCenter is just starting, or several are behind one address
		e.Message = "vCenter ended the session."
	case types.BaseNoPermission:
		coded(app.ECredentials, hintPermission)
		e.Reason, e.Message = "permission", "The user isn't allowed to do this"+lacking(f.GetNoPermission())+"."
	case *types.NoDiskSpace, *types.InsufficientStorageSpace, *types.InsufficientStorageIops:
		coded(app.ECapacity, hintStorage)
	case types.BaseInsufficientResourcesFault, *types.NoActiveHostInCluster, *types.NoCompatibleHost, *types.NoCompatibleDatastore, *types.InvalidHostState,
		*types.DatacenterMismatch:
		coded(app.ECapacity, hintCapacity)
	case types.BaseNotEnoughLicenses:
		coded(app.EQuota, "Add licenses in vCenter, or free some.")
	case *types.DuplicateName:
		coded(app.EConflict, "Rename or delete what has this name in vCenter.")
	case *types.ManagedObjectNotFound:
		coded(app.ENotFound, "")
	case *types.Timedout:
		e.Code = app.ETimeout
	case *types.NotFound, types.BaseInvalidArgument, *types.InvalidName, *types.InvalidRequest, *types.InvalidProperty, *types.InvalidType,
		types.BaseInvalidDatastore, types.BaseVmConfigFault, types.BaseNotSupported, *types.NotImplemented, *types.MethodNotFound:
		coded(app.EInvalid, "Check the template and the account's settings: muster provider check shows what is wrong.")
	}
	return e
}

// lacking says which privilege is missing, and where.
func lacking(f *types.NoPermission) string {
	out := ""
	if f.PrivilegeId != "" {
		out = fmt.Sprintf(": it lacks the privilege %.100s", f.PrivilegeId)
	} else if len(f.MissingPrivileges) > 0 && len(f.MissingPrivileges[0].PrivilegeIds) > 0 {
		out = fmt.Sprintf(": it lacks the privilege %.200s", strings.Join(f.MissingPrivileges[0].PrivilegeIds, ", "))
	}
	if f.Object != nil && out != "" {
		out += fmt.Sprintf(" on %.50s", f.Object.Value)
	}
	return out
}

func rootCause(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

func is(err error, codes ...app.Code) bool {
	for _, c := range codes {
		if err != nil && app.CodeOf(err) == c {
			return true
		}
	}
	return false
}

func absent(err error) bool { return is(err, app.ENotFound) }

// refused tells that nothing was made, and that asking again soon won't help.
func refused(err error) bool {
	return is(err, app.ECredentials, app.ECapacity, app.EQuota, app.ENotFound, app.EInvalid)
}

// faulted reports whether an error is a kind of fault.
func faulted[F types.BaseMethodFault](err error) bool {
	_, ok := faultOf(err).(F)
	return ok
}
