// Package redact takes the values of secrets out of logs and errors, in every form that a program may print them in.
package redact
