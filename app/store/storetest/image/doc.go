// Package image tests how baked images are kept.
package image
