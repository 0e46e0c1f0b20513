// Package joyent makes machines on Triton, once Joyent's, by its CloudAPI: public Triton clouds and private ones. One account of the catalog is one account
// or subuser in one datacenter. Errors are *app.Error with the codes of the contract; failures of the network and time-outs go up as they are, for the
// family's wrapper to code.
package joyent
