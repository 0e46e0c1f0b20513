package docker

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/moby/moby/client"

	"muster/app"
	"muster/providers/internal/account"
)

// heard is the last answer to a verb's calls: the client keeps neither status nor header in its errors.
type heard struct {
	mu     sync.Mutex
	status int
	header http.Header
}

type heardKey struct{}

func listen(ctx context.Context) (context.Context, *heard) {
	h := new(heard)
	return context.WithValue(ctx, heardKey{}, h), h
}

func overhear(r *http.Response) {
	if r.Request == nil {
		return
	}
	if h, ok := r.Request.Context().Value(heardKey{}).(*heard); ok {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.status, h.header = r.StatusCode, r.Header.Clone()
	}
}

// ask makes ready for an answer, so that a call which is never answered is not taken for the one before it.
func ask(r *http.Request) error {
	if h, ok := r.Context().Value(heardKey{}).(*heard); ok {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.status, h.header = 0, nil
	}
	return nil
}

// code returns the status of the last answer, 0 where there was none.
func (h *heard) code() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.status
}

// whenToAsk is for proxies that refuse calls without saying until when.
const whenToAsk = 30 * time.Second

// failure returns an error of the client its code. The client wraps lost connections in errors of its own, without their causes.
func failure(ctx context.Context, h *heard, err error) error {
	if err == nil {
		return nil
	}
	var known *app.Error
	if errors.As(err, &known) {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	h.mu.Lock()
	status, header := h.status, h.header
	h.mu.Unlock()
	said := strings.TrimPrefix(strings.TrimSpace(err.Error()), "Error response from daemon: ")
	if status < http.StatusBadRequest {
		e := app.Errorf(app.ETransient, "The Docker Engine isn't responding: %s", said)
		e.Hint = "Check that it's running, and that Muster can reach the address in the setting host."
		if strings.Contains(said, "certificate") || strings.Contains(said, "tls:") || strings.Contains(said, "permission denied") {
			e.Code, e.Hint = app.ECredentials, "Check the settings ca, cert and key, or who can access the engine's socket."
		}
		if client.IsErrConnectionFailed(err) || e.Code == app.ECredentials {
			return e
		}
		return err // network failures that are themselves get their code from the family's wrapper
	}
	e := account.Status(status, header, "The Docker Engine responded: "+strings.TrimSuffix(said, ".")+".")
	switch {
	case e.Code == app.ERateLimit:
		e.RetryAfter = cmp.Or(e.RetryAfter, whenToAsk)
	case e.Code == app.ECredentials:
		e.Hint = "A plugin of the engine, or a proxy in front of it, denies Muster access."
	case status >= 500 && (strings.Contains(said, "no space left") || strings.Contains(said, "no available IPv4") || strings.Contains(said, "cannot allocate memory") || strings.Contains(said, "all predefined address pools")):
		e.Code, e.Hint = app.ECapacity, "Free up disk space, memory or addresses on the engine's host, or choose another provider."
	case strings.Contains(said, "executable file not found") || strings.Contains(said, "exec:") && strings.Contains(said, "no such file"):
		e.Code, e.Hint = app.EInvalid, "The image needs OpenSSH's server; the setting sshd is its path."
	case e.Code == app.ENotFound && strings.HasPrefix(said, "network "):
		e.Code, e.Hint = app.EInvalid, "Create it with docker network create, or set network to another."
	case e.Code == app.EConflict:
		e.Code = app.ETransient
	}
	return e
}

func absent(err error) bool { return app.CodeOf(err) == app.ENotFound }

func refused(err error) bool {
	switch app.CodeOf(err) {
	case app.EInvalid, app.ECapacity, app.ECredentials:
		return true
	}
	return false
}
