// Package providers is the family of clouds: its list of members, the check of an account's settings, and one wrapper
// that gives every member the same time-outs, the same error codes and the same guard around machines that are not ours.
//
// A member lives in a folder of its own, leans on app alone, and stays thin: it returns what the cloud said. See
// README.md for how to add one.
//
// Every error that comes out of a provider opened here carries an *app.Error.
package providers
