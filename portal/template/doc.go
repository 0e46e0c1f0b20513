// Package template holds the pages and the REST operations of templates: the list, one template, and the fields that
// ask for its parameters in any form. It uses packages page and site only.
package template
