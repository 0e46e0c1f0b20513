package aws

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"muster/app"
	appfamily "muster/app/family"
)

// stopFor is how many times longer than lists are late a machine that stops is waited for, before it can be started.
const stopFor = 12

func (c *cloud) Sleep(ctx context.Context, id string) error {
	i, err := c.instance(ctx, id)
	if err != nil {
		return err
	}
	if i.InstanceLifecycle == types.InstanceLifecycleTypeSpot {
		return cannotSleep("Instance %s is a one-time spot instance, which can't be stopped.", id)
	}
	if i.RootDeviceType == types.DeviceTypeInstanceStore {
		return cannotSleep("Instance %s has its root disk on instance store, which is lost when it stops.", id)
	}
	if machine(i).State == appfamily.MachineStopped {
		return nil
	}
	kind, err := c.kind(ctx, i.InstanceType)
	if err != nil {
		return err
	}
	if value(kind.InstanceStorageSupported) {
		return cannotSleep("Instance %s has disks on instance store (%s), which are lost when it stops.", id, string(i.InstanceType))
	}
	_, err = c.ec2.stopInstances(ctx, &ec2.StopInstancesInput{InstanceIds: []string{id}})
	if because(err, "UnsupportedOperation") {
		return cannotSleep("Instance %s can't be stopped: %s", id, app.AsError(err).Message)
	}
	return err
}

func cannotSleep(format string, args ...any) error {
	return &app.Error{Code: app.EInvalid, Reason: "cannot_sleep", Message: fmt.Sprintf(format, args...)}
}

// Wake implements family.Sleeper. A machine that is still stopping is waited for, since EC2 starts only stopped ones.
func (c *cloud) Wake(ctx context.Context, id string) error {
	for until := time.Now().Add(stopFor * c.tuning.late); ; {
		last := time.Now().After(until) // the last question begins after that: see patiently
		i, err := c.instance(ctx, id)
		if err != nil {
			return err
		}
		if machine(i).State != appfamily.MachineStopped {
			return nil
		}
		if i.State.Name == types.InstanceStateNameStopped {
			break
		}
		if last {
			return app.Errorf(app.ETransient, "Instance %s is still stopping and can't be started yet.", id)
		}
		if err := pause(ctx, c.tuning.poll); err != nil {
			return err
		}
	}
	_, err := c.ec2.startInstances(ctx, &ec2.StartInstancesInput{InstanceIds: []string{id}})
	return err
}

// kind returns what EC2 says of an instance type; EInvalid for one that it does not know.
func (c *cloud) kind(ctx context.Context, name types.InstanceType) (types.InstanceTypeInfo, error) {
	return c.kinds.get(string(name), func() (types.InstanceTypeInfo, error) {
		out, err := c.ec2.describeInstanceTypes(ctx, &ec2.DescribeInstanceTypesInput{InstanceTypes: []types.InstanceType{name}})
		if err != nil {
			return types.InstanceTypeInfo{}, err
		}
		if len(out.InstanceTypes) != 1 {
			return types.InstanceTypeInfo{}, hinted(app.Errorf(app.EInvalid, "Instance type %s doesn't exist in this region.", name), "Choose one of this region, such as t3.small.")
		}
		return out.InstanceTypes[0], nil
	})
}
