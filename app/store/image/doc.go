// Package image keeps baked images, and the rules by which they are built.
package image
