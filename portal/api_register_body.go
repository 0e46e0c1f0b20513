package portal

import (
	"cmp"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"muster/portal/site"

	"github.com/danielgtaylor/huma/v2"
)

// hint names the schema of a body whose type has no name.
func hint(t reflect.Type, f reflect.StructField, other string) string {
	if t.Name() == "" {
		return other
	}
	return t.Name() + f.Name
}

func (o *restOperation) addBody(f reflect.StructField) {
	for _, tag := range []string{"contentType", "nameHint"} {
		if f.Tag.Get(tag) != "" {
			unsupported(o.In, f, "the tag "+tag+" is not supported")
		}
	}
	if o.doc.RequestBody != nil {
		unsupported(o.In, f, "an option describes the body too")
	}
	o.body = f.Index
	o.schema = huma.SchemaFromField(o.schemas, f, hint(o.In, f, o.doc.OperationID+"Request"))
	optional := f.Type.Kind() == reflect.Pointer || f.Type.Kind() == reflect.Interface
	o.doc.RequestBody = &huma.RequestBody{
		Required: f.Tag.Get("required") == "true" || !optional,
		Content:  map[string]*huma.MediaType{site.MediaJSON: {Schema: o.schema}},
	}
	// What huma sets where an operation says nothing.
	o.doc.BodyReadTimeout = cmp.Or(o.doc.BodyReadTimeout, 5*time.Second)
	o.doc.MaxBodyBytes = cmp.Or(o.doc.MaxBodyBytes, 1<<20)
}

func (o *restOperation) addRawBody(f reflect.StructField) {
	media := cmp.Or(f.Tag.Get("contentType"), "application/octet-stream")
	switch {
	case f.Type != reflect.TypeFor[[]byte]():
		unsupported(o.In, f, "a raw body is a []byte")
	case media == "multipart/form-data" || media == site.MediaJSON:
		unsupported(o.In, f, "a raw body cannot be of the type "+media)
	case o.doc.RequestBody != nil:
		unsupported(o.In, f, "a Body or an option describes the body too")
	}
	o.raw = f.Index
	o.doc.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		media: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
	}}
}

// searched is a type that was looked through for defaults: as part of a map or an array, or not.
type searched struct {
	t      reflect.Type
	inside bool
}

// findDefaults keeps the defaults of the fields of a type, and of all that is in them.
func (o *restOperation) findDefaults(t reflect.Type, inside bool, seen map[searched]bool) {
	o.refuseResolver(t)
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		o.findDefaults(t.Elem(), inside, seen)
	case reflect.Map, reflect.Array:
		o.findDefaults(t.Elem(), true, seen)
	}
	if t.Kind() != reflect.Struct || seen[searched{t, inside}] {
		return
	}
	seen[searched{t, inside}] = true
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		switch {
		case f.Tag.Get("default") == "":
		case inside:
			unsupported(t, f, "a default within a map or an array has no effect")
		default:
			o.defaults[t] = append(o.defaults[t], fieldDefault{i, o.defaultOf(t, f)})
		}
		o.findDefaults(f.Type, inside, seen)
	}
}

func (o *restOperation) defaultOf(t reflect.Type, f reflect.StructField) reflect.Value {
	switch f.Type.Kind() {
	case reflect.String, reflect.Int, reflect.Int64, reflect.Bool, reflect.Float64:
		return reflect.ValueOf(huma.SchemaFromField(o.schemas, f, "").Default).Convert(f.Type)
	}
	unsupported(t, f, "only strings, int, int64, bool and float64 have defaults")
	return reflect.Value{}
}

// refuseResolver makes sure that no Resolve is forgotten: only that of the input itself is called.
func (o *restOperation) refuseResolver(t reflect.Type) {
	for _, kind := range []reflect.Type{t, reflect.PointerTo(t)} {
		if t != o.In && (kind.Implements(reflect.TypeFor[huma.Resolver]()) || kind.Implements(reflect.TypeFor[huma.ResolverWithPath]())) {
			panic(fmt.Sprintf("portal: input %v: only the input itself can have a Resolve, not %v in it", o.In, t))
		}
	}
}

func (o *restOperation) addOutput() {
	if o.Out.Kind() != reflect.Struct {
		panic(fmt.Sprintf("portal: output %v is not a struct", o.Out))
	}
	if f, ok := o.Out.FieldByName("Body"); ok {
		o.addAnswer(f)
	}
	if o.doc.DefaultStatus == 0 {
		o.doc.DefaultStatus = http.StatusNoContent
		if o.answer >= 0 {
			o.doc.DefaultStatus = http.StatusOK
		}
	}
	r := o.response(o.doc.DefaultStatus, http.StatusText(o.doc.DefaultStatus))
	for i := range o.Out.NumField() {
		f := o.Out.Field(i)
		switch {
		case f.Anonymous:
			unsupported(o.Out, f, "outputs cannot embed")
		case !f.IsExported() || f.Name == "Body":
		case f.Name == "Status" && f.Type.Kind() == reflect.Int:
			o.status = i
		case f.Type.Kind() != reflect.String || f.Tag.Get("header") == "" || f.Tag.Get("hidden") != "":
			unsupported(o.Out, f, "beside an int Status and a Body, outputs have strings with the tag header")
		default:
			name := f.Tag.Get("header")
			o.headers = append(o.headers, responseHeader{i, name})
			if r.Headers == nil {
				r.Headers = map[string]*huma.Param{}
			}
			r.Headers[name] = &huma.Header{Schema: huma.SchemaFromField(o.schemas, f, "")}
		}
	}
}

// response is what the document says about a status; an option may have described it before.
func (o *restOperation) response(status int, description string) *huma.Response {
	key := strconv.Itoa(status)
	if o.doc.Responses[key] == nil {
		o.doc.Responses[key] = &huma.Response{Description: description}
	}
	return o.doc.Responses[key]
}

func (o *restOperation) addAnswer(f reflect.StructField) {
	stream := f.Type.Kind() == reflect.Func
	switch {
	case stream && f.Type != reflect.TypeFor[func(huma.Context)]():
		unsupported(o.Out, f, "a function as Body is a func(huma.Context)")
	case reflect.PointerTo(f.Type).Implements(reflect.TypeFor[huma.ContentTypeFilter]()) || f.Tag.Get("nameHint") != "":
		unsupported(o.Out, f, "content types and names of schemas of its own are not supported")
	case len(f.Index) > 1:
		unsupported(o.Out, f, "outputs cannot embed")
	}
	o.answer = f.Index[0]
	status := cmp.Or(o.doc.DefaultStatus, http.StatusOK)
	r := o.response(status, http.StatusText(status))
	r.Description = cmp.Or(r.Description, http.StatusText(status))
	if stream {
		return
	}
	schema := huma.SchemaFromField(o.schemas, f, hint(o.Out, f, o.doc.OperationID+"Response"))
	if len(r.Content) == 0 {
		r.Content = map[string]*huma.MediaType{site.MediaJSON: {}}
	}
	if m := r.Content[site.MediaJSON]; m != nil && m.Schema == nil {
		m.Schema = schema
	}
}

// addErrors documents the answers to requests that fail.
func (o *restOperation) addErrors() {
	if len(o.doc.Errors) > 0 {
		if len(o.params) > 0 || o.body != nil {
			o.doc.Errors = append(o.doc.Errors, http.StatusUnprocessableEntity)
		}
		o.doc.Errors = append(o.doc.Errors, http.StatusInternalServerError)
	}
	media := site.MediaJSON
	example := huma.NewError(0, "")
	if f, ok := example.(huma.ContentTypeFilter); ok {
		media = f.ContentType(media)
	}
	t := reflect.TypeOf(example)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	content := map[string]*huma.MediaType{media: {Schema: o.schemas.Schema(t, true, cmp.Or(t.Name(), "Error"))}}
	for _, code := range o.doc.Errors {
		o.doc.Responses[strconv.Itoa(code)] = &huma.Response{Description: http.StatusText(code), Content: content}
	}
	if len(o.doc.Responses) <= 1 && len(o.doc.Errors) == 0 {
		o.doc.Responses["default"] = &huma.Response{Description: "Error", Content: content}
	}
}
