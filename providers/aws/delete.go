package aws

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"muster/app"
)

// Delete implements family.Provider. Its names go first, while its tags tell which they are. Disks and network interfaces go with the instance; a spot
// request is for one time.
func (c *cloud) Delete(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !instanceForm.MatchString(id) {
		return nil
	}
	if err := c.dropNames(ctx, id); err != nil {
		return fmt.Errorf("names: %w", err)
	}
	terminate := func() error {
		_, err := c.ec2.terminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
		return err
	}
	// An instance that EC2 does not know yet looks like one that it does not know any more.
	err := c.tuning.patiently(ctx, terminate, "InvalidInstanceID.NotFound")
	if app.CodeOf(err) == app.ENotFound {
		return nil
	}
	return err
}
