package site

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Operation is an operation of the REST API as a noun lists it.
type Operation struct {
	Method, Path string
	Endpoint
	Notes []Note
}

// Note adds to what is known of an operation.
type Note = func(*huma.Operation)

// Get is an operation of that method.
func Get[I, O any](path string, handler func(context.Context, *I) (*O, error), notes ...Note) Operation {
	return Operation{http.MethodGet, path, endpointOf(handler), notes}
}

// Post is an operation of that method.
func Post[I, O any](path string, handler func(context.Context, *I) (*O, error), notes ...Note) Operation {
	return Operation{http.MethodPost, path, endpointOf(handler), notes}
}

// Put is an operation of that method.
func Put[I, O any](path string, handler func(context.Context, *I) (*O, error), notes ...Note) Operation {
	return Operation{http.MethodPut, path, endpointOf(handler), notes}
}

// Patch is an operation of that method.
func Patch[I, O any](path string, handler func(context.Context, *I) (*O, error), notes ...Note) Operation {
	return Operation{http.MethodPatch, path, endpointOf(handler), notes}
}

// Delete is an operation of that method.
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

// OnceHeader carries the key of a request that is carried out once.
const OnceHeader = "Idempotency-Key"

// About gives an operation its summary, and what all operations have: limits, refusals, headers.
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
		o.Parameters = append(o.Parameters, header("If-None-Match", "The ETag of an answer that you have: where it is still right, the answer is 304 and empty"))
	default:
		o.Errors = append(o.Errors, http.StatusPreconditionFailed, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
		o.Parameters = append(o.Parameters, header(OnceHeader, "A random text of your own; the same request with the same key is carried out once, within a day"))
	}
	switch o.Method {
	case http.MethodPut, http.MethodPatch, http.MethodDelete:
		o.Parameters = append(o.Parameters, header("If-Match", "The ETag of what you have read at this address: where it is another by now, nothing is changed and the answer is 412"))
	}
}

func header(name, doc string) *huma.Param {
	return &huma.Param{Name: name, In: "header", Description: doc, Schema: &huma.Schema{Type: huma.TypeString}}
}

// Answers is the status of success, where it isn't the usual one.
func Answers(status int) Note {
	return func(o *huma.Operation) { o.DefaultStatus = status }
}

// Files documents that an operation answers with a file, in one of several media types.
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

// Open lets everyone in. It stands before About.
func Open(o *huma.Operation) { o.Security = []map[string][]string{} }

// Streaming keeps the time limit of requests away from an operation that takes as long as it takes.
func Streaming(o *huma.Operation) {
	o.Metadata = map[string]any{MetaStream: true}
	schema := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{
		"events": {Type: huma.TypeArray, Items: &huma.Schema{Ref: "#/components/schemas/Event"}},
	}}
	o.Responses = map[string]*huma.Response{"200": {
		Description: "Events after a number, oldest first; as text/event-stream: each event as it comes, with its number as id",
		Content: map[string]*huma.MediaType{
			"application/json":  {Schema: schema},
			"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}},
		},
	}}
}

// EitherAmend documents the answers.
func EitherAmend(o *huma.Operation) {
	answer := map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/AmendAnswer"}}}
	o.DefaultStatus = http.StatusCreated
	o.Responses = map[string]*huma.Response{
		"200": {Description: "The cluster is so already; nothing was to be done", Content: answer},
		"201": {Description: "The operation, and the cluster as it is now", Content: answer},
		"202": {Description: "The request waits for approvals", Content: answer},
	}
}

// Slow lets an operation take longer than others, as it speaks to someone else.
func Slow(o *huma.Operation) { o.Metadata = map[string]any{MetaStream: true} }
