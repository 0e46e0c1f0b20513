// Package buildsystemtest is the suite that every build system passes: signatures, rotation of secrets, old timestamps,
// repeated deliveries, recorded payloads, and hostile bodies.
package buildsystemtest
