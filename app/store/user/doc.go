// Package user reads and creates the accounts of users. Package identity changes and deletes them, since that also ends
// their tokens and sessions; tokens, sessions and sign-ins read accounts here.
package user
