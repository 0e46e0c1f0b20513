// Package image keeps baked images: images that Muster makes of machines once services are installed on them, so that the nodes of later clusters start
// with these. It finds the image that a node starts from, builds images when a template is used often or someone asks for one, and has unused ones deleted.
//
// An image is a tenant's: it is built on a machine of the tenant's own, in a cluster of its own that counts like any other, and only the tenant's
// clusters start
// from it. What an image consists of is said by package bake.
package image
