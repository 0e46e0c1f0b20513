package openstack

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2"

	"muster/app"
	"muster/providers/internal/account"
)

// Coded returns an error of the SDK its code, and the cloud's own words. Failures of the network stay as they are.
func Coded(err error) error {
	var own *app.Error
	var status gophercloud.ErrUnexpectedResponseCode
	var syntax *json.SyntaxError
	switch {
	case err == nil, errors.As(err, &own):
		return err
	case errors.As(err, &status):
		return fromStatus(status)
	case errors.As(err, &syntax):
		return app.Errorf(app.ETransient, "can't parse the cloud's response: %w", err)
	}
	return err
}

// Absent reports whether an error says that there is no such thing.
func Absent(err error) bool {
	return gophercloud.ResponseCodeIs(err, http.StatusNotFound) || app.CodeOf(err) == app.ENotFound
}

func fromStatus(err gophercloud.ErrUnexpectedResponseCode) *app.Error {
	kind, message := said(err.Body)
	e := account.Status(err.Actual, err.ResponseHeader, Plain(message))
	switch {
	case err.Actual == http.StatusRequestEntityTooLarge && !quota(kind, message):
		// Nova's and Rackspace's older way to say that calls come too often.
		e.Code, e.RetryAfter = app.ERateLimit, account.RetryAfter(err.ResponseHeader, now())
	case quota(kind, message) && slices.Contains([]int{http.StatusForbidden, http.StatusConflict, http.StatusRequestEntityTooLarge}, err.Actual):
		e.Code, e.Hint = app.EQuota, "Delete what isn't needed, or ask the cloud's operator for a higher quota."
	case full(kind, message):
		e.Code, e.Hint = app.ECapacity, "Try another zone, network or flavor, or try again later."
	case pythonClass.MatchString(message), e.Reason == app.ReasonCloudBroken:
		// A service that cannot reach another one hands on what it met, sometimes with a status as if it were our fault.
		e.Code, e.Reason, e.Message = app.ETransient, app.ReasonCloudBroken, broken(err.Actual, message)
	case err.Actual == http.StatusForbidden:
		e.Reason, e.Hint = "permission", "The credentials are valid but don't allow this: see the roles and access rules in docs/providers."
	case err.Actual == http.StatusUnauthorized:
		e.Hint = "Check that the password or application credential is still valid, and is for this cloud and project."
	case err.Actual == http.StatusConflict && strings.Contains(message, "Multiple possible networks"):
		e.Code, e.Field, e.Hint = app.EInvalid, "settings.networks", "Set networks to the network to use."
	case err.Actual == http.StatusMultipleChoices:
		e.Code, e.Hint = app.EInvalid, "The endpoint responds with a list of versions: ask the cloud's operator to check its service catalog."
	}
	return e
}

// pythonClass is the raw class of an exception, which services hand on when they do not know better.
var pythonClass = regexp.MustCompile(`\s*<class '([^'<>]*)'>`)

// pythonList is a list of names as Python writes it, which Neutron has in its messages.
var pythonList = regexp.MustCompile(`\['[a-z_]+'(, '[a-z_]+')*\]`)

// Plain leaves raw classes out of a message, and writes lists of names as people do.
func Plain(message string) string {
	message = pythonList.ReplaceAllStringFunc(message, func(list string) string {
		return strings.NewReplacer("[", "", "]", "", "'", "", "_", " ", "floatingip", "floating IP").Replace(list)
	})
	return strings.TrimSpace(pythonClass.ReplaceAllString(message, ""))
}

// behind are the services that OpenStack's own services ask, by words in the classes of their errors.
var behind = []struct{ word, service string }{
	{"neutron", "networking service (Neutron)"}, {"cinder", "volume service (Cinder)"}, {"glance", "image service (Glance)"}, {"placement", "placement service"},
	{"keystone", "identity service (Keystone)"}, {"messaging", "message queue"}, {"sqlalchemy", "database"}, {"oslo_db", "database"}, {"pymysql", "database"}, {"libvirt", "hypervisor"},
}

// broken says in words that the cloud does not work, and what of it, where that is known.
func broken(status int, message string) string {
	text := "OpenStack " + app.CloudBroken
	// All services ask each other by way of keystoneauth1, whose errors don't say which was asked.
	if class := pythonClass.FindStringSubmatch(message); class != nil && strings.HasPrefix(class[1], "keystoneauth1.") {
		return text + ": one of its services can't reach another"
	} else if class != nil {
		for _, b := range behind {
			if contains(class[1], b.word) {
				return text + ": it can't reach its " + b.service
			}
		}
	}
	if status < 500 {
		return text
	}
	return fmt.Sprintf("%s: it responded %d %s", text, status, http.StatusText(status))
}

// said returns what an answer's body says, and what kind of error that is by the service's own name. Nova and Cinder wrap it in the kind's name,
// Neutron in NeutronError, Keystone in error; Glance and proxies answer with HTML, of which there is nothing to show.
func said(body []byte) (kind, message string) {
	var wrapped map[string]json.RawMessage
	if json.Unmarshal(body, &wrapped) != nil {
		return "", ""
	}
	type inside struct {
		Type    string `json:"type"`
		Message string `json:"message"`
		Title   string `json:"title"`
	}
	for name, raw := range wrapped {
		var in inside
		if json.Unmarshal(raw, &in) == nil && in.Message != "" {
			if in.Type != "" {
				name = in.Type
			}
			return name, in.Message
		}
		var text string
		if name == "NeutronError" && json.Unmarshal(raw, &text) == nil {
			return name, text
		}
	}
	var flat inside
	_ = json.Unmarshal(body, &flat)
	return flat.Title, flat.Message
}

func contains(text string, words ...string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// quota reports whether a refusal is about a limit of the project.
func quota(kind, message string) bool {
	return kind == "OverQuota" || contains(message, "quota", "limitexceeded", "limit exceeded", "maximum limit", "is over the limit") ||
		contains(message, "maximum number of") && !contains(message, "retries")
}

// full reports whether a refusal is about room that the cloud does not have.
func full(kind, message string) bool {
	return kind == "IpAddressGenerationFailure" || kind == "ExternalIpAddressExhausted" ||
		contains(message, "no valid host", "no more ip addresses", "not enough hosts", "exhausted all hosts", "no more floating ips", "out of capacity", "insufficient")
}

// reasonFault marks the error of a server that will never run.
const reasonFault = "fault"

// Failed is the error of a server that could not be built; the fault is the cloud's word on it.
func (s *Server) Failed() *app.Error {
	said := Plain(s.Fault.Message)
	if said == "" {
		said = "no reason reported"
	}
	e := app.Errorf(app.ETransient, "the cloud failed to build the server: %s", said)
	e.Reason = reasonFault
	switch {
	case quota("", said):
		e.Code, e.Hint = app.EQuota, "Delete what isn't needed, or ask the cloud's operator for a higher quota."
	case full("", said):
		e.Code, e.Hint = app.ECapacity, "Try another zone or flavor, or try again later."
	case contains(said, "unacceptable", "too small", "larger than", "not supported"):
		e.Code, e.Hint = app.EInvalid, "Choose an image that fits the flavor, or another flavor."
	}
	return e
}
