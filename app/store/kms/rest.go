package kms

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// answered is the status and the text of an answer that is not 200.
type answered struct {
	status int
	text   string
}

func (a *answered) Error() string { return fmt.Sprintf("status %d: %s", a.status, a.text) }

// post sends a value in JSON and reads the answer into another one.
func post(ctx context.Context, client *http.Client, method, where string, header http.Header, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, where, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, values := range header {
		r.Header[name] = values
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "muster")
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
		return ofStatus(answer.StatusCode, &answered{answer.StatusCode, string(said)})
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(out); err != nil {
		return fmt.Errorf("can't read the answer: %w", err)
	}
	return nil
}
