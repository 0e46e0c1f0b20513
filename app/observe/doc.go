// Package observe names what is counted, measured and traced, and what counts it: Meter and Tracer. It knows nothing else of Muster, so everything
// may use it.
package observe
