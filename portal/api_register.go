package portal

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"muster/portal/site"
)

// Operations are site.Operation, and are registered with huma by register, and not with huma.Get, huma.Post and so on. Those are generic, and the
// compiler translates all of huma.Register again for each pair of input and output types. With about 170 operations, that was 60 % of this
// package: its machine code had 5.8 MB and has 2.3 MB now, compiling it took 31 s of processor time and takes 14 s now, and the program
// (without symbols) was 70.3 MB and is 65.8 MB. Here, only the conversion of a handler to an endpoint is generic.
//
// Schemas, validation, the document and the router are still huma's. Only what portal uses is supported: an input or output that needs more
// panics when it is registered. TestRegisterIsHumas compares the document and the answers with those of huma.Register; run it after each
// update of huma. api_register_body.go documents bodies, api_register_serve.go reads requests, and api_register_answer.go writes answers.

// An operation is what is known about an endpoint before the first request.
type restOperation struct {
	site.Endpoint
	api     huma.API
	doc     *huma.Operation
	schemas huma.Registry

	params   []param
	strict   bool // refuses query parameters that it does not know
	resolves bool
	body     []int        // the index of the input's Body; nil if it has none
	raw      []int        // the same for RawBody
	schema   *huma.Schema // of Body
	defaults map[reflect.Type][]fieldDefault

	status, answer int // the indexes of the output's Status and Body; -1 if it has none
	headers        []responseHeader
}

type param struct {
	index    []int
	in, name string
	fallback string
	required bool
	schema   *huma.Schema
}

type fieldDefault struct {
	field int
	value reflect.Value
}

type responseHeader struct {
	field int
	name  string
}

// register documents an operation and routes requests to it.
func register(api huma.API, op site.Operation) {
	method, path, e := op.Method, op.Path, op.Endpoint
	out := reflect.Zero(reflect.PointerTo(e.Out)).Interface() // huma makes the names from the type of a value
	doc := &huma.Operation{
		OperationID: huma.GenerateOperationID(method, path, out), Summary: huma.GenerateSummary(method, path, out),
		Method: method, Path: path, Metadata: map[string]any{},
	}
	for _, o := range op.Notes {
		o(doc)
	}
	config := api.(interface{ Config() huma.Config }).Config()
	if doc.Hidden || doc.SkipValidateParams || doc.SkipValidateBody || len(config.Transformers) > 0 || config.NoFormatFallback {
		panic(method + " " + path + " has an option that portal does not support")
	}
	if doc.Responses == nil {
		doc.Responses = map[string]*huma.Response{}
	}
	o := &restOperation{
		Endpoint: e, api: api, doc: doc, schemas: api.OpenAPI().Components.Schemas, defaults: map[reflect.Type][]fieldDefault{}, status: -1, answer: -1,
		strict: config.RejectUnknownQueryParameters || doc.RejectUnknownQueryParameters,
	}
	// The order matters: the first use of a type puts it among the schemas of the document.
	o.addInput()
	o.addOutput()
	o.addErrors()
	api.OpenAPI().AddOperation(doc)
	o.findDefaults(e.In, false, map[searched]bool{})
	api.Adapter().Handle(doc, api.Middlewares().Handler(doc.Middlewares.Handler(o.serve)))
}

// unsupported stops the program as it starts, because an input or output asks for what this file does not do.
func unsupported(t reflect.Type, f reflect.StructField, why string) {
	panic(fmt.Sprintf("portal: field %s of %v: %s", f.Name, t, why))
}

func (o *restOperation) addInput() {
	if o.In.Kind() != reflect.Struct {
		panic(fmt.Sprintf("portal: input %v is not a struct", o.In))
	}
	o.resolves = reflect.PointerTo(o.In).Implements(reflect.TypeFor[huma.Resolver]())
	o.addFields(o.In, nil)
	if f, ok := o.In.FieldByName("Body"); ok {
		o.addBody(f)
	}
	if f, ok := o.In.FieldByName("RawBody"); ok {
		o.addRawBody(f)
	}
	withPath := reflect.PointerTo(o.In).Implements(reflect.TypeFor[huma.ResolverWithPath]())
	if withPath || o.resolves && (o.body != nil || o.raw != nil) {
		panic(fmt.Sprintf("portal: input %v: Resolve takes only the context, and is for inputs without Body and RawBody", o.In))
	}
}

// addFields finds parameters, also those of embedded structs.
func (o *restOperation) addFields(t reflect.Type, parent []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(slices.Clone(parent), i)
		switch {
		case f.Anonymous && (!f.IsExported() || f.Type.Kind() != reflect.Struct):
			unsupported(t, f, "only exported structs can be embedded")
		case f.Anonymous:
			o.addFields(f.Type, index)
		case f.Name == "Body" || f.Name == "RawBody":
			if found, ok := o.In.FieldByName(f.Name); !ok || !slices.Equal(found.Index, index) {
				unsupported(t, f, "an input has one body")
			}
		case f.IsExported():
			o.addParam(t, f, index)
		case f.Tag != "":
			unsupported(t, f, "it is not exported, so its tags have no effect")
		}
	}
}

func (o *restOperation) addParam(t reflect.Type, f reflect.StructField, index []int) {
	p := param{index: index, fallback: f.Tag.Get("default")}
	for _, in := range []string{"path", "query", "header"} {
		name := f.Tag.Get(in)
		if name != "" && (p.name != "" || strings.Contains(name, ",")) {
			unsupported(t, f, "a parameter has one place and a name without options")
		}
		if name != "" {
			p.in, p.name = in, name
		}
	}
	switch f.Type.Kind() {
	case reflect.String, reflect.Int, reflect.Int64, reflect.Bool:
	default:
		unsupported(t, f, "parameters are strings, int, int64 or bool")
	}
	pointer := reflect.PointerTo(f.Type)
	switch {
	case p.name == "":
		unsupported(t, f, "it has no tag path, query or header")
	case pointer.Implements(reflect.TypeFor[huma.ParamWrapper]()), pointer.Implements(reflect.TypeFor[huma.ParamReactor]()):
		unsupported(t, f, "parameters that wrap or react are not supported")
	}
	p.required = p.in == "path"
	if v, ok := f.Tag.Lookup("required"); ok {
		p.required = v == "true"
	}
	p.schema = huma.SchemaFromField(o.schemas, f, "")
	o.params = append(o.params, p)
	listed := func(d *huma.Param) bool { return d.Name == p.name && d.In == p.in }
	if f.Tag.Get("hidden") == "true" || slices.ContainsFunc(o.doc.Parameters, listed) {
		return
	}
	d := &huma.Param{Name: p.name, In: p.in, Description: p.schema.Description, Required: p.required, Schema: p.schema}
	if p.in == "query" {
		d.Explode = new(bool)
	}
	o.doc.Parameters = append(o.doc.Parameters, d)
}
