package trace

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	otel "go.opentelemetry.io/otel/trace"
)

// The types below are those of OTLP's trace.proto in its JSON encoding: ids in hex, enums as numbers, 64-bit integers as strings.

type exportRequest struct {
	ResourceSpans []*resourceSpans `json:"resourceSpans"`
}

type resourceSpans struct {
	Resource   resourceOf    `json:"resource"`
	ScopeSpans [1]scopeSpans `json:"scopeSpans"`
	SchemaURL  string        `json:"schemaUrl,omitempty"`
}

type resourceOf struct {
	Attributes []keyValue `json:"attributes,omitempty"`
}

type scopeSpans struct {
	Scope     scope  `json:"scope"`
	Spans     []span `json:"spans"`
	SchemaURL string `json:"schemaUrl,omitempty"`
}

type scope struct {
	Name       string     `json:"name,omitempty"`
	Version    string     `json:"version,omitempty"`
	Attributes []keyValue `json:"attributes,omitempty"`
}

type span struct {
	TraceID           string     `json:"traceId"`
	SpanID            string     `json:"spanId"`
	TraceState        string     `json:"traceState,omitempty"`
	ParentSpanID      string     `json:"parentSpanId,omitempty"`
	Flags             uint32     `json:"flags"`
	Name              string     `json:"name"`
	Kind              int        `json:"kind"`
	Start             uint64     `json:"startTimeUnixNano,string"`
	End               uint64     `json:"endTimeUnixNano,string"`
	Attributes        []keyValue `json:"attributes,omitempty"`
	DroppedAttributes uint32     `json:"droppedAttributesCount,omitempty"`
	Events            []event    `json:"events,omitempty"`
	DroppedEvents     uint32     `json:"droppedEventsCount,omitempty"`
	Links             []link     `json:"links,omitempty"`
	DroppedLinks      uint32     `json:"droppedLinksCount,omitempty"`
	Status            status     `json:"status"`
}

type event struct {
	Time              uint64     `json:"timeUnixNano,string"`
	Name              string     `json:"name"`
	Attributes        []keyValue `json:"attributes,omitempty"`
	DroppedAttributes uint32     `json:"droppedAttributesCount,omitempty"`
}

type link struct {
	TraceID           string     `json:"traceId"`
	SpanID            string     `json:"spanId"`
	TraceState        string     `json:"traceState,omitempty"`
	Attributes        []keyValue `json:"attributes,omitempty"`
	DroppedAttributes uint32     `json:"droppedAttributesCount,omitempty"`
	Flags             uint32     `json:"flags"`
}

type status struct {
	Message string `json:"message,omitempty"`
	Code    int    `json:"code,omitempty"`
}

type keyValue struct {
	Key   string         `json:"key"`
	Value map[string]any `json:"value"`
}

// encode builds the body of an export request. Spans with the same resource and scope share an entry.
func encode(spans []sdk.ReadOnlySpan) ([]byte, error) {
	type origin struct {
		resource attribute.Distinct
		scope    instrumentation.Scope
	}
	known := map[origin]*resourceSpans{}
	var request exportRequest
	for _, s := range spans {
		from := origin{s.Resource().Equivalent(), s.InstrumentationScope()}
		group := known[from]
		if group == nil {
			group = &resourceSpans{
				Resource:  resourceOf{keyValues(s.Resource().Attributes())},
				SchemaURL: s.Resource().SchemaURL(),
				ScopeSpans: [1]scopeSpans{{
					Scope:     scope{from.scope.Name, from.scope.Version, keyValues(from.scope.Attributes.ToSlice())},
					SchemaURL: from.scope.SchemaURL,
				}},
			}
			known[from] = group
			request.ResourceSpans = append(request.ResourceSpans, group)
		}
		group.ScopeSpans[0].Spans = append(group.ScopeSpans[0].Spans, encodeSpan(s))
	}
	return json.Marshal(request)
}

func encodeSpan(s sdk.ReadOnlySpan) span {
	of, parent := s.SpanContext(), s.Parent()
	e := span{
		TraceID: of.TraceID().String(), SpanID: of.SpanID().String(), TraceState: of.TraceState().String(), Flags: flags(of, parent),
		Name: s.Name(), Kind: int(s.SpanKind()), Start: nanoseconds(s.StartTime()), End: nanoseconds(s.EndTime()), // the SDK numbers kinds as OTLP does
		Attributes: keyValues(s.Attributes()), DroppedAttributes: count(s.DroppedAttributes()),
		DroppedEvents: count(s.DroppedEvents()), DroppedLinks: count(s.DroppedLinks()),
		Status: status{s.Status().Description, statusCodes[s.Status().Code]},
	}
	if parent.SpanID().IsValid() {
		e.ParentSpanID = parent.SpanID().String()
	}
	for _, v := range s.Events() {
		e.Events = append(e.Events, event{nanoseconds(v.Time), v.Name, keyValues(v.Attributes), count(v.DroppedAttributeCount)})
	}
	for _, l := range s.Links() {
		to := l.SpanContext
		e.Links = append(e.Links, link{to.TraceID().String(), to.SpanID().String(), to.TraceState().String(),
			keyValues(l.Attributes), count(l.DroppedAttributeCount), flags(to, to)})
	}
	return e
}

// statusCodes maps the API's codes to OTLP's, which number Ok and Error the other way round.
var statusCodes = map[codes.Code]int{codes.Ok: 1, codes.Error: 2}

// flags are the W3C trace flags, then OTLP's bits for "it is known whether the parent is remote" and "it is".
func flags(of, parent otel.SpanContext) uint32 {
	f := uint32(of.TraceFlags()) | 1<<8
	if parent.IsRemote() {
		f |= 1 << 9
	}
	return f
}

func nanoseconds(t time.Time) uint64 { return uint64(max(0, t.UnixNano())) }

func count(n int) uint32 { return uint32(min(max(0, int64(n)), math.MaxUint32)) }

func keyValues(all []attribute.KeyValue) (encoded []keyValue) {
	for _, kv := range all {
		encoded = append(encoded, keyValue{string(kv.Key), anyValue(kv.Value)})
	}
	return encoded
}

// anyValue encodes a value; without any key it is OTLP's empty value.
func anyValue(v attribute.Value) map[string]any {
	switch v.Type() {
	case attribute.BOOL:
		return map[string]any{"boolValue": v.AsBool()}
	case attribute.INT64:
		return map[string]any{"intValue": strconv.FormatInt(v.AsInt64(), 10)}
	case attribute.FLOAT64:
		return map[string]any{"doubleValue": double(v.AsFloat64())}
	case attribute.STRING:
		return map[string]any{"stringValue": v.AsString()}
	case attribute.BYTESLICE:
		return map[string]any{"bytesValue": v.AsByteSlice()}
	case attribute.BOOLSLICE:
		return array(v.AsBoolSlice(), attribute.BoolValue)
	case attribute.INT64SLICE:
		return array(v.AsInt64Slice(), attribute.Int64Value)
	case attribute.FLOAT64SLICE:
		return array(v.AsFloat64Slice(), attribute.Float64Value)
	case attribute.STRINGSLICE:
		return array(v.AsStringSlice(), attribute.StringValue)
	case attribute.SLICE:
		return array(v.AsSlice(), func(v attribute.Value) attribute.Value { return v })
	case attribute.MAP:
		return map[string]any{"kvlistValue": map[string]any{"values": keyValues(v.AsMap())}}
	}
	return map[string]any{}
}

func array[T any](of []T, value func(T) attribute.Value) map[string]any {
	values := make([]map[string]any, 0, len(of))
	for _, v := range of {
		values = append(values, anyValue(value(v)))
	}
	return map[string]any{"arrayValue": map[string]any{"values": values}}
}

// double writes what JSON has no numbers for as protobuf's JSON does.
func double(f float64) any {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return f
}
