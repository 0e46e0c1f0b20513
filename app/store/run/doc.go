// Package run keeps the commands that operations run on nodes, and how they ended.
package run
