// Package discovery compares requests, responses and Go types with the descriptions that Google publishes of its APIs: discovery documents, which are
// in the module google.golang.org/api. For tests only. A name that is wrong in both our client and our simulated API is seen by nothing else.
package discovery
