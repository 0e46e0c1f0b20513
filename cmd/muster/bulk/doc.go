// Package bulk lets commands for one cluster take several, by name or by label: extend, sleep, wake and delete.
package bulk
