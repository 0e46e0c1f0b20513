package site

import (
	"muster/app"

	"github.com/a-h/templ"
)

// LiveOne is the content of the element with an ID. With Rows, its HTML isn't used.
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
