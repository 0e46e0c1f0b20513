//go:build !small

package kms

// LeftOut are the schemes that this build does not have.
var LeftOut []string

var largeServices = map[string]opener{"awskms": openAWS, "azurekeyvault": openAzure}
