// Package trace is where spans become what OpenTelemetry collectors read. It alone speaks to OpenTelemetry; everything else begins and
// ends spans by app.Tracer, in app's words. There is no tracer of the whole process: whoever opens one has it, and closes it.
//
// Beside what it is handed, the SDK reads the variables of the environment that OpenTelemetry names for itself, as far as they
// say how to export: OTEL_EXPORTER_OTLP_HEADERS, OTEL_EXPORTER_OTLP_CERTIFICATE, OTEL_TRACES_SAMPLER, OTEL_BSP_* and their kin.
//
// A collector that is away costs nothing but the spans that it does not get: they wait in a queue with an end, and nobody waits for them.
package trace
