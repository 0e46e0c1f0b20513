// Package loop has what work that goes on for long needs everywhere: waits that end, back-offs, and trouble that is told once.
package loop
