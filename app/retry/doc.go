// Package retry sends HTTP requests with time-outs, and sends them again where the other side is busy or the connection breaks. It is for services
// that Muster speaks to without an SDK, whose requests may arrive twice without harm.
package retry
