// Package ldap signs people in with the name and password that they have in an LDAP directory: it finds their entry, checks the password by binding as it,
// and returns who signed in and what their groups allow. It keeps nothing: a connection lasts as long as one sign-in, passwords are in memory only, and
// app/identity creates accounts.
//
// Passwords are sent only over TLS, or to this host. Names from outside are escaped wherever they are part of a filter, empty passwords are refused before
// anything is sent (servers would accept them as anonymous), and referrals aren't followed. Answers are limited in time and size. Errors are *app.Error
// with a message for people; what the server said is wrapped, for the log.
package ldap
