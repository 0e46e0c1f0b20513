// Package azure makes virtual machines in Microsoft Azure. A machine is found by its name, which is derived from its intent, and listed by its tags. All
// that it needs (address, network interface, disks) has names derived from the machine's, and is deleted with it.
// Errors are *app.Error with the codes of the contract; failures of the network and time-outs go up as they are, for the family's wrapper to code.
package azure
