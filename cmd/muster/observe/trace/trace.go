package trace

import (
	"context"
	"log/slog"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	otel "go.opentelemetry.io/otel/trace"
	"muster/app"
	"muster/app/observe"
)

// closeTime is how long Close takes at most to send the rest.
const closeTime = 3 * time.Second

// Config is the tracing settings.
type Config struct {
	Endpoint string // base URL of an OTLP/HTTP collector, such as http://127.0.0.1:4318
	Service  string // "muster-server", "muster-worker"
	Version  string
	Instance string // which of several
	Log      *slog.Logger
}

// Tracer exports spans. Close it.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   otel.Tracer
	exporter *exporter
	carrier  propagation.TraceContext
}

var _ observe.Tracer = (*Tracer)(nil)

// CheckEndpoint requires the base URL of a collector; EInvalid otherwise.
func CheckEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return &app.Error{Code: app.EInvalid, Field: "otlp-endpoint", Message: "The OTLP collector's URL must start with http:// or https:// and have no user or query.",
			Hint: "For example: http://127.0.0.1:4318. Put credentials into OTEL_EXPORTER_OTLP_HEADERS."}
	}
	return nil
}

// Open starts exporting. The collector need not be available. EInvalid for an endpoint that CheckEndpoint rejects, and for invalid OpenTelemetry
// variables, such as an unreadable certificate.
func Open(c Config) (*Tracer, error) {
	if err := CheckEndpoint(c.Endpoint); err != nil {
		return nil, err
	}
	e, err := newExporter(c)
	if err != nil {
		return nil, err
	}
	of := resource.NewSchemaless(attribute.String("service.name", c.Service), attribute.String("service.version", c.Version),
		attribute.String("service.instance.id", c.Instance))
	if merged, err := resource.Merge(of, resource.Environment()); err == nil {
		of = merged // OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME have the last word
	}
	p := sdk.NewTracerProvider(sdk.WithBatcher(&quiet{SpanExporter: e, log: c.Log}), sdk.WithResource(of))
	return &Tracer{provider: p, tracer: p.Tracer("muster"), exporter: e}, nil
}

// Close sends the rest, for at most three seconds. It may be called twice.
func (t *Tracer) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	_ = t.provider.Shutdown(ctx)    // an unavailable collector isn't Muster's failure
	return t.exporter.Shutdown(ctx) // even after the time is up: the SDK would keep trying
}

// Begin starts a span below that of ctx, or of the traceparent of a request or step.
func (t *Tracer) Begin(ctx context.Context, name string, facts ...observe.Attribute) (context.Context, func(error, ...observe.Attribute)) {
	if !otel.SpanContextFromContext(ctx).IsValid() {
		if from := observe.TraceOf(ctx); from != "" {
			ctx = t.carrier.Extract(ctx, propagation.MapCarrier{"traceparent": from})
		}
	}
	attrs, kind := attributes(facts)
	ctx, span := t.tracer.Start(ctx, name, otel.WithSpanKind(kind), otel.WithAttributes(attrs...))
	to := propagation.MapCarrier{}
	t.carrier.Inject(ctx, to)
	return observe.WithTrace(ctx, to["traceparent"]), func(err error, facts ...observe.Attribute) {
		more, _ := attributes(facts)
		span.SetAttributes(more...)
		if err != nil {
			code := string(app.CodeOf(err)) // the message may contain private data
			span.SetAttributes(attribute.String("error.type", code))
			span.SetStatus(codes.Error, code)
		}
		span.End()
	}
}

func attributes(facts []observe.Attribute) (all []attribute.KeyValue, kind otel.SpanKind) {
	kind = otel.SpanKindInternal
	for _, f := range facts {
		switch v := f.Value.(type) {
		case string:
			if f.Name == observe.KindAttribute {
				kind = kinds[v]
				continue
			}
			if v != "" {
				all = append(all, attribute.String(f.Name, v))
			}
		case int:
			all = append(all, attribute.Int(f.Name, v))
		case int64:
			all = append(all, attribute.Int64(f.Name, v))
		case bool:
			all = append(all, attribute.Bool(f.Name, v))
		}
	}
	return all, kind
}

var kinds = map[string]otel.SpanKind{"server": otel.SpanKindServer, "consumer": otel.SpanKindConsumer, "client": otel.SpanKindClient}
