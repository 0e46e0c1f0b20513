// Package schedule tells when clusters sleep and wake: a schedule of five fields, by the clock of a time zone.
package schedule
