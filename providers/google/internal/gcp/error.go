package gcp

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Error is an answer that refuses. Of a body that is not the API's, such as a page of a proxy, only the status and the header are kept.
type Error struct {
	Status  int
	Header  http.Header
	Message string
	Reason  string // of the first of its errors
	Detail  string // the reason of the newer form of errors, which is in their details
}

// Error returns the message of the cloud, or the status where there is none.
func (e *Error) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("Google Cloud responded %d %s", e.Status, http.StatusText(e.Status))
	}
	return e.Message
}

type refused struct {
	Error struct {
		Message string `json:"message"`
		Errors  []struct {
			Reason string `json:"reason"`
		} `json:"errors"`
		Details []any `json:"details"`
	} `json:"error"`
}

func refusal(answer *http.Response) error {
	e := &Error{Status: answer.StatusCode, Header: answer.Header}
	b, err := io.ReadAll(io.LimitReader(answer.Body, maxRefusal))
	if err != nil {
		return e // the status says enough
	}
	var said refused
	if len(b) > 0 && b[0] == '[' { // some of Google's front ends answer with a list of one
		err = json.Unmarshal(b, &[]*refused{&said})
	} else {
		err = json.Unmarshal(b, &said)
	}
	if err != nil {
		return e
	}
	e.Message = said.Error.Message
	if len(said.Error.Errors) > 0 {
		e.Reason = said.Error.Errors[0].Reason
	}
	for _, d := range said.Error.Details {
		if m, ok := d.(map[string]any); ok {
			if reason, ok := m["reason"].(string); ok {
				e.Detail = reason
				break
			}
		}
	}
	return e
}
