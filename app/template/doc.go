// Package template knows parameters, macros and inventories: text with placeholders, and what fills them.
// It uses no other domain.
package template
