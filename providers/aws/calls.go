package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"muster/providers/internal/account"
)

// call is one action of the EC2 API. Its errors have a code, but those of the network.
type call[I, O any] func(context.Context, *I) (*O, error)

// calls are the actions that we use. They are all that may be asked of the account; docs/providers/aws.md has the policy for them.
type calls struct {
	runInstances                  call[ec2.RunInstancesInput, ec2.RunInstancesOutput]
	describeInstances             call[ec2.DescribeInstancesInput, ec2.DescribeInstancesOutput]
	terminateInstances            call[ec2.TerminateInstancesInput, ec2.TerminateInstancesOutput]
	stopInstances                 call[ec2.StopInstancesInput, ec2.StopInstancesOutput]
	startInstances                call[ec2.StartInstancesInput, ec2.StartInstancesOutput]
	createTags                    call[ec2.CreateTagsInput, ec2.CreateTagsOutput]
	deleteTags                    call[ec2.DeleteTagsInput, ec2.DeleteTagsOutput]
	describeImages                call[ec2.DescribeImagesInput, ec2.DescribeImagesOutput]
	describeInstanceTypes         call[ec2.DescribeInstanceTypesInput, ec2.DescribeInstanceTypesOutput]
	describeInstanceTypeOfferings call[ec2.DescribeInstanceTypeOfferingsInput, ec2.DescribeInstanceTypeOfferingsOutput]
	describeAvailabilityZones     call[ec2.DescribeAvailabilityZonesInput, ec2.DescribeAvailabilityZonesOutput]
	describePlacementGroups       call[ec2.DescribePlacementGroupsInput, ec2.DescribePlacementGroupsOutput]
	describeSpotInstanceRequests  call[ec2.DescribeSpotInstanceRequestsInput, ec2.DescribeSpotInstanceRequestsOutput]
	describeSubnets               call[ec2.DescribeSubnetsInput, ec2.DescribeSubnetsOutput]
	describeSecurityGroups        call[ec2.DescribeSecurityGroupsInput, ec2.DescribeSecurityGroupsOutput]
	createSecurityGroup           call[ec2.CreateSecurityGroupInput, ec2.CreateSecurityGroupOutput]
	deleteSecurityGroup           call[ec2.DeleteSecurityGroupInput, ec2.DeleteSecurityGroupOutput]
	authorizeIngress              call[ec2.AuthorizeSecurityGroupIngressInput, ec2.AuthorizeSecurityGroupIngressOutput]
	revokeIngress                 call[ec2.RevokeSecurityGroupIngressInput, ec2.RevokeSecurityGroupIngressOutput]
	createVolume                  call[ec2.CreateVolumeInput, ec2.CreateVolumeOutput]
	describeVolumes               call[ec2.DescribeVolumesInput, ec2.DescribeVolumesOutput]
	attachVolume                  call[ec2.AttachVolumeInput, ec2.AttachVolumeOutput]
	detachVolume                  call[ec2.DetachVolumeInput, ec2.DetachVolumeOutput]
	deleteVolume                  call[ec2.DeleteVolumeInput, ec2.DeleteVolumeOutput]
	createImage                   call[ec2.CreateImageInput, ec2.CreateImageOutput]
	deregisterImage               call[ec2.DeregisterImageInput, ec2.DeregisterImageOutput]
	createSnapshot                call[ec2.CreateSnapshotInput, ec2.CreateSnapshotOutput]
	describeSnapshots             call[ec2.DescribeSnapshotsInput, ec2.DescribeSnapshotsOutput]
	deleteSnapshot                call[ec2.DeleteSnapshotInput, ec2.DeleteSnapshotOutput]

	modifyNetworkInterfaceAttribute call[ec2.ModifyNetworkInterfaceAttributeInput, ec2.ModifyNetworkInterfaceAttributeOutput]
}

func callsOf(c *ec2.Client) calls {
	return calls{
		runInstances:                  coded(c.RunInstances),
		describeInstances:             coded(c.DescribeInstances),
		terminateInstances:            coded(c.TerminateInstances),
		stopInstances:                 coded(c.StopInstances),
		startInstances:                coded(c.StartInstances),
		createTags:                    coded(c.CreateTags),
		deleteTags:                    coded(c.DeleteTags),
		describeImages:                coded(c.DescribeImages),
		describeInstanceTypes:         coded(c.DescribeInstanceTypes),
		describeInstanceTypeOfferings: coded(c.DescribeInstanceTypeOfferings),
		describeAvailabilityZones:     coded(c.DescribeAvailabilityZones),
		describePlacementGroups:       coded(c.DescribePlacementGroups),
		describeSpotInstanceRequests:  coded(c.DescribeSpotInstanceRequests),
		describeSubnets:               coded(c.DescribeSubnets),
		describeSecurityGroups:        coded(c.DescribeSecurityGroups),
		createSecurityGroup:           coded(c.CreateSecurityGroup),
		deleteSecurityGroup:           coded(c.DeleteSecurityGroup),
		authorizeIngress:              coded(c.AuthorizeSecurityGroupIngress),
		revokeIngress:                 coded(c.RevokeSecurityGroupIngress),
		createVolume:                  coded(c.CreateVolume),
		describeVolumes:               coded(c.DescribeVolumes),
		attachVolume:                  coded(c.AttachVolume),
		detachVolume:                  coded(c.DetachVolume),
		deleteVolume:                  coded(c.DeleteVolume),
		createImage:                   coded(c.CreateImage),
		deregisterImage:               coded(c.DeregisterImage),
		createSnapshot:                coded(c.CreateSnapshot),
		describeSnapshots:             coded(c.DescribeSnapshots),
		deleteSnapshot:                coded(c.DeleteSnapshot),

		modifyNetworkInterfaceAttribute: coded(c.ModifyNetworkInterfaceAttribute),
	}
}

func coded[I, O any](ask func(context.Context, *I, ...func(*ec2.Options)) (*O, error)) call[I, O] {
	return func(ctx context.Context, in *I) (*O, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out, err := ask(ctx, in)
		return out, codeOf(serviceEC2, err)
	}
}

// pages asks until there is no next page. The SDK's own pagers would keep all of EC2's calls in the program.
func pages(page func(token *string) (next *string, err error)) error {
	var token *string
	for range account.MaxPages {
		next, err := page(token)
		if err != nil || next == nil || *next == "" {
			return err
		}
		token = next
	}
	return account.EndlessList("EC2")
}
