// Package trace exports spans to OpenTelemetry collectors. It alone uses OpenTelemetry; all other packages start and
// end spans through app.Tracer. There is no global tracer: its opener closes it.
//
// Spans are sent with OTLP over HTTP in its JSON encoding. Besides its settings, the package reads the environment
// variables of OpenTelemetry that say how to export: OTEL_EXPORTER_OTLP_HEADERS, _CERTIFICATE, _CLIENT_CERTIFICATE,
// _CLIENT_KEY, _TIMEOUT and _COMPRESSION, each overridden by OTEL_EXPORTER_OTLP_TRACES_…. The SDK itself reads
// OTEL_TRACES_SAMPLER, OTEL_BSP_* and similar ones.
//
// If a collector is down, only spans are lost: they wait in a queue of limited length, and no work waits for them.
package trace
