// Package plugin is the SQL of what was decided about programs of plugins.
package plugin
