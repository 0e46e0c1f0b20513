// Package prometheus asks Prometheus for numbers, at addresses that tenants name: only where they may connect to, without redirects, and with a bound
// on time and answer.
package prometheus
