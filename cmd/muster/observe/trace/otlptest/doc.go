// Package otlptest reads exports of spans for tests, at least as strictly as a collector does.
package otlptest
