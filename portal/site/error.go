package site

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/portal/page"
)

// RateAgain is how long a rate-limited caller of the API should wait. The window slides, so this is much shorter than the window.
const RateAgain = 5 * time.Second

// The portal's own errors.
var (
	ErrForeign = &app.Error{
		Code: app.EForbidden, Reason: "cross_origin", Message: "This request came from another site and was blocked.",
		Hint: "Open the page in the portal and try again.",
	}
	ErrBug         = &app.Error{Code: app.EInternal, Message: "internal error"}
	ErrNoSuchPage  = &app.Error{Code: app.ENotFound, Message: "This address doesn't exist."}
	ErrNoSuchVerb  = &app.Error{Code: app.EInvalid, Reason: "method", Message: "This address doesn't support this method."}
	errStreamsFull = &app.Error{
		Code: app.ERateLimit, Reason: "streams", Message: "Too many live pages are open.", Hint: "Close some of your tabs.", RetryAfter: 10 * time.Second,
	}
	errAsksFull = &app.Error{
		Code: app.ERateLimit, Reason: "streams", Message: "Too many of your programs are waiting for events.",
		Hint: "Stop some of them, or poll with wait=0.", RetryAfter: 10 * time.Second,
	}
)

// answer is a code's HTTP status and page title.
type answer struct {
	Status int
	title  string
}

var statuses = map[app.Code]answer{
	app.EInvalid:      {http.StatusUnprocessableEntity, "Invalid request"},
	app.ENotFound:     {http.StatusNotFound, "Not found"},
	app.EConflict:     {http.StatusConflict, "Not possible right now"},
	app.ENoLayout:     {http.StatusUnprocessableEntity, "No layout fits"},
	app.EStale:        {http.StatusConflict, "Changed by someone else"},
	app.ETooLarge:     {http.StatusRequestEntityTooLarge, "Too large"},
	app.EUnauthorized: {http.StatusUnauthorized, "Sign in to continue"},
	app.EForbidden:    {http.StatusForbidden, "Not allowed"},
	app.ECredentials:  {http.StatusBadGateway, "Credentials rejected"},
	app.ECapacity:     {http.StatusServiceUnavailable, "No capacity available"},
	app.EQuota:        {http.StatusServiceUnavailable, "Quota exceeded"},
	app.ERateLimit:    {http.StatusTooManyRequests, "Too many requests"},
	app.ETransient:    {http.StatusServiceUnavailable, "Temporarily unavailable"},
	app.ETimeout:      {http.StatusGatewayTimeout, "Timed out"},
	app.EHostKey:      {http.StatusBadGateway, "Machine not verified"},
	app.EScript:       {http.StatusBadGateway, "Service action failed"},
	app.ECancelled:    {http.StatusConflict, "Cancelled"},
	app.EInternal:     {http.StatusInternalServerError, "Something went wrong"},
}

// Known returns the public part of an error and its answer. Errors without a code become "internal error".
func Known(err error) (*app.Error, answer) {
	var tooLarge *http.MaxBytesError
	e := app.AsError(err)
	switch {
	case errors.As(err, &tooLarge):
		e = &app.Error{Code: app.ETooLarge, Message: "The request is larger than " + humanize.Bytes(tooLarge.Limit) + "."}
	case e.Code == app.EInternal && errors.Is(err, context.DeadlineExceeded):
		e = &app.Error{Code: app.ETimeout, Message: "The request timed out.", Hint: "Try again."}
	}
	a, ok := statuses[e.Code]
	if !ok || e.Code == app.EInternal {
		return ErrBug, statuses[app.EInternal]
	}
	switch e.Reason {
	case "method":
		a.Status = http.StatusMethodNotAllowed
	case "precondition":
		a.Status = http.StatusPreconditionFailed
	case "malformed":
		a.Status = http.StatusBadRequest
	case "quota", "resource_quota": // Muster's own, not a cloud's
		a.Status = http.StatusConflict
	}
	return e, a
}

// StatusOf is the HTTP status of an error.
func StatusOf(err error) int {
	_, a := Known(err)
	return a.Status
}

// LogError logs what people don't see. Requests cancelled by their sender aren't logged.
func (p *Site) LogError(r *http.Request, err error, status int) {
	if status >= http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
		p.Log.ErrorContext(r.Context(), "request failed", "error", err, "method", r.Method, "path", r.URL.Path,
			"status", status, "request", RequestOf(r.Context()).Id)
	}
}

// ShowError answers a person with an error page.
func (p *Site) ShowError(w http.ResponseWriter, r *http.Request, err error) {
	e, a := Known(err)
	p.LogError(r, err, a.Status)
	RetryAfter(w.Header(), e)
	words := page.Problem{Status: a.Status, Title: a.title, Message: humanize.PlainText(e.Message), Hint: e.Hint}
	if e.Code == app.EInternal {
		words.Message = "Muster hit an unexpected error. It has been logged."
	}
	if a.Status >= http.StatusInternalServerError {
		words.Request = RequestOf(r.Context()).Id
	}
	switch {
	case r.Header.Get("Accept") == "text/event-stream" || r.Header.Get("Muster-Part") != "":
		http.Error(w, words.Message, a.Status)
	case r.Header.Get("HX-Request") != "":
		p.Render(w, r, a.Status, p.Notice(words.Message))
	default:
		p.Render(w, r, a.Status, page.ProblemPage(p.Frame(r, a.title), words))
	}
}

// AnswerError answers a program or a person with an error.
func (p *Site) AnswerError(w http.ResponseWriter, r *http.Request, err error) {
	if ForPrograms(r) {
		p.WriteProblem(w, r, err)
		return
	}
	p.ShowError(w, r, err)
}

func RetryAfter(h http.Header, e *app.Error) {
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int((e.RetryAfter+time.Second-1)/time.Second)))
	}
}

// Problem is an error for programs: RFC 9457 plus the members of app.Error.
type Problem struct {
	Title  string   `json:"title" doc:"Text of the status"`
	Status int      `json:"status" doc:"HTTP status"`
	Detail string   `json:"detail" doc:"What is wrong, in one sentence"`
	Code   app.Code `json:"code" doc:"Kind of error: invalid, not_found, conflict, no_layout, …"`
	Kind   string   `json:"kind,omitempty" doc:"More specific reason within the code"`
	Hint   string   `json:"hint,omitempty" doc:"How to fix the error"`
	Field  string   `json:"field,omitempty" doc:"Name of the invalid field"`
	Places []Place  `json:"errors,omitempty" doc:"All invalid parts of the request"`

	retry time.Duration
}

// Place is one invalid part of a request.
type Place struct {
	Message  string `json:"message"`
	Location string `json:"location,omitempty" doc:"Location in the request, such as body.size or query.after"`
}

func NewProblem(e *app.Error, a answer) *Problem {
	return &Problem{
		Title: http.StatusText(a.Status), Status: a.Status, Detail: humanize.PlainText(e.Message), Code: e.Code, Kind: e.Reason, Hint: e.Hint,
		Field: e.Field, retry: e.RetryAfter,
	}
}

// Error returns the detail.
func (b *Problem) Error() string { return b.Detail }

// GetStatus returns the HTTP status, for huma.
func (b *Problem) GetStatus() int { return b.Status }

// GetHeaders returns the problem's headers, for huma.
func (b *Problem) GetHeaders() http.Header {
	h := http.Header{}
	RetryAfter(h, &app.Error{RetryAfter: b.retry})
	return h
}

// ContentType returns the media type of RFC 9457, for huma.
func (b *Problem) ContentType(string) string { return "application/problem+json" }

// WriteProblem answers a program outside of huma.
func (p *Site) WriteProblem(w http.ResponseWriter, r *http.Request, err error) {
	e, a := Known(err)
	p.LogError(r, err, a.Status)
	RetryAfter(w.Header(), e)
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(a.Status)
	_ = json.NewEncoder(w).Encode(NewProblem(e, a))
}
