// Package upkeep has the loops that do something from time to time: ending what is over, dropping what is old, sharing slots among
// tenants, batches of health checks and repairs. What they do is app's; these only know when.
package upkeep
