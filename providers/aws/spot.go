package aws

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"muster/app"
	appfamily "muster/app/family"
)

// interruptionNotice is how long before it takes an instance away EC2 says so.
const interruptionNotice = 2 * time.Minute

// markedCodes are the status codes of spot requests whose instances EC2 is about to take away. Where it takes the capacity back of
// an instance that is terminated by that, as ours are, the code is instance-terminated-no-capacity at once, and the instance runs for
// two minutes more; an experiment of the Fault Injection Service is the same. From "State changes for a Spot request",
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instances-request-status-lifecycle.html (footnote to the table
// Fulfilled-terminal, and Interruption experiments). Requests keep these codes after their instances are gone, which no list has then.
var markedCodes = []string{"marked-for-termination", "marked-for-stop", "marked-for-stop-by-experiment",
	"instance-terminated-no-capacity", "instance-terminated-by-experiment"}

// announce sets of machines when EC2 takes them away. It asks only where one of them is a spot instance. Where it can't be found out, such as without
// the permission, nothing is announced: a list must not fail by that.
func (c *cloud) announce(ctx context.Context, found []types.Instance, machines []appfamily.Machine) {
	if !slices.ContainsFunc(found, func(i types.Instance) bool { return i.InstanceLifecycle == types.InstanceLifecycleTypeSpot }) {
		return
	}
	at := map[string]time.Time{}
	_ = pages(func(token *string) (*string, error) {
		out, err := c.ec2.describeSpotInstanceRequests(ctx, &ec2.DescribeSpotInstanceRequestsInput{MaxResults: &c.tuning.page, NextToken: token,
			Filters: []types.Filter{{Name: ref("status-code"), Values: markedCodes}}})
		if err != nil {
			return nil, err
		}
		for _, r := range out.SpotInstanceRequests {
			if r.Status != nil && r.Status.UpdateTime != nil && slices.Contains(markedCodes, value(r.Status.Code)) {
				at[value(r.InstanceId)] = r.Status.UpdateTime.Add(interruptionNotice).UTC()
			}
		}
		return out.NextToken, nil
	})
	for i := range machines {
		machines[i].LeavesAt = at[machines[i].ID]
	}
}

// interruptions looks whether the notices of interruptions can be read, where spot machines are used.
func (s *survey) interruptions(ctx context.Context, needs appfamily.AccountNeeds) {
	if s.options.spot == spotNo && !slices.ContainsFunc(needs.Machines, func(n appfamily.MachineNeed) bool {
		return n.Flavor.Extra[spot.Name] != "" && n.Flavor.Extra[spot.Name] != spotNo
	}) {
		return
	}
	_, err := s.ec2.describeSpotInstanceRequests(ctx, &ec2.DescribeSpotInstanceRequestsInput{
		Filters: []types.Filter{{Name: ref("status-code"), Values: markedCodes}}})
	if err != nil {
		s.doubt(appfamily.AboutPermissions, "ec2:DescribeSpotInstanceRequests", "Can't read when spot machines will be interrupted: "+app.AsError(err).Message,
			"Add the missing action from the policy in docs/providers/aws.md. Without it, interrupted machines are replaced after they are gone.")
	}
}
