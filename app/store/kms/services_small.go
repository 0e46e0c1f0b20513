//go:build small

package kms

// LeftOut are the schemes that this build does not have.
var LeftOut = []string{"awskms", "azurekeyvault"}

var largeServices map[string]opener
