//go:build small

package blob

// LeftOut are the schemes that this build does not have.
var LeftOut = []string{"azblob", "s3"}

var largeBackends map[string]opener
