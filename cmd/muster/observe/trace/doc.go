// Package trace is where spans become what OpenTelemetry collectors read. It alone speaks to OpenTelemetry; everything else begins and
// ends spans by app.Tracer, in app's words. There is no tracer of the whole process: whoever opens one has it, and closes it.
//
// Spans are sent by OTLP over HTTP in its JSON encoding. Beside what it is handed, the package reads the variables of the environment that
// OpenTelemetry names, as far as they say how to export: OTEL_EXPORTER_OTLP_HEADERS, _CERTIFICATE, _CLIENT_CERTIFICATE, _CLIENT_KEY, _TIMEOUT
// and _COMPRESSION, each of which OTEL_EXPORTER_OTLP_TRACES_… overrides. The SDK itself reads OTEL_TRACES_SAMPLER, OTEL_BSP_* and their kin.
//
// A collector that is away costs nothing but the spans that it does not get: they wait in a queue of limited length, and no work waits for them.
package trace
