// Package families says what providers and automators this binary knows, built in or as plugins, and where catalog files are read from.
// Commands on catalog files and the server use it, so that both check a catalog in the same way.
package families
