// Package template shows the parameters of templates, expands macros, and writes inventories: text with placeholders,
// and the values that replace them. It uses no other domain.
package template
