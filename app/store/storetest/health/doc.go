// Package health has the cases of every store about health checks: rounds that are due in time, and what they find. It uses kit.
package health
