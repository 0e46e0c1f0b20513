// Package catalog holds the pages and the REST operations of catalog entries: lists, versions, the form beside its
// YAML, trials, reviews and imports. A trial shows a plan by package plan and asks for parameters by package template.
package catalog
