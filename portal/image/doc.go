// Package image serves the page and the REST operations of baked images.
package image
