// Package template shows the parameters of templates and expands macros: text with placeholders,
// and the values that replace them. It uses no other domain.
package template
