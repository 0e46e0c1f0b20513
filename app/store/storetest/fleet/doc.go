// Package fleet has the cases of every store about machines and provisioners: receipts, orphans, accounts of clouds, registrations and
// their shares. It uses kit.
package fleet
