package aws

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	appfamily "muster/app/family"
	"muster/app/template"
)

// Who publishes the images that are offered beside the account's own, and by what names. Names end in a date, which comes off to tell what is
// newer from what is something else.
var (
	debian    = "136693071363"
	canonical = "099720109477"
	wellKnown = []string{"debian-12-amd64-*", "debian-12-arm64-*", "debian-13-amd64-*", "debian-13-arm64-*",
		"ubuntu/images/hvm-ssd/ubuntu-jammy-22.04-*-server-*", "ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-*-server-*"}
	dated = regexp.MustCompile(`-20\d{6}(-\d+)?(\.\d+)?$`)
)

// Offers implements family.Offerer. EC2's API knows no prices.
func (c *cloud) Offers(ctx context.Context) (o appfamily.Offers, err error) {
	zones, err := c.ec2.describeAvailabilityZones(ctx, &ec2.DescribeAvailabilityZonesInput{})
	if err != nil {
		return o, err
	}
	for _, z := range zones.AvailabilityZones {
		o.Zones = append(o.Zones, value(z.ZoneName))
	}
	slices.Sort(o.Zones)
	if o.Flavors, err = c.ec2.flavors(ctx, o.Zones); err != nil {
		return appfamily.Offers{}, err
	}
	if o.Images, err = c.ec2.offeredImages(ctx); err != nil {
		return appfamily.Offers{}, err
	}
	return o, nil
}

func (c *calls) flavors(ctx context.Context, zones []string) (out []appfamily.FlavorOffer, err error) {
	where, err := c.offerings(ctx)
	if err != nil {
		return nil, err
	}
	err = pages(func(token *string) (*string, error) {
		page, err := c.describeInstanceTypes(ctx, &ec2.DescribeInstanceTypesInput{MaxResults: ref[int32](100), NextToken: token})
		if err != nil {
			return nil, err
		}
		for _, k := range page.InstanceTypes {
			f := appfamily.FlavorOffer{Flavor: template.Flavor{Flavor: string(k.InstanceType), CPU: float64(vcpus(k)), MemoryGB: memoryGB(k)}, Description: describe(k)}
			f.GPUs, f.GPU = gpus(k)
			if has := where[f.Flavor.Flavor]; len(has) < len(zones) {
				f.Zones = has
			}
			out = append(out, f)
		}
		return page.NextToken, nil
	})
	slices.SortFunc(out, func(a, b appfamily.FlavorOffer) int { return strings.Compare(a.Flavor.Flavor, b.Flavor.Flavor) })
	return out, err
}

// gpus returns how many GPUs or accelerators for machine learning an instance type has, and the model of the first.
func gpus(k types.InstanceTypeInfo) (n int, model string) {
	add := func(count *int32, maker, name string) {
		n += int(value(count))
		model = cmp.Or(model, strings.ToLower(strings.ReplaceAll(strings.TrimSpace(maker+" "+name), " ", "-")))
	}
	if k.GpuInfo != nil {
		for _, g := range k.GpuInfo.Gpus {
			add(g.Count, value(g.Manufacturer), value(g.Name))
		}
	}
	if k.NeuronInfo != nil {
		for _, g := range k.NeuronInfo.NeuronDevices {
			add(g.Count, "AWS", value(g.Name))
		}
	}
	return n, model
}

func describe(k types.InstanceTypeInfo) string {
	var parts []string
	if k.ProcessorInfo != nil {
		for _, a := range k.ProcessorInfo.SupportedArchitectures {
			parts = append(parts, string(a))
		}
	}
	if value(k.InstanceStorageSupported) && k.InstanceStorageInfo != nil {
		parts = append(parts, fmt.Sprintf("%d GB instance store", value(k.InstanceStorageInfo.TotalSizeInGB)))
	}
	if value(k.BareMetal) {
		parts = append(parts, "bare metal")
	}
	return strings.Join(parts, ", ")
}

// offeredImages returns the account's own images, and the newest of the well-known ones.
func (c *calls) offeredImages(ctx context.Context) (out []appfamily.ImageOffer, err error) {
	available := types.Filter{Name: ref("state"), Values: []string{"available"}}
	own, err := c.listImages(ctx, &ec2.DescribeImagesInput{Owners: []string{"self"}, Filters: []types.Filter{available}})
	if err != nil {
		return nil, err
	}
	known, err := c.listImages(ctx, &ec2.DescribeImagesInput{Owners: []string{debian, canonical}, Filters: []types.Filter{available, {Name: ref("name"), Values: wellKnown}}})
	if err != nil {
		return nil, err
	}
	newest := map[string]types.Image{}
	for _, i := range known {
		of := value(i.OwnerId) + " " + dated.ReplaceAllString(value(i.Name), "")
		if had, ok := newest[of]; !ok || value(had.CreationDate) < value(i.CreationDate) {
			newest[of] = i
		}
	}
	for _, i := range newest {
		own = append(own, i)
	}
	for _, i := range own {
		if i.Platform == types.PlatformValuesWindows {
			continue
		}
		made, _ := time.Parse(time.RFC3339, value(i.CreationDate))
		out = append(out, appfamily.ImageOffer{Image: template.Image{Image: value(i.ImageId)}, Description: fmt.Sprintf("%s (%s)", cmp.Or(value(i.Name), value(i.Description)), i.Architecture), CreatedAt: made})
	}
	slices.SortFunc(out, func(a, b appfamily.ImageOffer) int { return strings.Compare(a.Image.Image, b.Image.Image) })
	return out, nil
}

func (c *calls) listImages(ctx context.Context, ask *ec2.DescribeImagesInput) (out []types.Image, err error) {
	err = pages(func(token *string) (*string, error) {
		ask.NextToken = token
		page, err := c.describeImages(ctx, ask)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Images...)
		return page.NextToken, nil
	})
	return out, err
}
