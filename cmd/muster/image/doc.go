// Package image has the commands about baked images.
package image
