// Package storetest gives tests databases of their own, without making their tables each time: under the race detector that takes longer than
// most tests.
package storetest
