// Package static hands out machines that already exist, such as bare metal, over SSH. Which ones there are is written in the account's settings;
// which of them are
// in use, and for what, is written on the machines themselves, so that every host that works for the account sees the same.
package static
