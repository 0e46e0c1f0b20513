package openstack

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"muster/app"
	"muster/app/family"
)

func TestErrorCodes(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		code   app.Code
	}{
		{"Nova's quota", 403, `{"forbidden": {"code": 403, "message": "Quota exceeded for cores: Requested 4, but already used 20 of 20 cores"}}`, app.EQuota},
		{"Nova's policy", 403, `{"forbidden": {"code": 403, "message": "Policy doesn't allow os_compute_api:servers:create to be performed."}}`, app.ECredentials},
		{"ports", 403, `{"forbidden": {"code": 403, "message": "Maximum number of ports exceeded"}}`, app.EQuota},
		{"ports, while they are counted", 403, `{"forbidden": {"code": 403, "message": "The number of defined ports: 1 is over the limit: 0"}}`, app.EQuota},
		{"Neutron's quota", 409, `{"NeutronError": {"type": "OverQuota", "message": "Quota exceeded for resources: ['floatingip'].", "detail": ""}}`, app.EQuota},
		{"Neutron is out of addresses", 409, `{"NeutronError": {"type": "IpAddressGenerationFailure", "message": "No more IP addresses available on network 1.", "detail": ""}}`, app.ECapacity},
		{"Cinder's quota", 413, `{"overLimit": {"code": 413, "message": "VolumeLimitExceeded: Maximum number of volumes allowed (10) exceeded for quota 'volumes'.", "retryAfter": "0"}}`, app.EQuota},
		{"too many calls", 413, `{"overLimit": {"code": 413, "message": "This request was rate-limited.", "retryAfter": "7"}}`, app.ERateLimit},
		{"too many calls by a proxy", 429, `<html/>`, app.ERateLimit},
		{"many networks", 409, `{"conflictingRequest": {"code": 409, "message": "Multiple possible networks found, use a Network ID to be more specific."}}`, app.EInvalid},
		{"a conflict", 409, `{"conflictingRequest": {"code": 409, "message": "Instance 1 is locked"}}`, app.EConflict},
		{"a bad request", 400, `{"badRequest": {"code": 400, "message": "Flavor's disk is too small for requested image."}}`, app.EInvalid},
		{"a token", 401, `{"error": {"code": 401, "message": "The request you have made requires authentication.", "title": "Unauthorized"}}`, app.ECredentials},
		{"not there", 404, `{"itemNotFound": {"code": 404, "message": "Instance 1 could not be found."}}`, app.ENotFound},
		{"Neutron's older form", 404, `{"NeutronError": "Port 1 could not be found."}`, app.ENotFound},
		{"versions", 300, `{"versions": []}`, app.EInvalid},
		{"a fault", 500, `{"computeFault": {"code": 500, "message": "Unexpected API Error."}}`, app.ETransient},
		{"a proxy", 503, `<html><body><h1>503 Service Unavailable</h1></body></html>`, app.ETransient},
		{"a proxy's patience", 504, ``, app.ETimeout},
	} {
		e := app.AsError(Coded(gophercloud.ErrUnexpectedResponseCode{Actual: c.status, Body: []byte(c.body), ResponseHeader: http.Header{"Retry-After": {"7"}}}))
		if e.Code != c.code || e.Message == "" {
			t.Errorf("%s is %q: %s", c.name, e.Code, e.Message)
		}
		if c.code == app.ERateLimit && e.RetryAfter != 7*time.Second {
			t.Errorf("%s: again after %s", c.name, e.RetryAfter)
		}
	}
	if err := errors.New("dial"); Coded(err) != err || Coded(nil) != nil {
		t.Error("what is no answer of the cloud must stay as it is")
	}
}

// A service of the cloud that cannot reach another hands on the raw class of what it met, with a status of its own choice. People read what does not work.
func TestCloudErrorsAreReadable(t *testing.T) {
	const unexpected = "Unexpected API Error. Please report this at http://bugs.launchpad.net/nova/ and attach the Nova API log if possible.\\n"
	for _, c := range []struct {
		status     int
		body, want string
	}{
		{500, `{"computeFault": {"code": 500, "message": "` + unexpected + `<class 'neutronclient.common.exceptions.ConnectionFailed'>"}}`, "OpenStack isn't working properly right now: it can't reach its networking service (Neutron)"},
		{500, `{"computeFault": {"code": 500, "message": "` + unexpected + `<class 'keystoneauth1.exceptions.connection.ConnectFailure'>"}}`, "OpenStack isn't working properly right now: one of its services can't reach another"},
		{500, `{"computeFault": {"code": 500, "message": "` + unexpected + `<class 'oslo_db.exception.DBConnectionError'>"}}`, "OpenStack isn't working properly right now: it can't reach its database"},
		{500, `{"computeFault": {"code": 500, "message": "` + unexpected + `<class 'KeyError'>"}}`, "OpenStack isn't working properly right now: it responded 500 Internal Server Error"},
		{409, `{"conflictingRequest": {"code": 409, "message": "<class 'neutronclient.common.exceptions.NeutronClientException'>"}}`, "OpenStack isn't working properly right now: it can't reach its networking service (Neutron)"},
		{400, `{"badRequest": {"code": 400, "message": "<class 'cinderclient.exceptions.ClientException'>"}}`, "OpenStack isn't working properly right now: it can't reach its volume service (Cinder)"},
		{502, `<html><h1>502 Bad Gateway</h1></html>`, "OpenStack isn't working properly right now: it responded 502 Bad Gateway"},
		{503, ``, "OpenStack isn't working properly right now: it responded 503 Service Unavailable"},
	} {
		e := app.AsError(Coded(gophercloud.ErrUnexpectedResponseCode{Actual: c.status, Body: []byte(c.body)}))
		if e.Code != app.ETransient || e.Reason != app.ReasonCloudBroken || e.ForPeople() != c.want {
			t.Errorf("%d %s\nis reported as %s %s %q, want %q", c.status, c.body, e.Code, e.Reason, e.ForPeople(), c.want)
		}
	}
	var s Server
	s.Status, s.Fault.Message = "ERROR", "Build of instance 1 aborted: <class 'neutronclient.common.exceptions.ConnectionFailed'>"
	if e, m := s.Failed(), s.Machine(nil); contains(e.Message+m.Note, "<class") {
		t.Errorf("a server's fault is reported as %q, %q", e.Message, m.Note)
	}
}

// Neutron writes its lists as Python does.
func TestListsInMessagesAreReadable(t *testing.T) {
	for in, want := range map[string]string{
		"Quota exceeded for resources: ['security_group'].":     "Quota exceeded for resources: security group.",
		"Quota exceeded for resources: ['port', 'floatingip'].": "Quota exceeded for resources: port, floating IP.",
		"'[x]' is not a 'base64'":                               "'[x]' is not a 'base64'",
	} {
		body := []byte(`{"NeutronError": {"type": "OverQuota", "message": "` + in + `", "detail": ""}}`)
		if e := app.AsError(Coded(gophercloud.ErrUnexpectedResponseCode{Actual: http.StatusConflict, Body: body})); e.Message != want {
			t.Errorf("%q is reported as %q", in, e.Message)
		}
	}
}

func TestAddresses(t *testing.T) {
	fixed, floats := "fixed", "floating"
	for name, c := range map[string]struct {
		all          map[string][]Address
		order        []string
		wants        bool
		access, bind string
	}{
		"none yet":                   {nil, nil, false, "", ""},
		"a private one":              {map[string][]Address{"a": {{"10.0.0.2", 4, fixed}}}, nil, false, "10.0.0.2", "10.0.0.2"},
		"an IPv6 one beside it":      {map[string][]Address{"a": {{"2001:db8::1", 6, fixed}, {"10.0.0.2", 4, fixed}}}, nil, false, "10.0.0.2", "10.0.0.2"},
		"a public one":               {map[string][]Address{"a": {{"198.51.100.2", 4, fixed}}}, nil, false, "198.51.100.2", "198.51.100.2"},
		"a public and a private one": {map[string][]Address{"ext": {{"198.51.100.2", 4, fixed}}, "z": {{"10.0.0.2", 4, fixed}}}, nil, false, "198.51.100.2", "10.0.0.2"},
		"a floating one":             {map[string][]Address{"a": {{"10.0.0.2", 4, fixed}, {"203.0.113.2", 4, floats}}}, nil, true, "203.0.113.2", "10.0.0.2"},
		"a floating one to come":     {map[string][]Address{"a": {{"10.0.0.2", 4, fixed}}}, nil, true, "", "10.0.0.2"},
		"a private pool":             {map[string][]Address{"a": {{"192.168.0.2", 4, fixed}, {"10.9.0.2", 4, floats}}}, nil, true, "10.9.0.2", "192.168.0.2"},
		"two, in order":              {map[string][]Address{"a": {{"10.0.0.2", 4, fixed}}, "b": {{"10.1.0.2", 4, fixed}}}, []string{"b", "a"}, false, "10.1.0.2", "10.1.0.2"},
		"two, without":               {map[string][]Address{"a": {{"10.0.0.2", 4, fixed}}, "b": {{"10.1.0.2", 4, fixed}}}, nil, false, "10.0.0.2", "10.0.0.2"},
		"without types":              {map[string][]Address{"public": {{"198.51.100.2", 4, ""}}, "private": {{"10.0.0.2", 4, ""}}}, nil, false, "198.51.100.2", "10.0.0.2"},
	} {
		s := Server{Addresses: c.all}
		if c.wants {
			s.Metadata = map[string]string{MetaAccess: AccessFloating}
		}
		if got := s.addresses(c.order); got[app.AddressAccess] != c.access || got[app.AddressBind] != c.bind {
			t.Errorf("%s: %v, want %q and %q", name, got, c.access, c.bind)
		}
	}
}

func TestStates(t *testing.T) {
	for status, want := range map[string]family.MachineState{"BUILD": family.MachineStarting, "ACTIVE": family.MachineRunning, "SHUTOFF": family.MachineStopped, "ERROR": family.MachineStopped,
		"REBOOT": family.MachineStarting, "SHELVED_OFFLOADED": family.MachineStopped, "UNKNOWN": family.MachineStarting} {
		var s Server
		if s.Status = status; s.state() != want {
			t.Errorf("%s is %s", status, s.state())
		}
	}
}

func TestRegions(t *testing.T) {
	two := []Endpoint{{"compute", "b", "x"}, {"compute", "a", "x"}, {"image", "c", "x"}}
	for wanted, want := range map[string]string{"a": "a", "c": "", "": ""} {
		got, err := chosen(two, wanted)
		if got != want || (err == nil) != (want != "") || err != nil && app.AsError(err).Hint != "Options: a, b." {
			t.Errorf("%q: %q, %v", wanted, got, err)
		}
	}
	if got, err := chosen(two[:1], ""); got != "b" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
