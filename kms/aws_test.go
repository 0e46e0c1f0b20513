package kms_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"muster/kms"
)

// TestKeyInAWS wraps by a key in AWS KMS, whose answers come in pieces: what the SDK does to a request's body by then does not cut them off.
func TestKeyInAWS(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AKID")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	var opened atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Plaintext, CiphertextBlob []byte }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		out, _ := json.Marshal(map[string]any{"KeyId": "k", "CiphertextBlob": in.Plaintext, "Plaintext": in.CiphertextBlob})
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		w.Header().Set("Content-Length", fmt.Sprint(len(out)))
		for _, piece := range [][]byte{out[:1], out[1:20], out[20:]} {
			_, _ = w.Write(piece)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	srv.Start()
	t.Cleanup(srv.Close)
	k, err := kms.Open(t.Context(), "awskms:///alias/muster?region=eu-test-1&endpoint="+srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.Close() })
	const rounds, size = 60, 8000 // longer than what net/http sends at once
	for i := range rounds {
		key := make([]byte, size)
		wrapped, err := k.Wrap(t.Context(), key)
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		if back, err := k.Unwrap(t.Context(), wrapped); err != nil || len(back) != size {
			t.Fatalf("%d: %d bytes, %v", i, len(back), err)
		}
	}
	if n := opened.Load(); n > 2 { // one, and one more where the host is so busy that it comes back too late
		t.Errorf("%d connections for %d calls one after the other, want 1", n, 2*rounds)
	}
}
