package client

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"muster/app"
	"muster/portal/wire"
)

// refusal reads a problem document (RFC 9457) with our members; anything else gets its code from the status.
func refusal(resp *http.Response, body []byte) error {
	var p struct {
		Title, Detail     string
		Code              app.Code
		Kind, Hint, Field string
		Errors            []struct{ Message, Location string }
	}
	_ = json.Unmarshal(body, &p) // without JSON, all fields stay empty
	e := &app.Error{Code: p.Code, Reason: p.Kind, Message: cmp.Or(p.Detail, p.Title), Hint: p.Hint, Field: p.Field}
	for _, more := range p.Errors[min(1, len(p.Errors)):] { // the first one is in detail
		e.Message += fmt.Sprintf("; %s: %s", more.Location, more.Message)
	}
	if e.Code == "" {
		e.Code = wire.CodeOfStatus(resp.StatusCode)
	}
	if e.Message == "" {
		e.Message = "the server responded " + resp.Status
	}
	if e.Code == app.EUnauthorized && e.Hint == "" {
		e.Hint = "Set a token with --token or MUSTER_TOKEN."
	}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}
