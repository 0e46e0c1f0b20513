package site

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Operation is an operation of the REST API.
type Operation struct {
	Method, Path string
	Endpoint
	Notes []Note
}

// Note adds to an operation's description.
type Note = func(*huma.Operation)

// Get is a GET operation.
func Get[I, O any](path string, handler func(context.Context, *I) (*O, error), notes ...Note) Operation {
	return Operation{http.MethodGet, path, endpointOf(handler), notes}
}

// Post is a POST operation.
func Post[I, O any](path string, handler func(context.Context, *I) (*O, error), notes ...Note) Operation {
	return Operation{http.MethodPost, path, endpointOf(handler), notes}
}

// Put is a PUT operation.
func Put[I, O any](path string, handler func(context.Context, *I) (*O, error), notes ...Note) Operation {
	return Operation{http.MethodPut, path, endpointOf(handler), notes}
}

// Patch is a PATCH operation.
func Patch[I, O any](path string, handler func(context.Context, *I) (*O, error), notes ...Note) Operation {
	return Operation{http.MethodPatch, path, endpointOf(handler), notes}
}

// Delete is a DELETE operation.
func Delete[I, O any](path string, handler func(context.Context, *I) (*O, error), notes ...Note) Operation {
	return Operation{http.MethodDelete, path, endpointOf(handler), notes}
}

// An Endpoint is a handler without its types: In and Out are structs, and Call takes and returns pointers to them.
type Endpoint struct {
	In, Out reflect.Type
	Call    func(ctx context.Context, in any) (any, error)
}

func endpointOf[I, O any](handler func(context.Context, *I) (*O, error)) Endpoint {
	return Endpoint{reflect.TypeFor[I](), reflect.TypeFor[O](), func(ctx context.Context, in any) (any, error) {
		out, err := handler(ctx, in.(*I))
		if out == nil { // a nil *O would not be nil as any
			return nil, err
		}
		return out, err
	}}
}

// OnceHeader carries a request's idempotency key.
const OnceHeader = "Idempotency-Key"

// About adds a summary, and the limits, errors and headers of all operations.
func About(summary string) Note {
	return func(o *huma.Operation) { describe(o, summary) } // small, since the compiler repeats it wherever About is called
}

func describe(o *huma.Operation, summary string) {
	o.Summary = summary
	o.MaxBodyBytes = APILimit
	if o.Security == nil {
		o.Security = []map[string][]string{{"token": {}}}
	}
	o.Errors = append(o.Errors, http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusTooManyRequests,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout)
	switch o.Method {
	case http.MethodGet:
		if o.Responses == nil {
			o.Responses = map[string]*huma.Response{}
		}
		o.Responses["304"] = &huma.Response{Description: http.StatusText(http.StatusNotModified)}
		o.Parameters = append(o.Parameters, header("If-None-Match", "ETag of a cached response; if it's still current, the response is 304 without a body"))
	default:
		o.Errors = append(o.Errors, http.StatusPreconditionFailed, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
		o.Parameters = append(o.Parameters, header(OnceHeader, "Unique key of your choice; repeated requests with the same key within a day are executed once"))
	}
	switch o.Method {
	case http.MethodPut, http.MethodPatch, http.MethodDelete:
		o.Parameters = append(o.Parameters, header("If-Match", "ETag of the version you read; if it has changed since, nothing is changed and the response is 412"))
	}
}

func header(name, doc string) *huma.Param {
	return &huma.Param{Name: name, In: "header", Description: doc, Schema: &huma.Schema{Type: huma.TypeString}}
}

// Answers sets the success status, if it isn't the default.
func Answers(status int) Note {
	return func(o *huma.Operation) { o.DefaultStatus = status }
}

// Files documents that an operation returns a file, in one of several media types.
func Files(description string, kinds ...string) Note {
	return func(o *huma.Operation) {
		content := map[string]*huma.MediaType{}
		for _, kind := range kinds {
			content[kind] = &huma.MediaType{}
			if kind != MediaJSON {
				content[kind].Schema = &huma.Schema{Type: huma.TypeString}
			}
		}
		if o.Responses == nil {
			o.Responses = map[string]*huma.Response{}
		}
		o.Responses["200"] = &huma.Response{Description: description, Content: content}
	}
}

// Open allows access without a token. It must precede About.
func Open(o *huma.Operation) { o.Security = []map[string][]string{} }

// Streaming exempts an operation from the time limit of requests.
func Streaming(o *huma.Operation) {
	o.Metadata = map[string]any{MetaStream: true}
	schema := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{
		"events": {Type: huma.TypeArray, Items: &huma.Schema{Ref: "#/components/schemas/Event"}},
	}}
	o.Responses = map[string]*huma.Response{"200": {
		Description: "Events after a number, oldest first; as text/event-stream, each event as it happens with its number as ID",
		Content: map[string]*huma.MediaType{
			"application/json":  {Schema: schema},
			"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}},
		},
	}}
}

// EitherUpdate documents the responses.
func EitherUpdate(o *huma.Operation) {
	answer := map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/UpdateAnswer"}}}
	o.DefaultStatus = http.StatusCreated
	o.Responses = map[string]*huma.Response{
		"200": {Description: "Nothing to change", Content: answer},
		"201": {Description: "The started operation and the cluster", Content: answer},
		"202": {Description: "The request is waiting for approval or its maintenance window", Content: answer},
	}
}

// Unkept repeats an operation for each request, even with the same idempotency key: its answer has secrets, and each request
// is in the audit log.
func Unkept(o *huma.Operation) { o.Metadata = map[string]any{MetaUnkept: true} }

// Slow allows an operation more time, since it calls other systems.
func Slow(o *huma.Operation) { o.Metadata = map[string]any{MetaStream: true} }
