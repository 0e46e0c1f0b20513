// Package volume has the cases of every store about volumes: whom they belong to, what is reserved for them, and what is left of them. It uses kit.
package volume
