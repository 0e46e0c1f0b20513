// Package account is what members that speak to a cloud over HTTP share: how settings are read, and what the statuses of answers mean. It
// speaks to no one itself. Errors are *app.Error.
package account
