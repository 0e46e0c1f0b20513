// Package retry sends HTTP requests with timeouts, and repeats them when the other side is busy or the connection
// breaks. It is for services that Muster uses without an SDK, and for requests that are safe to send twice.
package retry
