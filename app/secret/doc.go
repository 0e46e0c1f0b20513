// Package secret keeps values that are written and never shown, and hides them in what is shown.
// It uses app/catalog.
package secret
