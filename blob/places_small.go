//go:build small

package blob

var largePlaces = map[string]opener{}
