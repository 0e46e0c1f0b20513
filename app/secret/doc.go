// Package secret keeps values that can be set but never read back, hands them to the step that needs them, and hides
// them in everything that is shown. It uses app/catalog.
package secret
