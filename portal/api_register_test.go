package portal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/app"
	"muster/portal/quota"
	"muster/portal/resource"
	"muster/portal/site"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
)

// twins are two APIs with the same operations: theirs are registered with huma.Register, ours with register.
type twins struct {
	theirs, ours             huma.API
	theirsRouter, oursRouter chi.Router
}

func newTwins(strict bool) *twins {
	tellProblems()
	one := func() (huma.API, chi.Router) {
		r := chi.NewRouter()
		c := huma.DefaultConfig("Twin", "1")
		c.CreateHooks, c.DocsPath, c.SchemasPath, c.OpenAPIPath = nil, "", "", ""
		c.RejectUnknownQueryParameters = strict
		api := humachi.New(r, c)
		c.Components.Schemas.Schema(reflect.TypeFor[app.Event](), true, "") // which streaming refers to
		api.UseMiddleware(func(ctx huma.Context, next func(huma.Context)) {
			ctx.SetHeader("X-Operation", fmt.Sprint(ctx.Operation().OperationID, " ", ctx.Operation().Metadata[site.MetaStream]))
			next(huma.WithValue(ctx, twinKey{}, "from a middleware"))
		})
		return api, r
	}
	t := &twins{}
	t.theirs, t.theirsRouter = one()
	t.ours, t.oursRouter = one()
	return t
}

type twinKey struct{}

// twin registers an operation with both.
func twin[I, O any](t *twins, method, path string, handler func(context.Context, *I) (*O, error), options ...site.Note) {
	switch method {
	case http.MethodGet:
		huma.Get(t.theirs, path, handler, options...)
		register(t.ours, site.Get(path, handler, options...))
	case http.MethodPost:
		huma.Post(t.theirs, path, handler, options...)
		register(t.ours, site.Post(path, handler, options...))
	case http.MethodPut:
		huma.Put(t.theirs, path, handler, options...)
		register(t.ours, site.Put(path, handler, options...))
	case http.MethodPatch:
		huma.Patch(t.theirs, path, handler, options...)
		register(t.ours, site.Patch(path, handler, options...))
	case http.MethodDelete:
		huma.Delete(t.theirs, path, handler, options...)
		register(t.ours, site.Delete(path, handler, options...))
	}
}

type twinStatus string

type TwinPage struct {
	After int64 `query:"after" minimum:"0" doc:"Only what is behind it"`
	Limit int   `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"At most so many"`
}

type twinListInput struct {
	TwinPage
	Query  string     `query:"q" required:"true" maxLength:"5" doc:"What to look for"`
	All    bool       `query:"all"`
	Status twinStatus `query:"status" enum:"new,old" default:"new"`
	Format string     `query:"format" pattern:"^[a-z]+$" patternDescription:"small letters"`
	Trace  string     `header:"X-Trace" minLength:"2" doc:"For the log"`
	Must   string     `header:"X-Must" required:"true"`
	Number int        `header:"X-Number" maximum:"9"`
	Accept string     `header:"Accept" hidden:"true"`
	secret string     //nolint:unused // such fields are passed over
}

type TwinPath struct {
	ID   int64  `path:"id" minimum:"1" maximum:"99" doc:"The number"`
	Name string `path:"name" maxLength:"3" enum:"a,b,abc,abcd"`
}

type twinPart struct {
	Kind string `json:"kind,omitempty" default:"node" maxLength:"6"`
	Size int    `json:"size" minimum:"1"`
}

type twinThing struct {
	Name   string            `json:"name" minLength:"1" maxLength:"8" doc:"What it is called"`
	Count  int               `json:"count,omitempty" minimum:"1" maximum:"9" default:"3"`
	Ratio  float64           `json:"ratio,omitempty" default:"0.5"`
	On     bool              `json:"on,omitempty" default:"true"`
	Status twinStatus        `json:"status,omitempty" enum:"new,old" default:"old"`
	Parts  []twinPart        `json:"parts,omitempty" maxItems:"2"`
	First  *twinPart         `json:"first,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	Wait   time.Duration     `json:"wait,omitempty"`
	Until  *time.Time        `json:"until,omitempty"`
	Raw    json.RawMessage   `json:"raw,omitempty"`
	Tags   []string          `json:"tags,omitempty" nullable:"false"`
}

type twinMakeInput struct {
	Team string `path:"team"`
	Dry  bool   `query:"dry"`
	Size int    `query:"size" default:"7"`
	Body twinThing
}

type twinMade struct {
	Status   int
	Location string `header:"Location" doc:"Where it is"`
	Body     any
}

type twinFile struct {
	ContentType string `header:"Content-Type"`
	Disposition string `header:"Content-Disposition"`
	Body        []byte
}

type twinPushInput struct {
	Name   string `query:"name" maxLength:"9"`
	stream io.Reader
}

func (in *twinPushInput) Resolve(ctx huma.Context) []error {
	in.stream = ctx.BodyReader()
	switch in.Name {
	case "status":
		return []error{&huma.ErrorDetail{Location: "query.name", Message: "no"}, huma.Error409Conflict("taken"), errors.New("and more")}
	case "plain":
		return []error{errors.New("plain")}
	}
	return nil
}

// echo shows all of an input.
func echo[I any](ctx context.Context, in *I) (*site.Body[string], error) {
	b, err := json.Marshal(in)
	return &site.Body[string]{Body: fmt.Sprint(string(b), " ", ctx.Value(twinKey{}))}, err
}

func twinFail(_ context.Context, in *struct {
	How string `query:"how"`
}) (*site.Body[string], error) {
	switch in.How {
	case "app":
		return nil, site.NewProblem(site.Known(&app.Error{Code: app.ERateLimit, Message: "Too often.", Hint: "Wait.", RetryAfter: 3 * time.Second}))
	case "wrapped":
		return nil, fmt.Errorf("outer: %w", site.NewProblem(site.Known(&app.Error{Code: app.ENotFound, Message: "It is gone."})))
	case "plain":
		return nil, errors.New("secret cause")
	case "huma":
		return nil, huma.ErrorWithHeaders(huma.Error404NotFound("none", errors.New("why")), http.Header{"X-Why": {"a", "b"}})
	case "headers":
		return nil, huma.ErrorWithHeaders(errors.New("plain"), http.Header{"X-Why": {"a"}})
	case "304":
		return nil, huma.Status304NotModified()
	case "panic":
		panic("a bug")
	case "abort":
		panic(http.ErrAbortHandler)
	}
	return nil, nil
}

func twinMake(_ context.Context, in *twinMakeInput) (*twinMade, error) {
	switch in.Body.Name {
	case "202":
		return &twinMade{Status: http.StatusAccepted, Body: in}, nil
	case "204":
		return &twinMade{Status: http.StatusNoContent, Body: in}, nil
	case "html":
		return &twinMade{Status: http.StatusOK, Body: map[string]string{"html": "<b>&</b>"}}, nil
	case "problem":
		return &twinMade{Status: http.StatusConflict, Body: &site.Problem{Title: "As an answer"}}, nil
	case "broken":
		return &twinMade{Status: http.StatusOK, Body: func() {}}, nil
	}
	return &twinMade{http.StatusCreated, "/things/" + in.Body.Name, in}, nil
}

func shortBody(o *huma.Operation) { o.MaxBodyBytes = 300 }

// register registers one operation for each thing that portal's inputs and outputs have.
func (t *twins) register() {
	twin(t, http.MethodGet, "/things", echo[twinListInput], site.About("List things"))
	twin(t, http.MethodGet, "/things/{id}/{name}", echo[TwinPath])
	twin(t, http.MethodGet, "/nothing", echo[struct{}], site.Open, site.About("Show nothing"))
	twin(t, http.MethodPost, "/teams/{team}/things", twinMake, site.About("Make a thing"), shortBody, site.Answers(http.StatusCreated))
	twin(t, http.MethodPost, "/either/{team}", twinMake, eitherTwin)
	twin(t, http.MethodPatch, "/things/{id}", echo[struct {
		ID   string `path:"id" doc:"The thing"`
		Body *struct {
			Name string `json:"name" maxLength:"3"`
		}
	}], site.About("Change a thing"), site.Answers(http.StatusAccepted), site.Slow)
	twin(t, http.MethodPost, "/must", echo[struct {
		Body *twinPart `required:"true" doc:"A part"`
	}], func(o *huma.Operation) { o.BodyReadTimeout = -1 })
	twin(t, http.MethodPost, "/any", echo[struct{ Body any }])
	twin(t, http.MethodPost, "/parts", echo[struct{ Body []twinPart }])
	twin(t, http.MethodPut, "/things/{id}/{name}", echo[twinEmbedded], site.Answers(http.StatusOK))
	twin(t, http.MethodPut, "/secret/{name}", echo[struct {
		Name    string `path:"name" maxLength:"3"`
		RawBody []byte `contentType:"application/x-secret"`
	}], site.About("Set a secret"), shortBody, site.Answers(http.StatusOK))
	twin(t, http.MethodPut, "/raw", func(_ context.Context, in *struct{ RawBody []byte }) (*struct{}, error) {
		if string(in.RawBody) == "nil" {
			return nil, nil
		}
		return &struct{}{}, nil
	})
	t.registerOutputs()
}

func (t *twins) registerOutputs() {
	twin(t, http.MethodDelete, "/things/{id}", func(context.Context, *site.IDInput) (*struct{}, error) {
		return nil, nil
	}, site.About("Delete"), site.Answers(http.StatusAccepted))
	twin(t, http.MethodDelete, "/things", func(context.Context, *struct{}) (*twinMade, error) { return &twinMade{Status: 418}, nil })
	twin(t, http.MethodGet, "/fail", twinFail, site.About("Fail"))
	twin(t, http.MethodGet, "/list", func(context.Context, *struct{}) (*site.Body[[]twinPart], error) { return &site.Body[[]twinPart]{}, nil })
	twin(t, http.MethodGet, "/head-only", func(context.Context, *struct{}) (*struct {
		Location string `header:"Location"`
	}, error) {
		return &struct {
			Location string `header:"Location"`
		}{"/here"}, nil
	})
	twin(t, http.MethodGet, "/file", func(_ context.Context, in *struct {
		Bare bool `query:"bare"`
	}) (*twinFile, error) {
		if in.Bare {
			return &twinFile{Body: []byte("{}")}, nil
		}
		return &twinFile{"text/csv; charset=utf-8", `attachment; filename="a.csv"`, []byte("a,b\n")}, nil
	}, quota.UsageForms)
	twin(t, http.MethodGet, "/json-file", func(context.Context, *struct{}) (*struct {
		ContentType string `header:"Content-Type"`
		Body        twinPart
	}, error) {
		return &struct {
			ContentType string `header:"Content-Type"`
			Body        twinPart
		}{"application/thing+json", twinPart{}}, nil
	})
	twin(t, http.MethodGet, "/stream", func(_ context.Context, in *struct {
		Number int `query:"n"`
	}) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			hc.SetHeader("Content-Type", "text/event-stream")
			hc.SetStatus(http.StatusPartialContent)
			_, _ = fmt.Fprintf(hc.BodyWriter(), "data: %d\n\n", in.Number)
		}}, nil
	}, site.About("Stream"), site.Streaming)
	twin(t, http.MethodPut, "/push", func(_ context.Context, in *twinPushInput) (*site.Body[string], error) {
		b, err := io.ReadAll(in.stream)
		return &site.Body[string]{Body: string(b)}, err
	}, site.About("Push"), resource.Content)
}

func eitherTwin(o *huma.Operation) {
	o.OperationID, o.Summary, o.Description, o.Tags = "either way", "Made or not", "It may take a while.", []string{"things"}
	answer := map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/TwinThing"}}}
	o.DefaultStatus = http.StatusCreated
	o.Responses = map[string]*huma.Response{"201": {Content: answer}, "202": {Description: "Not yet", Content: answer}}
	o.Errors = []int{http.StatusTeapot}
	o.Middlewares = huma.Middlewares{func(ctx huma.Context, next func(huma.Context)) {
		ctx.AppendHeader("X-Middleware", "own")
		next(ctx)
	}}
}

// ask is what a test sends. A header is "Name: value"; fail is what reading the body ends with.
type ask struct {
	method, path, body string
	headers            []string
	fail               error
	gone               bool // the client
}

type brokenBody struct {
	r   io.Reader
	err error
}

func (b brokenBody) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err == io.EOF && b.err != nil {
		err = b.err
	}
	return n, err
}

// deadlines notes whether deadlines are set.
type deadlines struct {
	*httptest.ResponseRecorder
	set []string
}

func (d *deadlines) SetReadDeadline(t time.Time) error {
	after := "never"
	if !t.IsZero() {
		after = time.Until(t).Round(time.Second).String()
	}
	d.set = append(d.set, after)
	return nil
}

// send is all that can be seen of an answer, as text.
func (a ask) send(h http.Handler) (seen string) {
	var from io.Reader = brokenBody{strings.NewReader(a.body), a.fail}
	if a.body == "" && a.fail == nil {
		from = nil
	}
	r := httptest.NewRequest(a.method, a.path, from)
	for _, header := range a.headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Add(name, value)
	}
	if a.gone {
		ctx, cancel := context.WithCancel(r.Context())
		cancel()
		r = r.WithContext(ctx)
	}
	w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	defer func() {
		if p := recover(); p != nil {
			seen += fmt.Sprintf("panic: %v\n", p)
		}
		seen += fmt.Sprint(w.Code, " ", w.Header(), " ", w.set, "\n", w.Body)
	}()
	h.ServeHTTP(w, r)
	return ""
}

func (a ask) String() string {
	b := a.body
	if len(b) > 60 {
		b = b[:60] + "…"
	}
	return fmt.Sprint(a.method, " ", a.path, " ", b, " ", a.headers)
}

const must = "X-Must: 1"

// A number says which status is expected, so that the table tests what it means to; 0 is a panic.
var twinAsks = []struct {
	status int
	ask
}{
	{200, ask{method: "GET", path: "/things?q=abc", headers: []string{must}}},
	{200, ask{method: "GET", path: "/things?q=abc&after=5&limit=7&all=true&status=old&format=x",
		headers: []string{must, "X-Trace: ab", "X-Number: 4", "Accept: text/html"}}},
	{200, ask{method: "GET", path: "/things?q=abc&limit=&all=1", headers: []string{must, "Accept: application/json;q=0.1, */*"}}},
	{422, ask{method: "GET", path: "/things", headers: []string{must}}},
	{422, ask{method: "GET", path: "/things?q=abc"}},
	{422, ask{method: "GET", path: "/things?q=", headers: []string{must}}},
	{422, ask{method: "GET", path: "/things?q=abcdef", headers: []string{must}}},
	{422, ask{method: "GET", path: "/things?q=a&q=bcdefghij&limit=x", headers: []string{must}}},
	{422, ask{method: "GET", path: "/things?q=a&all=maybe&after=1.5&limit=99999999999999999999", headers: []string{must}}},
	{422, ask{method: "GET", path: "/things?q=a&limit=501&after=-1&status=older&format=A1", headers: []string{must, "X-Trace: a", "X-Number: 10"}}},
	{422, ask{method: "GET", path: "/things?q=a", headers: []string{must, "X-Number: ten"}}},
	{422, ask{method: "GET", path: "/things?q=a&limt=5&X-Trace=ab", headers: []string{must}}},
	{422, ask{method: "GET", path: "/things?limt=5"}},
	{200, ask{method: "GET", path: "/things/5/abc"}},
	{422, ask{method: "GET", path: "/things/0/abcd"}},
	{422, ask{method: "GET", path: "/things/x/y"}},
	{200, ask{method: "GET", path: "/nothing"}},
	{422, ask{method: "GET", path: "/nothing?a=1&b=2"}},
	{200, ask{method: "GET", path: "/nothing", body: "ignored"}},

	{201, ask{method: "POST", path: "/teams/x/things", body: `{"name":"a"}`}},
	{201, ask{method: "POST", path: "/teams/x/things", body: `{"name":"a"}`, headers: []string{"Content-Type: application/json; charset=utf-8"}}},
	{201, ask{method: "POST", path: "/teams/x/things", body: `{"name":"a"}`, headers: []string{"Content-Type: application/merge-patch+json"}}},
	{201, ask{method: "POST", path: "/teams/x/things?dry=true&size=0", body: `{"name":"a","count":9,"ratio":2,"on":true,"status":"new","wait":5,
		"parts":[{"size":1},{"kind":"x","size":2}],"first":{"size":4},"labels":{"a":"b"},"until":"2030-01-02T03:04:05Z","raw":{"a":[1]},"tags":[]}`}},
	{201, ask{method: "POST", path: "/teams/x/things", body: `{"name":"a","on":false,"ratio":0}`}},
	{202, ask{method: "POST", path: "/teams/x/things", body: `{"name":"202"}`}},
	{204, ask{method: "POST", path: "/teams/x/things", body: `{"name":"204"}`}},
	{200, ask{method: "POST", path: "/teams/x/things", body: `{"name":"html"}`}},
	{409, ask{method: "POST", path: "/teams/x/things", body: `{"name":"problem"}`}},
	{0, ask{method: "POST", path: "/teams/x/things", body: `{"name":"broken"}`}},
	{200, ask{method: "POST", path: "/teams/x/things", body: `{"name":"broken"}`, gone: true}},
	{400, ask{method: "POST", path: "/teams/x/things"}},
	{400, ask{method: "POST", path: "/teams/x/things?size=big"}},
	{400, ask{method: "POST", path: "/teams/x/things", body: `{"name":`}},
	{400, ask{method: "POST", path: "/teams/x/things", body: `{"name":"a"} more`}},
	{400, ask{method: "POST", path: "/teams/x/things?dry=maybe", body: `nonsense`}},
	{422, ask{method: "POST", path: "/teams/x/things", body: `{}`}},
	{422, ask{method: "POST", path: "/teams/x/things", body: `null`}},
	{422, ask{method: "POST", path: "/teams/x/things", body: `[]`}},
	{422, ask{method: "POST", path: "/teams/x/things?dry=maybe&size=1.5", body: `{"name":"","nmae":"a","count":10,"status":"x"}`}},
	{422, ask{method: "POST", path: "/teams/x/things?nodry=1", body: `{"nmae":"a"}`}},
	{422, ask{method: "POST", path: "/teams/x/things", body: `{"name":"a","parts":[{"size":0,"kind":"toolong"},{"size":1.5},{}]}`}},
	{422, ask{method: "POST", path: "/teams/x/things", body: `{"name":5,"on":"yes","labels":{"a":1},"first":null,"tags":null,"until":"tomorrow"}`}},
	{422, ask{method: "POST", path: "/teams/x/things", body: `{"name":"a","wait":1.5e30}`}},
	{415, ask{method: "POST", path: "/teams/x/things", body: `{"name":"a"}`, headers: []string{"Content-Type: text/plain"}}},
	{415, ask{method: "POST", path: "/teams/x/things", body: `a`, headers: []string{"Content-Type: a;b+c"}}},
	{413, ask{method: "POST", path: "/teams/x/things", body: `{"name":"` + strings.Repeat("a", 400) + `"}`}},
	{413, ask{method: "POST", path: "/teams/x/things?dry=maybe", body: strings.Repeat(" ", 300)}},
	{201, ask{method: "POST", path: "/teams/x/things", body: `{"name":"a"}` + strings.Repeat(" ", 299-len(`{"name":"a"}`))}},
	{408, ask{method: "POST", path: "/teams/x/things?dry=maybe", body: `{"name":"a"}`, fail: os.ErrDeadlineExceeded}},
	{500, ask{method: "POST", path: "/teams/x/things?dry=maybe", body: `{"name":"a"}`, fail: errors.New("broken pipe")}},
	{500, ask{method: "POST", path: "/teams/x/things", fail: &http.MaxBytesError{Limit: 5}}},

	{201, ask{method: "POST", path: "/either/x?dry=true", body: `{"name":"a"}`}},
	{202, ask{method: "PATCH", path: "/things/x", body: `{"name":"abc"}`}},
	{202, ask{method: "PATCH", path: "/things/x"}},
	{422, ask{method: "PATCH", path: "/things/x", body: `null`}},
	{422, ask{method: "PATCH", path: "/things/x", body: `{"name":"abcd"}`}},
	{422, ask{method: "PATCH", path: "/things/x", body: `{}`}},
	{200, ask{method: "POST", path: "/must", body: `{"size":1}`}},
	{400, ask{method: "POST", path: "/must"}},
	{200, ask{method: "POST", path: "/any", body: `[1,{"a":null}]`}},
	{200, ask{method: "POST", path: "/any"}},
	{400, ask{method: "POST", path: "/any", body: `{`}},
	{200, ask{method: "POST", path: "/parts", body: `[{"size":1},{"size":2,"kind":"a"}]`}},
	{422, ask{method: "POST", path: "/parts", body: `[{"size":1},{"size":0},7]`}},
	{413, ask{method: "POST", path: "/parts", body: strings.Repeat("[", 1<<20)}},

	{200, ask{method: "PUT", path: "/things/1/a", body: `{"size":1}`}},
	{422, ask{method: "PUT", path: "/things/1/b", body: `{"size":1,"kind":"toolong"}`}},
	{422, ask{method: "PUT", path: "/things/100/c", body: `{"size":"1"}`}},

	{200, ask{method: "PUT", path: "/secret/a", body: "\x00\xff raw", headers: []string{"Content-Type: image/png"}}},
	{400, ask{method: "PUT", path: "/secret/a"}},
	{422, ask{method: "PUT", path: "/secret/abcd?x", body: "s"}},
	{422, ask{method: "PUT", path: "/secret/abcd", body: "s"}},
	{413, ask{method: "PUT", path: "/secret/a", body: strings.Repeat("s", 301)}},
	{413, ask{method: "PUT", path: "/secret/abcd", body: strings.Repeat("s", 300)}},
	{500, ask{method: "PUT", path: "/secret/a", body: "s", fail: errors.New("broken pipe")}},
	{204, ask{method: "PUT", path: "/raw", body: "nil"}},
	{204, ask{method: "PUT", path: "/raw", body: strings.Repeat("s", 2<<20)}},

	{202, ask{method: "DELETE", path: "/things/x"}},
	{422, ask{method: "DELETE", path: "/things/" + strings.Repeat("x", 129)}},
	{418, ask{method: "DELETE", path: "/things"}},

	{429, ask{method: "GET", path: "/fail?how=app"}},
	{404, ask{method: "GET", path: "/fail?how=wrapped"}},
	{500, ask{method: "GET", path: "/fail?how=plain"}},
	{404, ask{method: "GET", path: "/fail?how=huma", headers: []string{"Accept: application/cbor"}}},
	{500, ask{method: "GET", path: "/fail?how=headers"}},
	{304, ask{method: "GET", path: "/fail?how=304"}},
	{0, ask{method: "GET", path: "/fail?how=panic"}},
	{0, ask{method: "GET", path: "/fail?how=abort"}},
	{200, ask{method: "GET", path: "/fail?how=nil"}},

	{200, ask{method: "GET", path: "/list"}},
	{204, ask{method: "GET", path: "/head-only"}},
	{200, ask{method: "GET", path: "/file"}},
	{200, ask{method: "GET", path: "/file?bare=true"}},
	{200, ask{method: "GET", path: "/json-file"}},
	{206, ask{method: "GET", path: "/stream?n=3"}},
	{422, ask{method: "GET", path: "/stream?n=x"}},
	{200, ask{method: "PUT", path: "/push?name=a", body: "content"}},
	{200, ask{method: "PUT", path: "/push"}},
	{409, ask{method: "PUT", path: "/push?name=status", body: "content"}},
	{422, ask{method: "PUT", path: "/push?name=plain", body: "content"}},
	{422, ask{method: "PUT", path: "/push?name=muchtoolong", body: "content"}},
}

// What register makes of an operation is what huma.Register makes of it: the document, and the answer to every kind of request.
func TestRegisterIsHumas(t *testing.T) {
	for _, strict := range []bool{true, false} {
		both := newTwins(strict)
		both.register()
		theirs, err := json.Marshal(both.theirs.OpenAPI())
		if err != nil {
			t.Fatal(err)
		}
		if ours, _ := json.Marshal(both.ours.OpenAPI()); !bytes.Equal(theirs, ours) {
			t.Errorf("huma documents\n%s\nand portal\n%s", theirs, ours)
		}
		for _, a := range twinAsks {
			theirs, ours := a.send(both.theirsRouter), a.send(both.oursRouter)
			if theirs != ours {
				t.Errorf("%s, strict %t: huma answers\n%s\nand portal\n%s", a, strict, theirs, ours)
			}
			want := fmt.Sprint(a.status, " ")
			if a.status == 0 {
				want = "panic: "
			}
			if strict && !strings.HasPrefix(theirs, want) {
				t.Errorf("%s is not answered with %q but with\n%s", a, want, theirs)
			}
		}
	}
}

// Requests that come at the same time see nothing of each other.
func TestRegisterKeepsRequestsApart(t *testing.T) {
	both := newTwins(true)
	both.register()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 50 {
				a := ask{method: "POST", path: fmt.Sprintf("/teams/t%d/things?size=%d", i, j+1), body: fmt.Sprintf(`{"name":"n%d","parts":[{"size":%d}]}`, i, j+1)}
				want := fmt.Sprintf(`"Team":"t%d","Dry":false,"Size":%d,"Body":{"name":"n%d"`, i, j+1, i)
				if seen := a.send(both.oursRouter); !strings.Contains(seen, want) || !strings.Contains(seen, fmt.Sprintf(`"size":%d}`, j+1)) {
					t.Errorf("%s is answered with\n%s", a, seen)
				}
				if seen := (ask{method: "GET", path: fmt.Sprintf("/things/%d/no", 100+i)}).send(both.oursRouter); !strings.HasPrefix(seen, "422 ") {
					t.Errorf("a wrong request is answered with\n%s", seen)
				}
			}
		})
	}
	all.Wait()
}

type twinWrapped string

func (w *twinWrapped) Receiver() reflect.Value { return reflect.ValueOf(w).Elem() }

type twinReactor string

func (*twinReactor) OnParamSet(bool, any) {}

type TwinResolver struct{}

func (*TwinResolver) Resolve(huma.Context) []error { return nil }

type twinPathResolver struct{}

func (*twinPathResolver) Resolve(huma.Context, *huma.PathBuffer) []error { return nil }

type TwinBody struct{ Body twinPart }

type twinEmbedded struct {
	TwinPath
	TwinBody
}

type twinHidden struct {
	Name string `query:"name"`
}

type twinMedia struct{}

func (*twinMedia) ContentType(string) string { return "" }

func refusedInput[I any](options ...site.Note) func(huma.API) {
	return func(api huma.API) { register(api, site.Post("/x", echo[I], options...)) }
}

func refusedOutput[O any](options ...site.Note) func(huma.API) {
	return func(api huma.API) {
		register(api, site.Post("/x", func(context.Context, *struct{}) (*O, error) { return nil, nil }, options...))
	}
}

var twinRefusals = []struct {
	want     string
	register func(huma.API)
}{
	{"field A of", refusedInput[struct{ A string }]()},
	{"parameters are strings", refusedInput[struct {
		A *string `query:"a"`
	}]()},
	{"parameters are strings", refusedInput[struct {
		A []string `query:"a"`
	}]()},
	{"parameters are strings", refusedInput[struct {
		A float64 `query:"a"`
	}]()},
	{"parameters are strings", refusedInput[struct {
		A time.Time `header:"a"`
	}]()},
	{"no tag path", refusedInput[struct {
		A string `cookie:"a"`
	}]()},
	{"no tag path", refusedInput[struct {
		A string `form:"a"`
	}]()},
	{"one place", refusedInput[struct {
		A string `query:"a,explode"`
	}]()},
	{"one place", refusedInput[struct {
		A string `query:"a" header:"a"`
	}]()},
	{"not exported", refusedInput[struct {
		a string `query:"a"`
	}]()},
	{"wrap or react", refusedInput[struct {
		A twinWrapped `query:"a"`
	}]()},
	{"wrap or react", refusedInput[struct {
		A twinReactor `query:"a"`
	}]()},
	{"field twinHidden", refusedInput[struct{ twinHidden }]()},
	{"field TwinPage", refusedInput[struct{ *TwinPage }]()},
	{"one body", refusedInput[struct {
		TwinBody
		Body twinPart
	}]()},
	{"the tag contentType", refusedInput[struct {
		Body twinPart `contentType:"text/x"`
	}]()},
	{"the tag nameHint", refusedInput[struct {
		Body struct{} `nameHint:"X"`
	}]()},
	{"describes the body too", refusedInput[struct{ Body twinPart }](described)},
	{"describes the body too", refusedInput[struct{ RawBody []byte }](described)},
	{"describes the body too", refusedInput[struct {
		Body    twinPart
		RawBody []byte
	}]()},
	{"a raw body is a []byte", refusedInput[struct{ RawBody string }]()},
	{"a raw body cannot be", refusedInput[struct {
		RawBody []byte `contentType:"multipart/form-data"`
	}]()},
	{"within a map", refusedInput[struct{ Body map[string]twinPart }]()},
	{"have defaults", refusedInput[struct {
		Body struct {
			A *int `default:"5"`
		}
	}]()},
	{"have defaults", refusedInput[struct {
		Body struct {
			A []string `default:"a,b"`
		}
	}]()},
	{"only the input itself", refusedInput[struct{ Body struct{ A []TwinResolver } }]()},
	{"only the input itself", refusedInput[struct{ Body twinPathResolver }]()},
	{"only the input itself", refusedInput[struct{ TwinResolver }]()},
	{"Resolve takes only", refusedInput[twinPathResolver]()},
	{"Resolve takes only", refusedInput[struct {
		TwinResolver
		Body string
	}]()},
	{"is not a struct", refusedInput[string]()},
	{"field A of", refusedOutput[struct{ A string }]()},
	{"field A of", refusedOutput[struct {
		A int `header:"A"`
	}]()},
	{"field A of", refusedOutput[struct {
		A string `header:"A" hidden:"true"`
	}]()},
	{"cannot embed", refusedOutput[struct{ TwinBody }]()},
	{"field Status of", refusedOutput[struct{ Status int64 }]()},
	{"a function as Body", refusedOutput[struct{ Body func() }]()},
	{"content types", refusedOutput[struct{ Body twinMedia }]()},
	{"an option that", refusedOutput[struct{}](func(o *huma.Operation) { o.Hidden = true })},
	{"an option that", refusedOutput[struct{}](func(o *huma.Operation) { o.SkipValidateParams = true })},
	{"an option that", refusedOutput[struct{}](func(o *huma.Operation) { o.SkipValidateBody = true })},
}

func described(o *huma.Operation) { o.RequestBody = &huma.RequestBody{} }

// What register does not support panics when it is registered, and says which field it is about.
func TestRegisterRefusesTheRest(t *testing.T) {
	for _, c := range twinRefusals {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, c.want) {
					t.Errorf("registering panics with %q instead of %q", said, c.want)
				}
			}()
			c.register(newTwins(true).ours)
		}()
	}
}
