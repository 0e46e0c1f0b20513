package portal

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/portal/site"

	"github.com/danielgtaylor/huma/v2"
)

// incoming is a request whose input is being read. It isn't shared between requests.
type incoming struct {
	*restOperation
	ctx    huma.Context
	input  reflect.Value // the struct
	at     *huma.PathBuffer
	found  huma.ValidateResult
	status int // of the error, if any
}

// serve answers a request: it reads the input, and reports all its errors or calls the handler.
func (o *restOperation) serve(ctx huma.Context) {
	in := &incoming{
		restOperation: o, ctx: ctx, input: reflect.New(o.In).Elem(), at: huma.NewPathBuffer(make([]byte, 0, 128), 0), status: http.StatusUnprocessableEntity,
	}
	if in.unknownQueries(); len(in.found.Errors) > 0 {
		in.refuse(in.status, "validation failed", in.found.Errors)
		return
	}
	for i := range o.params {
		in.readParam(&o.params[i])
	}
	if (o.body != nil || o.raw != nil) && !in.readBody() {
		return
	}
	if o.resolves {
		in.resolve()
	}
	if len(in.found.Errors) > 0 {
		in.refuse(in.status, "validation failed", in.found.Errors)
		return
	}
	out, err := o.Call(ctx.Context(), in.input.Addr().Interface())
	switch {
	case err != nil:
		o.fail(ctx, err)
	case out == nil:
		ctx.SetStatus(o.doc.DefaultStatus)
	default:
		o.send(ctx, reflect.ValueOf(out).Elem())
	}
}

func (in *incoming) refuse(status int, message string, causes []error) {
	_ = huma.WriteErr(in.api, in.ctx, status, message, causes...) // huma has logged that it could not be written
}

// point sets the parameter that errors are about.
func (in *incoming) point(place, name string) {
	in.at.Reset()
	in.at.Push(place)
	in.at.Push(name)
}

func (in *incoming) unknownQueries() {
	if !in.strict {
		return
	}
	u := in.ctx.URL()
	for name := range u.Query() {
		known := func(p param) bool { return p.in == "query" && p.name == name }
		if !slices.ContainsFunc(in.params, known) {
			in.point("query", name)
			in.found.Add(in.at, "", "unknown query parameter")
		}
	}
}

func (in *incoming) readParam(p *param) {
	in.point(p.in, p.name)
	text := p.text(in.ctx)
	if text == "" {
		if p.required {
			in.found.Add(in.at, "", "required "+p.in+" parameter is missing")
		}
		return
	}
	v, err := setParam(in.input.FieldByIndex(p.index), text)
	if err != nil {
		in.found.Add(in.at, text, err.Error())
		return
	}
	huma.Validate(in.schemas, p.schema, in.at, huma.ModeWriteToServer, v, &in.found)
}

// text is the parameter's value, or else its default.
func (p *param) text(ctx huma.Context) string {
	var s string
	switch p.in {
	case "path":
		s = ctx.Param(p.name)
	case "query":
		s = ctx.Query(p.name)
	case "header":
		s = ctx.Header(p.name)
	}
	if s == "" {
		return p.fallback
	}
	return s
}

// setParam sets a field, and returns the value for huma.Validate.
func setParam(f reflect.Value, text string) (any, error) {
	switch f.Kind() {
	case reflect.String:
		f.SetString(text)
		return text, nil
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, errors.New("invalid boolean")
		}
		f.SetBool(b)
		return b, nil
	default: // addParam lets no other kinds through
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, errors.New("invalid integer")
		}
		f.SetInt(n)
		return n, nil
	}
}

// readBody reports whether to continue; otherwise the request has been answered.
func (in *incoming) readBody() bool {
	switch t := in.doc.BodyReadTimeout; {
	case t > 0:
		_ = in.ctx.SetReadDeadline(time.Now().Add(t))
	case t < 0:
		_ = in.ctx.SetReadDeadline(time.Time{}) // no deadline, not even the server's
	}
	b, ok := in.bytes()
	switch {
	case !ok:
		return false
	case len(b) == 0 && in.doc.RequestBody.Required:
		in.refuse(http.StatusBadRequest, "request body is required", in.found.Errors)
		return false
	case in.raw != nil:
		in.input.FieldByIndex(in.raw).SetBytes(b)
	case len(b) > 0:
		in.decode(b)
	}
	return true
}

// bytes is the whole body. As in huma, a body as long as the limit is already too large.
func (in *incoming) bytes() ([]byte, bool) {
	r := in.ctx.BodyReader()
	if r == nil {
		r = http.NoBody
	}
	if c, ok := r.(io.Closer); ok {
		defer func() { _ = c.Close() }()
	}
	limit := in.doc.MaxBodyBytes
	if limit > 0 {
		r = io.LimitReader(r, limit)
	}
	b, err := io.ReadAll(r)
	var slow net.Error
	switch {
	case limit > 0 && int64(len(b)) == limit:
		in.refuse(http.StatusRequestEntityTooLarge, fmt.Sprintf("request body is too large limit=%d bytes", limit), in.found.Errors)
	case errors.As(err, &slow) && slow.Timeout():
		in.refuse(http.StatusRequestTimeout, "request body read timeout", in.found.Errors)
	case err != nil:
		in.refuse(http.StatusInternalServerError, "cannot read request body", []error{err})
	default:
		return b, true
	}
	return nil, false
}

// decode validates a body in generic form, so that errors have a location, and then decodes it into the input.
func (in *incoming) decode(b []byte) {
	media := in.ctx.Header("Content-Type")
	if media == "" {
		media = site.MediaJSON
	}
	wrong := func(err error) {
		in.found.Errors = append(in.found.Errors, &huma.ErrorDetail{Location: "body", Message: err.Error(), Value: string(b)})
	}
	var general any
	if err := in.api.Unmarshal(media, b, &general); err != nil {
		in.status = http.StatusBadRequest
		if errors.Is(err, huma.ErrUnknownContentType) {
			in.status = http.StatusUnsupportedMediaType
		}
		wrong(err)
		return
	}
	if strings.Contains(media, "json") {
		if err := repeatedKey(b); err != nil {
			in.status = http.StatusBadRequest
			in.found.Errors = append(in.found.Errors, err)
			return
		}
	}
	before := len(in.found.Errors)
	in.at.Reset()
	in.at.Push("body")
	huma.Validate(in.schemas, in.schema, in.at, huma.ModeWriteToServer, general, &in.found)
	if len(in.found.Errors) > before {
		return
	}
	if err := in.api.Unmarshal(media, b, in.input.FieldByIndex(in.body).Addr().Interface()); err != nil {
		wrong(err) // the schema allows more than the type
		return
	}
	if len(in.defaults) > 0 {
		in.fill(in.input)
	}
}

// fill sets zero fields to their defaults. Like huma, it can't distinguish a sent zero from an omitted field.
func (o *restOperation) fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			o.fill(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			o.fill(v.Index(i))
		}
	case reflect.Struct:
		for _, d := range o.defaults[v.Type()] {
			if f := v.Field(d.field); f.IsZero() {
				f.Set(d.value)
			}
		}
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				o.fill(f)
			}
		}
	}
}

func (in *incoming) resolve() {
	in.found.Errors = append(in.found.Errors, in.input.Addr().Interface().(huma.Resolver).Resolve(in.ctx)...)
	for _, err := range slices.Backward(in.found.Errors) {
		if s, ok := errors.AsType[huma.StatusError](err); ok {
			in.status = s.GetStatus()
			return
		}
	}
}
