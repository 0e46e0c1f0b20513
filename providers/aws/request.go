package aws

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"muster/app"
	appfamily "muster/app/family"
	"muster/providers/internal/userdata"
)

// defaultUser is who Muster logs in as where the catalog names no one: user data makes it, whatever the image's own is called.
const defaultUser = "muster"

// wanted is a machine that was asked for, with all that is known without EC2.
type wanted struct {
	spec     appfamily.MachineSpec
	options  options
	user     string
	hostKey  string
	userData string
	tags     map[string]string
}

func (c *cloud) want(spec appfamily.MachineSpec) (w wanted, err error) {
	w = wanted{spec: spec, user: cmp.Or(spec.Image.SSHUser, defaultUser)}
	if w.options, err = c.options(spec.Flavor, spec.Image); err != nil {
		return w, err
	}
	if strings.TrimSpace(spec.Flavor.Flavor) == "" {
		return w, app.Errorf(app.EInvalid, "The hardware type has no instance type.")
	}
	custom := userdata.Options{User: w.user, DataDisks: w.options.dataGB > 0, Custom: w.options.custom,
		Limit: userdata.LimitEC2}
	if w.userData, w.hostKey, err = userdata.CloudConfig(spec, custom); err != nil {
		return w, err
	}
	w.tags, err = tagsOf(spec, w.user, w.hostKey)
	return w, err
}

// request returns what RunInstances is asked, but for the subnet, the market and the client token.
func (w wanted) request(image types.Image, groups []string) (*ec2.RunInstancesInput, error) {
	o := w.options
	disks, err := w.disks(image)
	if err != nil {
		return nil, err
	}
	in := &ec2.RunInstancesInput{
		MinCount:                          ref[int32](1),
		MaxCount:                          ref[int32](1),
		ImageId:                           image.ImageId,
		InstanceType:                      types.InstanceType(w.spec.Flavor.Flavor),
		UserData:                          ref(base64.StdEncoding.EncodeToString([]byte(w.userData))),
		BlockDeviceMappings:               disks,
		InstanceInitiatedShutdownBehavior: types.ShutdownBehaviorStop,
		// The user data holds the host key: only version 2 of the metadata service, and nothing behind a second hop, such as a container.
		MetadataOptions: &types.InstanceMetadataOptionsRequest{HttpEndpoint: types.InstanceMetadataEndpointStateEnabled,
			HttpTokens: types.HttpTokensStateRequired, HttpPutResponseHopLimit: ref[int32](1)},
		NetworkInterfaces: []types.InstanceNetworkInterfaceSpecification{{DeviceIndex: ref[int32](0), AssociatePublicIpAddress: &o.public,
			DeleteOnTermination: ref(true), Groups: groups}},
	}
	for _, kind := range []types.ResourceType{types.ResourceTypeInstance, types.ResourceTypeVolume, types.ResourceTypeNetworkInterface} {
		in.TagSpecifications = append(in.TagSpecifications, types.TagSpecification{ResourceType: kind, Tags: tagged(w.tags)})
	}
	if image.RootDeviceType == types.DeviceTypeInstanceStore {
		in.InstanceInitiatedShutdownBehavior = types.ShutdownBehaviorTerminate
	}
	if o.keyPair != "" {
		in.KeyName = &o.keyPair
	}
	if o.profile != "" {
		in.IamInstanceProfile = &types.IamInstanceProfileSpecification{Name: &o.profile}
		if strings.HasPrefix(o.profile, "arn:") {
			in.IamInstanceProfile = &types.IamInstanceProfileSpecification{Arn: &o.profile}
		}
	}
	if o.placement != "" || o.tenancy != "default" {
		in.Placement = &types.Placement{Tenancy: types.Tenancy(o.tenancy)}
		if o.placement != "" {
			in.Placement.GroupName = &o.placement
		}
	}
	return in, nil
}

// disks returns the image's own, all of them gone with the machine, the root disk as it is wanted, and the data disk.
func (w wanted) disks(image types.Image) ([]types.BlockDeviceMapping, error) {
	o, root := w.options, value(image.RootDeviceName)
	has := rootSize(image)
	if o.rootGB > 0 && o.rootGB < has {
		e := app.Errorf(app.EInvalid, "The root disk of %d GB is smaller than image %s, which needs %d GB.", o.rootGB, value(image.ImageId), has)
		e.Hint = "Set root_disk_gb to at least the image's size, or to 0."
		return nil, e
	}
	var out []types.BlockDeviceMapping
	var names []string
	for _, m := range image.BlockDeviceMappings {
		names = append(names, value(m.DeviceName))
		if m.Ebs == nil {
			continue
		}
		// A mapping needs a size or a snapshot of its own; EC2 doesn't always take the image's where both are missing.
		disk := &types.EbsBlockDevice{DeleteOnTermination: ref(true), Encrypted: o.encrypted(), KmsKeyId: o.key(), VolumeSize: m.Ebs.VolumeSize}
		if disk.VolumeSize == nil {
			disk.SnapshotId = m.Ebs.SnapshotId
		}
		if value(m.DeviceName) == root {
			disk.VolumeType = o.rootType
			if o.rootGB > 0 {
				disk.VolumeSize = ref(int32(o.rootGB))
			}
		}
		out = append(out, types.BlockDeviceMapping{DeviceName: m.DeviceName, Ebs: disk})
	}
	if o.dataGB > 0 {
		name := free(names)
		out = append(out, types.BlockDeviceMapping{DeviceName: &name, Ebs: &types.EbsBlockDevice{DeleteOnTermination: ref(true), Encrypted: o.encrypted(), KmsKeyId: o.key(),
			VolumeType: o.dataType, VolumeSize: ref(int32(o.dataGB))}})
	}
	return out, nil
}

func (o options) encrypted() *bool {
	if o.encrypt {
		return ref(true)
	}
	return nil // as the account has it
}

func (o options) key() *string {
	if o.kmsKey != "" {
		return &o.kmsKey
	}
	return nil
}

// free returns the first name for a disk that the image does not use, of those that AWS recommends.
func free(used []string) string {
	for letter := 'f'; letter <= 'p'; letter++ {
		name := "/dev/sd" + string(letter)
		if !slices.Contains(used, name) {
			return name
		}
	}
	return "/dev/sdq"
}

// markets returns how a machine is to be paid for, in the order in which it is tried: spot or not.
func (o options) markets() []bool {
	switch o.spot {
	case spotYes:
		return []bool{true}
	case spotFallback:
		return []bool{true, false}
	}
	return []bool{false}
}

// bought returns the request for a market. A spot request is for one time, and leaves nothing behind.
func bought(in ec2.RunInstancesInput, spot bool, tags map[string]string) ec2.RunInstancesInput {
	if !spot {
		return in
	}
	in.InstanceMarketOptions = &types.InstanceMarketOptionsRequest{MarketType: types.MarketTypeSpot, SpotOptions: &types.SpotMarketOptions{
		SpotInstanceType: types.SpotInstanceTypeOneTime, InstanceInterruptionBehavior: types.InstanceInterruptionBehaviorTerminate}}
	in.InstanceInitiatedShutdownBehavior = types.ShutdownBehaviorTerminate // such a request does not allow another
	in.TagSpecifications = append(slices.Clone(in.TagSpecifications), types.TagSpecification{ResourceType: types.ResourceTypeSpotInstancesRequest, Tags: tagged(tags)})
	return in
}
