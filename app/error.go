package app

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"muster/app/humanize"
)

// Code says what kind of failure an Error is. Faces turn it into their own words (HTTP status, exit code, chat text)
// and jobs/retry.go turns it into again, later, elsewhere or never.
type Code string

// The codes. The first group is about what was asked, the second about who asked, the third about the world outside.
const (
	EInvalid  Code = "invalid"   // the request is malformed; asking again unchanged cannot work
	ENotFound Code = "not_found" // no such thing, or not one that this actor may see
	EConflict Code = "conflict"  // the thing is in a state that does not allow this
	ENoLayout Code = "no_layout" // no layout satisfies the template's constraints
	EStale    Code = "stale"     // the fence is old: another attempt owns the step now
	ETooLarge Code = "too_large" // a body, list or count is over its limit

	EUnauthorized Code = "unauthorized" // not signed in
	EForbidden    Code = "forbidden"    // signed in, but not allowed

	ECredentials Code = "credentials" // the other side refused our credentials
	ECapacity    Code = "capacity"    // the other side has no room now; elsewhere may work
	EQuota       Code = "quota"       // a limit of the account is reached
	ERateLimit   Code = "rate_limit"  // asked too often; RetryAfter says when to come back
	ETransient   Code = "transient"   // network failure, 5xx: the same call may work later
	ETimeout     Code = "timeout"     // did not finish in time; its effect is unknown
	EHostKey     Code = "host_key"    // a machine did not prove its identity
	EScript      Code = "script"      // a service action ran and failed
	ECancelled   Code = "cancelled"   // stopped because someone asked for it
	EInternal    Code = "internal"    // a bug or an unexpected state; the message is not shown to people
)

// ReasonCloudBroken marks what failed because the provider's cloud does not work: it cannot be reached, answers with a fault of its own, or one of
// its services cannot reach another.
const ReasonCloudBroken = "cloud_broken"

// CloudBroken is how people are notified of it, behind the name of the cloud.
const CloudBroken = "isn't working properly right now"

// Error is the one error type that carries a meaning. Message is a full sentence for the person who asked. Hint, when
// set, says what would make it possible. Reason is a finer, machine-readable kind (such as "missing_dependency"),
// Field names the input that was wrong.
type Error struct {
	Code       Code          `json:"code"`
	Reason     string        `json:"kind,omitempty"`
	Message    string        `json:"message"`
	Hint       string        `json:"hint,omitempty"`
	Field      string        `json:"field,omitempty"`
	RetryAfter time.Duration `json:"-"`
	Err        error         `json:"-"`
}

// Error returns the message, followed by the cause when there is one.
func (e *Error) Error() string {
	if cause := e.Cause(); cause != "" {
		return joinCauses(e.Message + ": " + cause)
	}
	return e.Message
}

// Cause is the text of the cause, "" where there is none or the message says it already.
func (e *Error) Cause() string {
	if _, reported := e.Err.(quiet); e.Err == nil || reported { //nolint:errorlint // a quiet cause deeper in the chain has text of its own around it
		return ""
	}
	return e.Err.Error()
}

// sentenceThenCause is where a whole sentence got its cause behind it, as in "There is no room.: it took too long".
var sentenceThenCause = regexp.MustCompile(`([\pL\pN"'”’)\]])\.: `)

// joinCauses takes the dot off sentences that have a cause behind them. It's done here, once for all that wraps errors.
func joinCauses(text string) string {
	if !strings.Contains(text, ".: ") {
		return text
	}
	return sentenceThenCause.ReplaceAllString(text, "$1: ")
}

// ForPeople is what may be shown of it: of an internal error the cause is for the log only.
func (e *Error) ForPeople() string {
	if e.Code == EInternal {
		return e.Message
	}
	return humanize.PlainText(e.Error())
}

// Advised is ForPeople with the hint behind it, for places that keep one text.
func (e *Error) Advised() string {
	if e.Hint == "" {
		return e.ForPeople()
	}
	return strings.TrimRight(e.ForPeople(), ". ") + ". " + e.Hint
}

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error with a code and a formatted message; %w keeps the cause.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	e := &Error{Code: code, Message: joinCauses(err.Error())}
	if code != EInternal { // which is for the log
		e.Message = humanize.PlainText(e.Message)
	}
	if cause := errors.Unwrap(err); cause != nil {
		e.Err = quiet{cause}
	}
	return e
}

// quiet marks a cause whose text is already part of the message, so that it is not printed twice, while errors.Is and
// errors.As still reach it.
type quiet struct{ error }

func (q quiet) Unwrap() error { return q.error }

// CodeOf returns the code of the first Error in the chain, "" for nil, and EInternal for anything else.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return EInternal
}

// ReasonKeyLost is the reason of errors about values that can't be decrypted because their key was declared lost.
const ReasonKeyLost = "key_lost"

// IsKeyLost reports whether a value can't be decrypted because its key is lost. Machines can be deleted without it.
func IsKeyLost(err error) bool { return AsError(err).Reason == ReasonKeyLost }

// AsError returns the first Error in the chain. Anything without one becomes an EInternal whose message hides the cause.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: EInternal, Message: "internal error", Err: err}
}

// CodeLabel is a label for how something ended: "ok", or the code of its error.
func CodeLabel(err error) string {
	if err == nil {
		return "ok"
	}
	return string(CodeOf(err))
}
