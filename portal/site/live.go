package site

import (
	"muster/app"

	"github.com/a-h/templ"
)

// LiveOne is what stands in the element of an id. With Rows its HTML is not used.
type LiveOne struct {
	ID   string
	HTML templ.Component
	Rows []LiveRow // not nil: the children of the element, in order
}

type LiveRow struct {
	ID   string
	HTML templ.Component
}

var ErrNotLive = &app.Error{Code: app.ENotFound, Message: "This page has no live updates."}
