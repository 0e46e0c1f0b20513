// Package spec reads and writes the request for a cluster as a YAML file for people. It uses app/cluster and
// app/file/yamlfile and does no input or output. Errors are *app.Error with EInvalid or ETooLarge, and name the line.
package spec
