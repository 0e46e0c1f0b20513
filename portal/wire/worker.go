package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
)

// Messages between workers, provisioners and the server over HTTP: JSON with the terms of Coordinator and Registry. An answer is the value,
// or an ErrorMessage in the field error.

// ErrorMessage is an Error with the fields that its own JSON, for people, leaves out.
type ErrorMessage struct {
	Code       app.Code      `json:"code"`
	Reason     string        `json:"kind,omitempty"`
	Message    string        `json:"message"`
	Hint       string        `json:"hint,omitempty"`
	Field      string        `json:"field,omitempty"`
	RetryAfter time.Duration `json:"retry_after,omitempty"`
	Cause      string        `json:"cause,omitempty"`
}

// MessageOf converts an error to a message; nil stays nil.
func MessageOf(e *app.Error) *ErrorMessage {
	if e == nil {
		return nil
	}
	return &ErrorMessage{Code: e.Code, Reason: e.Reason, Message: e.Message, Hint: e.Hint, Field: e.Field, RetryAfter: e.RetryAfter, Cause: e.Cause()}
}

// Error converts a message to an error; nil stays nil. Causes are only text.
func (m *ErrorMessage) Error() *app.Error {
	if m == nil {
		return nil
	}
	e := &app.Error{Code: m.Code, Reason: m.Reason, Message: m.Message, Hint: m.Hint, Field: m.Field, RetryAfter: m.RetryAfter}
	if m.Cause != "" {
		e.Err = errors.New(m.Cause)
	}
	return e
}

// ClaimMessage requests steps. The same Nonce gets the same steps again, in case the answer was lost.
type ClaimMessage struct {
	Worker app.WorkerID `json:"worker"`
	Most   int          `json:"most"`
	Nonce  string       `json:"nonce"`
}

// ClaimAnswer is the answer to a ClaimMessage.
type ClaimAnswer struct {
	Steps   []*AssignmentMessage `json:"steps"`
	Plugins map[string]string    `json:"plugins"` // see program.Pins; nil: from a server that has none
}

// AssignmentMessage is an Assignment with its provider's settings, which no other JSON contains.
type AssignmentMessage struct {
	execution.Assignment
	Settings json.RawMessage `json:"settings,omitempty"`
	// Untrusted is the provider's: it's opened with the limits for tenants' own providers.
	Untrusted bool `json:"untrusted,omitempty"`
}

// MessageOfAssignment converts an assignment to a message; nil stays nil.
func MessageOfAssignment(as *execution.Assignment) (*AssignmentMessage, error) {
	if as == nil {
		return nil, nil
	}
	m := &AssignmentMessage{Assignment: *as, Untrusted: as.Provider.Untrusted}
	if len(as.Provider.Settings) > 0 {
		var err error
		if m.Settings, err = json.Marshal(as.Provider.Settings); err != nil {
			return nil, app.Errorf(app.EInternal, "settings of provider %s: %w", as.Provider.Name, err)
		}
	}
	return m, nil
}

// Unpack converts a message to an assignment; nil stays nil. Whole numbers in settings are ints, as in a catalog.
func (m *AssignmentMessage) Unpack() (*execution.Assignment, error) {
	if m == nil {
		return nil, nil
	}
	as := m.Assignment
	as.Provider.Untrusted = m.Untrusted
	if len(m.Settings) > 0 {
		d := json.NewDecoder(bytes.NewReader(m.Settings))
		d.UseNumber()
		if err := d.Decode(&as.Provider.Settings); err != nil {
			return nil, app.Errorf(app.EInternal, "settings of provider %s: %w", as.Provider.Name, err)
		}
		for k, v := range as.Provider.Settings {
			as.Provider.Settings[k] = numbers(v)
		}
	}
	return &as, nil
}

func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil && !strings.ContainsAny(v.String(), ".eE") {
			return int(i)
		}
		f, _ := v.Float64()
		return f
	case map[string]any:
		for k, e := range v {
			v[k] = numbers(e)
		}
	case []any:
		for i, e := range v {
			v[i] = numbers(e)
		}
	}
	return v
}

// HeartbeatMessage extends claims.
type HeartbeatMessage struct {
	Worker app.WorkerID `json:"worker"`
	Held   []app.Fence  `json:"held"`
}

// HeartbeatAnswer is the answer to a HeartbeatMessage.
type HeartbeatAnswer struct {
	Directives []execution.Directive `json:"directives"`
	Plugins    map[string]string     `json:"plugins"` // as ClaimAnswer
}

// ReportsMessage ends attempts.
type ReportsMessage struct {
	Worker  app.WorkerID    `json:"worker"`
	Reports []ReportMessage `json:"reports"`
}

// ReportMessage is one report.
type ReportMessage struct {
	execution.Report
	Err *ErrorMessage `json:"Err,omitempty"` // instead of Report.Err
}

// ReportsAnswer is the answer to a ReportsMessage, in the same order.
type ReportsAnswer struct {
	Answers []ReportAnswer    `json:"answers"`
	Plugins map[string]string `json:"plugins"` // as ClaimAnswer
}

// ReportAnswer is the answer to a report.
type ReportAnswer struct {
	Next *AssignmentMessage `json:"next,omitempty"`
	Err  *ErrorMessage      `json:"err,omitempty"`
}

// HostsMessage requests host names.
type HostsMessage struct {
	Worker app.WorkerID `json:"worker"`
	Fence  app.Fence    `json:"fence"`
}

// HostsAnswer is the answer to a HostsMessage.
type HostsAnswer struct {
	Hosts []family.HostEntry `json:"hosts"`
}

// LogMessage appends log lines. Its answer is empty.
type LogMessage struct {
	Worker app.WorkerID  `json:"worker"`
	Lines  []app.LogLine `json:"lines"`
}

// AwaitMessage waits for work.
type AwaitMessage struct {
	Worker   app.WorkerID  `json:"worker"`
	Patience time.Duration `json:"patience"`
}

// AwaitAnswer is the answer to an AwaitMessage.
type AwaitAnswer struct {
	Work    bool              `json:"work"`
	Plugins map[string]string `json:"plugins"` // as ClaimAnswer
}

// CancelSignalMessage waits until steps of the worker's tenant may have been cancelled.
type CancelSignalMessage struct {
	Worker app.WorkerID `json:"worker"`
}

// CancelSignalAnswer is the answer to a CancelSignalMessage. Without Signalled, the wait timed out or was replaced by another of the same worker.
type CancelSignalAnswer struct {
	Signalled bool `json:"signalled"`
}

// CheckBatchMessage waits for a batch of health checks.
type CheckBatchMessage struct {
	Worker app.WorkerID `json:"worker"`
}

// CheckBatchAnswer is the answer to a CheckBatchMessage; without a check batch, none came in time.
type CheckBatchAnswer struct {
	Round *execution.CheckBatch `json:"round,omitempty"`
}

// CheckBatchEndMessage reports a check batch's results. Its answer is empty.
type CheckBatchEndMessage struct {
	Worker app.WorkerID               `json:"worker"`
	Report execution.CheckBatchReport `json:"report"`
}

// LeaveMessage ends a registration. Its answer is empty.
type LeaveMessage struct {
	ID string `json:"id"`
}

// Empty is an empty answer.
type Empty struct{}

// FetchMessage requests a resource's content from an offset on. The answer is the content itself.
type FetchMessage struct {
	Worker app.WorkerID `json:"worker"`
	Fence  app.Fence    `json:"fence"`
	Hash   string       `json:"hash"`
	From   int64        `json:"from"`
}

// HoldMessage reports the contents on a host. Its answer is empty.
type HoldMessage struct {
	Worker app.WorkerID `json:"worker"`
	Hashes []string     `json:"hashes"`
}
