package conformance

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Fault is what an endpoint does to a call instead of answering it well.
type Fault string

// The faults.
const (
	Lost      Fault = "lost"      // the call is carried out, and the connection ends without an answer
	Broken    Fault = "broken"    // the call is carried out, and the answer is 500
	Down      Fault = "down"      // nothing is carried out, and the answer is 503
	Throttled Fault = "throttled" // nothing is carried out, and the answer is 429 with a Retry-After of 7 s
	Slow      Fault = "slow"      // the call is carried out at once, and answered after slowFor
)

// slowFor is how long a slow answer takes.
const slowFor = 3 * time.Second

// Faults is in front of a simulated endpoint. It counts the calls that would make a machine, and does to calls as set.
type Faults struct {
	// Creates reports whether a call makes a machine. It must not read the body, unless it puts it back.
	Creates func(*http.Request) bool
	// Throttle writes the cloud's own answer to calls that come too often; nil: a plain 429 with Retry-After: 7.
	Throttle http.HandlerFunc
	// Fail writes the cloud's own answer for a failure of its side, with the status that is given; nil: the plain status.
	Fail func(w http.ResponseWriter, r *http.Request, status int)

	mu      sync.Mutex
	armed   []armed
	created int
	calls   int
}

type armed struct {
	fault Fault
	left  int
	which func(*http.Request) bool
}

// Arm does the fault to the next n calls that are meant; nil means every call.
func (f *Faults) Arm(fault Fault, n int, which func(*http.Request) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = append(f.armed, armed{fault, n, which})
}

// Disarm forgets what has not been done yet, and tells how many calls that would have been.
func (f *Faults) Disarm() (left int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.armed {
		left += a.left
	}
	f.armed = nil
	return left
}

// Created returns how many calls that make a machine have come, and Calls how many of any kind.
func (f *Faults) Created() int { f.mu.Lock(); defer f.mu.Unlock(); return f.created }

// Calls returns how many calls of any kind have come.
func (f *Faults) Calls() int { f.mu.Lock(); defer f.mu.Unlock(); return f.calls }

func (f *Faults) next(r *http.Request) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if f.Creates(r) {
		f.created++
	}
	for i := range f.armed {
		if a := &f.armed[i]; a.left > 0 && (a.which == nil || a.which(r)) {
			a.left--
			fault := a.fault
			f.armed = slices.DeleteFunc(f.armed, func(a armed) bool { return a.left == 0 })
			return fault
		}
	}
	return ""
}

// Wrap puts the faults in front of an endpoint.
func (f *Faults) Wrap(endpoint http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch f.next(r) {
		case Lost:
			endpoint.ServeHTTP(newRecorder(), r)
			panic(http.ErrAbortHandler)
		case Broken:
			endpoint.ServeHTTP(newRecorder(), r)
			f.fail(w, r, http.StatusInternalServerError)
		case Down:
			f.fail(w, r, http.StatusServiceUnavailable)
		case Throttled:
			if f.Throttle != nil {
				f.Throttle(w, r)
				return
			}
			w.Header().Set("Retry-After", "7")
			http.Error(w, "too many requests", http.StatusTooManyRequests)
		case Slow:
			answer := newRecorder()
			endpoint.ServeHTTP(answer, r.WithContext(context.WithoutCancel(r.Context())))
			select {
			case <-time.After(slowFor):
			case <-r.Context().Done():
				panic(http.ErrAbortHandler)
			}
			for k, v := range answer.Header() {
				w.Header()[k] = v
			}
			w.WriteHeader(answer.code)
			_, _ = w.Write(answer.body.Bytes())
		default:
			endpoint.ServeHTTP(w, r)
		}
	})
}

func (f *Faults) fail(w http.ResponseWriter, r *http.Request, status int) {
	if f.Fail != nil {
		f.Fail(w, r, status)
		return
	}
	http.Error(w, http.StatusText(status), status)
}

// recorder keeps an answer. It is like that of net/http/httptest, which has no place in a program that is no test.
type recorder struct {
	header http.Header
	code   int
	closed bool // the first code counts
	body   bytes.Buffer
}

func newRecorder() *recorder { return &recorder{header: http.Header{}, code: http.StatusOK} }

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(code int) {
	if !r.closed {
		r.code, r.closed = code, true
	}
}

func (r *recorder) Write(b []byte) (int, error) {
	r.closed = true
	return r.body.Write(b)
}

func (r *recorder) Flush() {}
