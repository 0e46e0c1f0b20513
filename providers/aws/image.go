package aws

import (
	"context"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"muster/app"
)

var (
	imageForm = regexp.MustCompile(`^ami-[0-9a-f]{8,17}$`)
	ownerForm = regexp.MustCompile(`^([0-9]{12}|self|amazon|aws-marketplace)$`)
)

// image returns the image that a name means: ami-…, or name:OWNER/PATTERN for the newest whose name fits. A pattern always has an owner, for
// anybody may publish an image by any name. EInvalid where there is none.
func (c *cloud) image(ctx context.Context, name string) (types.Image, error) {
	return c.images.get(name, func() (types.Image, error) {
		ask := &ec2.DescribeImagesInput{}
		if pattern, ok := strings.CutPrefix(name, "name:"); ok {
			owner, pattern, split := strings.Cut(pattern, "/")
			if !split || !ownerForm.MatchString(owner) || pattern == "" {
				return types.Image{}, hinted(app.Errorf(app.EInvalid, "%q has no image owner.", name),
					"Use name:OWNER/PATTERN, such as name:136693071363/debian-12-amd64-* or name:self/base-*.")
			}
			ask.Owners = []string{owner}
			ask.Filters = []types.Filter{{Name: ref("name"), Values: []string{pattern}}, {Name: ref("state"), Values: []string{"available"}}}
		} else if imageForm.MatchString(name) {
			ask.ImageIds, ask.IncludeDeprecated = []string{name}, ref(true)
		} else {
			return types.Image{}, hinted(app.Errorf(app.EInvalid, "%q isn't a valid image ID.", name),
				"Use an ID such as ami-0123456789abcdef0, or name:OWNER/PATTERN for the newest matching image.")
		}
		var newest *types.Image
		err := pages(func(token *string) (*string, error) {
			ask.NextToken = token
			out, err := c.ec2.describeImages(ctx, ask)
			if err != nil {
				return nil, err
			}
			for _, i := range out.Images {
				if newest == nil || value(i.CreationDate) > value(newest.CreationDate) {
					newest = &i
				}
			}
			return out.NextToken, nil
		})
		if err != nil {
			return types.Image{}, err
		}
		if newest == nil {
			return types.Image{}, hinted(app.Errorf(app.EInvalid, "Image %s doesn't exist in this region, or the account can't use it.", name), "Image IDs differ between regions: choose one of this region.")
		}
		if newest.State != "" && newest.State != types.ImageStateAvailable {
			return types.Image{}, hinted(app.Errorf(app.EInvalid, "Image %s isn't available; its state is %s.", name, newest.State), "Wait until it's available, or choose another.")
		}
		return *newest, nil
	})
}

// rootSize returns the size of an image's root disk in GB; 0 where it has none on EBS.
func rootSize(i types.Image) int {
	for _, m := range i.BlockDeviceMappings {
		if m.Ebs != nil && value(m.DeviceName) == value(i.RootDeviceName) {
			return int(value(m.Ebs.VolumeSize))
		}
	}
	return 0
}
