// Package gcp asks Google Cloud over REST, as much as Muster needs: Compute Engine v1, Cloud DNS v1 and Resource Manager v1. Google's own client for Go does
// the same, but is 10 MB of source for Compute Engine alone and brings gRPC. Requests are sent once: when to ask again is for callers to decide. What
// the cloud refuses is an *Error; anything else is a failure of the network, or of the credentials that the HTTP client puts on requests.
package gcp
