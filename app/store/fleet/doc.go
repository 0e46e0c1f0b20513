// Package fleet keeps provisioners and their shares, the machines of accounts that nobody knows, and what is gauged. It uses operation,
// whose pools a machine that was found may belong to.
package fleet
