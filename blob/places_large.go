//go:build !small

package blob

var largePlaces = map[string]opener{"azblob": openAzure, "s3": openS3}
