package wire_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/portal/wire"
)

// Workers and servers of other versions know the fields by these names.
func TestNamesOfFieldsStay(t *testing.T) {
	for want, message := range map[string]any{
		"code kind message hint field retry_after cause": wire.ErrorMessage{}, "worker most nonce": wire.ClaimMessage{}, "steps plugins": wire.ClaimAnswer{},
		"Assignment settings untrusted": wire.AssignmentMessage{}, "worker held": wire.HeartbeatMessage{}, "directives plugins": wire.HeartbeatAnswer{},
		"worker reports": wire.ReportsMessage{}, "Report Err": wire.ReportMessage{}, "answers plugins": wire.ReportsAnswer{}, "next err": wire.ReportAnswer{},
		"worker fence": wire.HostsMessage{}, "hosts": wire.HostsAnswer{}, "worker lines": wire.LogMessage{}, "worker patience": wire.AwaitMessage{}, "work plugins": wire.AwaitAnswer{},
		"worker": wire.CancelSignalMessage{}, "signalled": wire.CancelSignalAnswer{}, "round": wire.CheckBatchAnswer{},
		"worker report": wire.CheckBatchEndMessage{}, "id": wire.LeaveMessage{},
		"": wire.Empty{}, "worker fence hash from": wire.FetchMessage{}, "worker hashes": wire.HoldMessage{},
	} {
		var names []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(message)) {
			if len(f.Index) > 1 {
				continue // of what is embedded
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				name = f.Name
			}
			names = append(names, name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%T has the fields %q, want %q", message, got, want)
		}
	}
}

// What an error's own JSON leaves out for people reaches the other end, and its text stays the same.
func TestErrorsCrossTheWire(t *testing.T) {
	for name, e := range map[string]*app.Error{
		"plain":        {Code: app.EQuota, Reason: "r", Message: "m", Hint: "h", Field: "f", RetryAfter: time.Minute},
		"with a cause": {Code: app.EInternal, Message: "m", Err: errors.New("no route")},
		"cause in it":  app.Errorf(app.ETransient, "m: %w", errors.New("no route")),
	} {
		b, err := json.Marshal(wire.MessageOf(e))
		if err != nil {
			t.Fatal(err)
		}
		var m *wire.ErrorMessage
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		is := m.Error()
		if is.Error() != e.Error() || is.Code != e.Code || is.Reason != e.Reason || is.Hint != e.Hint || is.Field != e.Field || is.RetryAfter != e.RetryAfter {
			t.Errorf("%s: %+v became %+v", name, e, is)
		}
	}
	if wire.MessageOf(nil).Error() != nil {
		t.Error("nothing became an error")
	}
}
