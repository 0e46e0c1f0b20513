package trace

import (
	"math"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	otel "go.opentelemetry.io/otel/trace"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	of "go.opentelemetry.io/proto/otlp/resource/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"muster/cmd/muster/observe/trace/otlptest"
)

func text(s string) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: s}}
}

func integer(n int64) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: n}}
}

func number(f float64) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_DoubleValue{DoubleValue: f}}
}

func truth(b bool) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_BoolValue{BoolValue: b}}
}

func list(all ...*common.AnyValue) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_ArrayValue{ArrayValue: &common.ArrayValue{Values: all}}}
}

func sameMessage(t *testing.T, got, want proto.Message) {
	t.Helper()
	if !proto.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", prototext.Format(got), prototext.Format(want))
	}
}

// decoded is what a collector reads of spans.
func decoded(t *testing.T, stubs ...tracetest.SpanStub) []*otlp.ResourceSpans {
	t.Helper()
	body, err := encode(tracetest.SpanStubs(stubs).Snapshots())
	if err != nil {
		t.Fatal(err)
	}
	all, err := otlptest.Decode(body)
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return all
}

func TestEveryTypeOfAttribute(t *testing.T) {
	for _, tt := range []struct {
		attribute attribute.KeyValue
		want      *common.AnyValue
	}{
		{attribute.String("k", `a "word" & <more>, ü`), text(`a "word" & <more>, ü`)},
		{attribute.String("k", ""), text("")},
		{attribute.String("k", "cut \xff"), text("cut \uFFFD")},
		{attribute.Bool("k", true), truth(true)},
		{attribute.Bool("k", false), truth(false)},
		{attribute.Int64("k", math.MaxInt64), integer(math.MaxInt64)},
		{attribute.Int64("k", math.MinInt64), integer(math.MinInt64)},
		{attribute.Float64("k", 1e-300), number(1e-300)},
		{attribute.Float64("k", math.Inf(1)), number(math.Inf(1))},
		{attribute.Float64("k", math.Inf(-1)), number(math.Inf(-1))},
		{attribute.Float64("k", math.NaN()), number(math.NaN())},
		{attribute.StringSlice("k", []string{"a", "b"}), list(text("a"), text("b"))},
		{attribute.StringSlice("k", nil), list()},
		{attribute.BoolSlice("k", []bool{true, false}), list(truth(true), truth(false))},
		{attribute.Int64Slice("k", []int64{1, -2}), list(integer(1), integer(-2))},
		{attribute.Float64Slice("k", []float64{1.5}), list(number(1.5))},
		{attribute.ByteSlice("k", []byte{0, 255}), &common.AnyValue{Value: &common.AnyValue_BytesValue{BytesValue: []byte{0, 255}}}},
		{attribute.Slice("k", attribute.IntValue(1), attribute.StringValue("a"), attribute.Value{}), list(integer(1), text("a"), &common.AnyValue{})},
		{attribute.Map("k", attribute.Bool("inner", true)), &common.AnyValue{Value: &common.AnyValue_KvlistValue{
			KvlistValue: &common.KeyValueList{Values: []*common.KeyValue{{Key: "inner", Value: truth(true)}}}}}},
		{attribute.KeyValue{Key: "k"}, &common.AnyValue{}},
	} {
		got := decoded(t, tracetest.SpanStub{Attributes: []attribute.KeyValue{tt.attribute}})[0].ScopeSpans[0].Spans[0].Attributes
		if len(got) != 1 || got[0].Key != "k" {
			t.Fatalf("%v became %v", tt.attribute, got)
		}
		sameMessage(t, got[0].Value, tt.want)
	}
}

func spanContext(t *testing.T, trace, span byte, state string, remote bool) otel.SpanContext {
	s, err := otel.ParseTraceState(state)
	if err != nil {
		t.Fatal(err)
	}
	return otel.NewSpanContext(otel.SpanContextConfig{TraceID: otel.TraceID{15: trace}, SpanID: otel.SpanID{7: span},
		TraceFlags: otel.FlagsSampled, TraceState: s, Remote: remote})
}

func TestASpanIsEncodedInFull(t *testing.T) {
	at := time.Unix(1700000000, 123456789)
	a, b := []attribute.KeyValue{attribute.Int("n", 1)}, []*common.KeyValue{{Key: "n", Value: integer(1)}}
	full := tracetest.SpanStub{
		Name: "step install", SpanKind: otel.SpanKindConsumer,
		SpanContext: spanContext(t, 1, 2, "vendor=x", false), Parent: spanContext(t, 1, 3, "", true),
		StartTime: at, EndTime: at.Add(time.Second), Attributes: a, DroppedAttributes: 4, DroppedEvents: 5, DroppedLinks: 6,
		Events:               []sdk.Event{{Name: "sent", Time: at, Attributes: a, DroppedAttributeCount: 7}},
		Links:                []sdk.Link{{SpanContext: spanContext(t, 8, 9, "vendor=y", false), Attributes: a, DroppedAttributeCount: 10}},
		Status:               sdk.Status{Code: codes.Error, Description: "conflict"},
		Resource:             resource.NewWithAttributes("https://schema.example/r", a...),
		InstrumentationScope: instrumentation.Scope{Name: "muster", Version: "1", SchemaURL: "https://schema.example/s", Attributes: attribute.NewSet(a...)},
	}
	id := func(n int, last byte) []byte { return append(make([]byte, n-1), last) }
	want := &otlp.ResourceSpans{
		Resource: &of.Resource{Attributes: b}, SchemaUrl: "https://schema.example/r",
		ScopeSpans: []*otlp.ScopeSpans{{
			Scope: &common.InstrumentationScope{Name: "muster", Version: "1", Attributes: b}, SchemaUrl: "https://schema.example/s",
			Spans: []*otlp.Span{{
				Name: "step install", TraceId: id(16, 1), SpanId: id(8, 2), ParentSpanId: id(8, 3), TraceState: "vendor=x", Flags: 0x301,
				Kind:              otlp.Span_SPAN_KIND_CONSUMER,
				StartTimeUnixNano: 1700000000123456789, EndTimeUnixNano: 1700000001123456789,
				Attributes: b, DroppedAttributesCount: 4, DroppedEventsCount: 5, DroppedLinksCount: 6,
				Events: []*otlp.Span_Event{{Name: "sent", TimeUnixNano: 1700000000123456789, Attributes: b, DroppedAttributesCount: 7}},
				Links: []*otlp.Span_Link{{
					TraceId: id(16, 8), SpanId: id(8, 9), TraceState: "vendor=y", Attributes: b, DroppedAttributesCount: 10, Flags: 0x101,
				}},
				Status: &otlp.Status{Code: otlp.Status_STATUS_CODE_ERROR, Message: "conflict"},
			}},
		}},
	}
	root := full
	root.Parent = otel.SpanContext{}
	other := full
	other.InstrumentationScope.Name = "other"
	got := decoded(t, full, root, other)
	if len(got) != 2 || len(got[0].ScopeSpans[0].Spans) != 2 || got[1].ScopeSpans[0].Scope.Name != "other" {
		t.Fatalf("spans of two scopes are grouped as %v", got)
	}
	if r := got[0].ScopeSpans[0].Spans[1]; len(r.ParentSpanId) > 0 || r.Flags != 0x101 {
		t.Errorf("a span without a parent is %v", r)
	}
	got[0].ScopeSpans[0].Spans = got[0].ScopeSpans[0].Spans[:1]
	sameMessage(t, got[0], want)
}

func TestKindsAndCodesAreThoseOfOTLP(t *testing.T) {
	for kind, want := range map[otel.SpanKind]otlp.Span_SpanKind{
		otel.SpanKindUnspecified: otlp.Span_SPAN_KIND_UNSPECIFIED, otel.SpanKindInternal: otlp.Span_SPAN_KIND_INTERNAL,
		otel.SpanKindServer: otlp.Span_SPAN_KIND_SERVER, otel.SpanKindClient: otlp.Span_SPAN_KIND_CLIENT,
		otel.SpanKindProducer: otlp.Span_SPAN_KIND_PRODUCER, otel.SpanKindConsumer: otlp.Span_SPAN_KIND_CONSUMER,
	} {
		if got := decoded(t, tracetest.SpanStub{SpanKind: kind})[0].ScopeSpans[0].Spans[0].Kind; got != want {
			t.Errorf("%v is %v", kind, got)
		}
	}
	for code, want := range map[codes.Code]otlp.Status_StatusCode{
		codes.Unset: otlp.Status_STATUS_CODE_UNSET, codes.Ok: otlp.Status_STATUS_CODE_OK, codes.Error: otlp.Status_STATUS_CODE_ERROR,
	} {
		if got := decoded(t, tracetest.SpanStub{Status: sdk.Status{Code: code}})[0].ScopeSpans[0].Spans[0].Status.Code; got != want {
			t.Errorf("%v is %v", code, got)
		}
	}
}
