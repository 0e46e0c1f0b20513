package gcp

import (
	"context"
	"net/http"
)

// OwnImages lists the images of a project that a filter leaves.
func (d disks) OwnImages(ctx context.Context, project, filter string, each func(*ImageList) error) error {
	query := with(nil, "filter", filter, "returnPartialSuccess", "false", "maxResults", most)
	return list[ImageList](ctx, d.api, d.api.compute, path("projects/%s/global/images", project), query, each)
}

// InsertImage begins to make an image of a disk, also while a machine has it.
func (d disks) InsertImage(ctx context.Context, project string, image *Image, requestID string) (*Operation, error) {
	query := with(once(requestID), "forceCreate", "true")
	return ask[Operation](ctx, d.api, http.MethodPost, d.api.compute, path("projects/%s/global/images", project), query, image)
}

// DeleteImage begins to delete an image.
func (d disks) DeleteImage(ctx context.Context, project, name, requestID string) (*Operation, error) {
	return ask[Operation](ctx, d.api, http.MethodDelete, d.api.compute, path("projects/%s/global/images/%s", project, name), once(requestID), nil)
}
