package resource

import (
	"muster/app"
	"muster/app/template"
)

// Blob is a content.
type Blob struct {
	Hash  string
	Size  int64
	Files []File
}

// GoingBlob is a content that is to be removed.
type GoingBlob struct {
	Tenant, Hash, Name string
}

// AutomatorRef is a reference in an action of an automator.
type AutomatorRef struct {
	Automator string
	Ref       template.ResourceRef
}

// PinnedResource is what a reference means, or why it means nothing.
type PinnedResource struct {
	Ref template.ResourceRef
	Err *app.Error
}
