// Package buildsystemtest is the suite that every build system passes: signatures, rotation, times, repeats, recorded payloads, and bodies
// that mean harm.
package buildsystemtest
