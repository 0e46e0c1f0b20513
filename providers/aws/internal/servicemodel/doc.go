// Package servicemodel compares requests with AWS's own models of its services, which its Python SDK has as files, and the answers of a simulated service
// with them. For tests only. The models say which parameters, elements and words there are, what is required, and how long or large it may be.
package servicemodel
