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

// RateAgain is after what time a caller beyond a rate limit of the API may ask again: its window slides, so there is room long before all of
// it has passed.
const RateAgain = 5 * time.Second

// Errors that the portal finds by itself.
var (
	ErrForeign = &app.Error{
		Code: app.EForbidden, Reason: "cross_origin", Message: "This request was sent by another site, so it was not carried out.",
		Hint: "Open the page here and try again.",
	}
	ErrBug         = &app.Error{Code: app.EInternal, Message: "internal error"}
	ErrNoSuchPage  = &app.Error{Code: app.ENotFound, Message: "There is nothing at this address."}
	ErrNoSuchVerb  = &app.Error{Code: app.EInvalid, Reason: "method", Message: "This address cannot be used in that way."}
	errStreamsFull = &app.Error{
		Code: app.ERateLimit, Reason: "streams", Message: "Too many live pages are open.", Hint: "Close some of them.", RetryAfter: 10 * time.Second,
	}
	errAsksFull = &app.Error{
		Code: app.ERateLimit, Reason: "streams", Message: "Too many of your programs wait for events or read streams of them at the same time.",
		Hint: "End some of them, or ask with wait=0, which takes no place.", RetryAfter: 10 * time.Second,
	}
)

// answer is what a code means over HTTP: the status, and the title of the page that says so.
type answer struct {
	Status int
	title  string
}

var statuses = map[app.Code]answer{
	app.EInvalid:      {http.StatusUnprocessableEntity, "That cannot be done like this"},
	app.ENotFound:     {http.StatusNotFound, "Not found"},
	app.EConflict:     {http.StatusConflict, "Not now"},
	app.ENoLayout:     {http.StatusUnprocessableEntity, "No layout fits"},
	app.EStale:        {http.StatusConflict, "Somebody was faster"},
	app.ETooLarge:     {http.StatusRequestEntityTooLarge, "Too large"},
	app.EUnauthorized: {http.StatusUnauthorized, "Please sign in"},
	app.EForbidden:    {http.StatusForbidden, "Not allowed"},
	app.ECredentials:  {http.StatusBadGateway, "A provider refused us"},
	app.ECapacity:     {http.StatusServiceUnavailable, "No room just now"},
	app.EQuota:        {http.StatusServiceUnavailable, "A limit is reached"},
	app.ERateLimit:    {http.StatusTooManyRequests, "Too often"},
	app.ETransient:    {http.StatusServiceUnavailable, "Try again"},
	app.ETimeout:      {http.StatusGatewayTimeout, "It took too long"},
	app.EHostKey:      {http.StatusBadGateway, "A machine could not prove itself"},
	app.EScript:       {http.StatusBadGateway, "A service action failed"},
	app.ECancelled:    {http.StatusConflict, "It was stopped"},
	app.EInternal:     {http.StatusInternalServerError, "Something broke"},
}

// Known finds what may be notified of an error and how it is answered. Only what has a code is told; everything else is
// "internal error".
func Known(err error) (*app.Error, answer) {
	var tooLarge *http.MaxBytesError
	e := app.AsError(err)
	switch {
	case errors.As(err, &tooLarge):
		e = &app.Error{Code: app.ETooLarge, Message: "The request is larger than " + strconv.FormatInt(tooLarge.Limit>>10, 10) + " KiB."}
	case e.Code == app.EInternal && errors.Is(err, context.DeadlineExceeded):
		e = &app.Error{Code: app.ETimeout, Message: "It did not finish in time.", Hint: "Try again."}
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
	case "quota", "resource_quota": // ours, and not one of a cloud
		a.Status = http.StatusConflict
	}
	return e, a
}

// StatusOf is the HTTP status of an error.
func StatusOf(err error) int {
	_, a := Known(err)
	return a.Status
}

// LogError keeps what people are not shown. A request that its sender gave up is no one's mistake.
func (p *Site) LogError(r *http.Request, err error, status int) {
	if status >= http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
		p.Log.ErrorContext(r.Context(), "request failed", "error", err, "method", r.Method, "path", r.URL.Path,
			"status", status, "request", RequestOf(r.Context()).Id)
	}
}

// ShowError answers a person.
func (p *Site) ShowError(w http.ResponseWriter, r *http.Request, err error) {
	e, a := Known(err)
	p.LogError(r, err, a.Status)
	RetryAfter(w.Header(), e)
	words := page.Problem{Status: a.Status, Title: a.title, Message: humanize.PlainText(e.Message), Hint: e.Hint}
	if e.Code == app.EInternal {
		words.Message = "This is our mistake, not yours. It was written down."
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

// AnswerError answers whoever asked, a program or a person.
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

// Problem is an error for programs: RFC 9457 with the members of app.Error beside it.
type Problem struct {
	Title  string   `json:"title" doc:"The status in words"`
	Status int      `json:"status" doc:"The HTTP status"`
	Detail string   `json:"detail" doc:"What is wrong, in a sentence"`
	Code   app.Code `json:"code" doc:"What kind of failure it is: invalid, not_found, conflict, no_layout, …"`
	Kind   string   `json:"kind,omitempty" doc:"A finer kind of the code"`
	Hint   string   `json:"hint,omitempty" doc:"What would make it possible"`
	Field  string   `json:"field,omitempty" doc:"The input that was wrong"`
	Places []Place  `json:"errors,omitempty" doc:"Where in the request something is wrong, when there is more to say"`

	retry time.Duration
}

// Place is one thing that is wrong with a request.
type Place struct {
	Message  string `json:"message"`
	Location string `json:"location,omitempty" doc:"Such as body.size or query.after"`
}

func NewProblem(e *app.Error, a answer) *Problem {
	return &Problem{
		Title: http.StatusText(a.Status), Status: a.Status, Detail: humanize.PlainText(e.Message), Code: e.Code, Kind: e.Reason, Hint: e.Hint,
		Field: e.Field, retry: e.RetryAfter,
	}
}

// Error returns the sentence.
func (b *Problem) Error() string { return b.Detail }

// GetStatus returns the HTTP status; huma asks for it.
func (b *Problem) GetStatus() int { return b.Status }

// GetHeaders returns the headers that belong to the problem; huma asks for them.
func (b *Problem) GetHeaders() http.Header {
	h := http.Header{}
	RetryAfter(h, &app.Error{RetryAfter: b.retry})
	return h
}

// ContentType names the format as RFC 9457 wants it; huma asks for it.
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
