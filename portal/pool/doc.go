// Package pool holds the pages and REST operations of machine pools. It uses packages page and site only.
package pool
