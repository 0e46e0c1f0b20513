//go:build !small

package blob

// LeftOut are the schemes that this build does not have.
var LeftOut []string

var largeBackends = map[string]opener{"azblob": openAzure, "s3": openS3}
