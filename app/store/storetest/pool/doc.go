// Package pool has the cases of every store about pools: machines that are kept ready and handed out once. It uses kit.
package pool
