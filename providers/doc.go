// Package providers is the family of clouds: the list of its members, the check of an account's settings, and one
// wrapper that adds timeouts, error codes and the guard around machines that aren't Muster's to every member.
//
// A member is a package below this one, uses app alone, and stays thin: it returns what the cloud said. README.md says
// how to add one.
//
// Every error of a provider that was opened here carries an *app.Error.
package providers
