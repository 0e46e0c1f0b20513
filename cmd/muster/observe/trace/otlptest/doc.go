// Package otlptest reads exported spans in tests, at least as strictly as a collector does.
package otlptest
