package fake

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"muster/app"
	"muster/app/family"
)

// ErrCut, as an Outcome's error, ends the connection instead of answering: with Happens the machine is made (or gone) and
// the caller never hears of it. Without a server in between it is an error like any other.
var ErrCut = errors.New("the response was lost")

// callLimit is how long a call over HTTP runs on its own once requested. A cloud does not stop because its
// caller died.
const callLimit = time.Minute

// bodyLimit bounds what a call may send, in bytes.
const bodyLimit = 1 << 20

// question is the body of every call; answer is what comes back.
type question struct {
	ID   string              `json:"id,omitempty"`
	Tags map[string]string   `json:"tags,omitempty"`
	Spec *family.MachineSpec `json:"spec,omitempty"`
}

type answer struct {
	Machine  family.Machine   `json:"machine"`
	Machines []family.Machine `json:"machines"`
	Error    *app.Error       `json:"error,omitempty"`
	// RetryAfter is the error's, which does not travel with it.
	RetryAfter time.Duration `json:"retry_after,omitempty"`
	// Late is how long lists lag behind.
	Late time.Duration `json:"late,omitempty"`
}

// Serve returns the account to other processes, over HTTP, so that it outlives them: a provider of type fake whose setting
// url leads here is a client of it. Who asks must know the secret. Orders work as within the process; what was asked for
// happens although the one who asked is gone by then.
func (c *Cloud) Serve(secret string) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /create", c.call(func(ctx context.Context, q question, a *answer) (err error) {
		if q.Spec == nil {
			return app.Errorf(app.EInvalid, "the request names no machine")
		}
		a.Machine, err = c.Create(ctx, *q.Spec)
		return err
	}))
	mux.Handle("POST /describe", c.call(func(ctx context.Context, q question, a *answer) (err error) {
		a.Machine, err = c.Describe(ctx, q.ID)
		return err
	}))
	mux.Handle("POST /list", c.call(func(ctx context.Context, q question, a *answer) (err error) {
		a.Machines, err = c.List(ctx, q.Tags)
		return err
	}))
	mux.Handle("POST /delete", c.call(func(ctx context.Context, q question, _ *answer) error {
		return c.Delete(ctx, q.ID)
	}))
	mux.Handle("POST /adopt", c.call(func(ctx context.Context, q question, _ *answer) error {
		if q.Spec == nil {
			return app.Errorf(app.EInvalid, "the request names no owner for the machine")
		}
		return c.Adopt(ctx, q.ID, *q.Spec)
	}))
	mux.Handle("POST /sleep", c.call(func(ctx context.Context, q question, _ *answer) error { return c.Sleep(ctx, q.ID) }))
	mux.Handle("POST /wake", c.call(func(ctx context.Context, q question, _ *answer) error { return c.Wake(ctx, q.ID) }))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+secret)) != 1 {
			reply(w, http.StatusUnauthorized, answer{Error: app.Errorf(app.ECredentials, "the fake cloud rejected the secret")})
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func (c *Cloud) call(verb func(context.Context, question, *answer) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q question
		if err := json.NewDecoder(io.LimitReader(r.Body, bodyLimit)).Decode(&q); err != nil {
			reply(w, http.StatusBadRequest, answer{Error: app.Errorf(app.EInvalid, "the fake cloud can't parse the request")})
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), callLimit)
		defer cancel()
		var a answer
		err := verb(ctx, q, &a)
		if errors.Is(err, ErrCut) {
			panic(http.ErrAbortHandler) // ends the connection
		}
		a.Late = c.ListsLate()
		status := http.StatusOK
		if err != nil {
			a.Error, status = app.AsError(err), http.StatusServiceUnavailable
			if a.Error.Code == "" || a.Error.Code == app.EInternal {
				a.Error = app.Errorf(app.ETransient, "the fake cloud failed")
			}
			a.RetryAfter = a.Error.RetryAfter
		}
		reply(w, status, a)
	})
}

func reply(w http.ResponseWriter, status int, a answer) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(a) // the caller may be gone
}
