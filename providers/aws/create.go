package aws

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"muster/app"
	appfamily "muster/app/family"
)

// Create implements family.Provider. A machine of the intent is looked for by its tag; what was made so recently that EC2 does not show it yet is
// given by the client token, which is made of the intent.
func (c *cloud) Create(ctx context.Context, spec appfamily.MachineSpec) (appfamily.Machine, error) {
	w, err := c.want(spec)
	if err != nil {
		return appfamily.Machine{}, err
	}
	found, used, err := c.standing(ctx, spec)
	if err != nil {
		return appfamily.Machine{}, err
	}
	if found == nil {
		in, subnets, err := c.prepare(ctx, w)
		if err != nil {
			return appfamily.Machine{}, err
		}
		if found, err = c.launch(ctx, w, in, subnets, used); err != nil {
			c.forget(err)
			if !blames(err, w.options.groups) {
				err = unknownYet(err) // the cluster's own group: someone may just have removed it, after the last machine before this one
			}
			return appfamily.Machine{}, err
		}
	}
	m := machine(*found)
	m.HostKey = cmp.Or(m.HostKey, w.hostKey) // an earlier call may have given it another
	return m, nil
}

// prepare looks up, and for the cluster's firewall makes, what a machine needs before it.
func (c *cloud) prepare(ctx context.Context, w wanted) (*ec2.RunInstancesInput, []types.Subnet, error) {
	image, err := c.image(ctx, w.spec.Image.Image)
	if err != nil {
		return nil, nil, err
	}
	subnets, err := c.subnets(ctx, w.options, w.spec.Zone)
	if err != nil {
		return nil, nil, err
	}
	groups := w.options.groups
	if someNamed(groups) {
		subnets = inFirst(subnets)
		if groups, err = c.groupIDs(ctx, groups, value(subnets[0].VpcId)); err != nil {
			return nil, nil, err
		}
	}
	in, err := w.request(image, groups)
	if err != nil {
		return nil, nil, err
	}
	if w.spec.Firewall != nil {
		id, err := c.firewalls.ensure(ctx, w, value(subnets[0].VpcId))
		if err != nil {
			return nil, nil, err
		}
		in.NetworkInterfaces[0].Groups = append(slices.Clone(groups), id)
		subnets = inFirst(subnets)
	}
	return in, subnets, nil
}

// generations is how many machines an intent may have had that EC2 remembers. They are always counted from the first one, so that a call that
// is made again asks with the same tokens, whatever EC2 shows by then.
const generations = 16

// launch asks for the machine where it may be, one place after the other while there is no room: first all zones as spot, then on demand.
func (c *cloud) launch(ctx context.Context, w wanted, in *ec2.RunInstancesInput, subnets []types.Subnet, used []string) (*types.Instance, error) {
	var full error
	generation := 0
	for _, spot := range w.options.markets() {
		for _, subnet := range subnets {
			ask := bought(*in, spot, w.tags)
			ask.NetworkInterfaces = slices.Clone(in.NetworkInterfaces)
			ask.NetworkInterfaces[0].SubnetId = subnet.SubnetId
			for {
				if generation == generations {
					return nil, app.Errorf(app.EConflict, "The machine of intent %s was created and deleted too often: EC2 accepts no further client token.", w.spec.Intent)
				}
				ask.ClientToken = ref(token(w.spec, value(subnet.SubnetId), spot, generation))
				if slices.Contains(used, *ask.ClientToken) {
					generation++
					continue
				}
				i, err := c.run(ctx, w.spec, &ask)
				if errors.Is(err, errUsed) {
					generation++ // that machine was deleted: the intent makes another
					continue
				}
				if err == nil {
					return i, nil
				}
				if code := app.CodeOf(err); code != app.ECapacity && !(spot && code == app.EQuota) {
					return nil, err
				}
				full = err
				break
			}
		}
	}
	return nil, full
}

// errUsed tells that a client token belongs to a machine that does not exist any more.
var errUsed = errors.New("the client token was used before")

// run makes one machine, with one call.
func (c *cloud) run(ctx context.Context, spec appfamily.MachineSpec, ask *ec2.RunInstancesInput) (*types.Instance, error) {
	var out *ec2.RunInstancesOutput
	var err error
	if spec.Firewall == nil {
		out, err = c.ec2.runInstances(ctx, ask)
	} else { // its group may be so new that EC2 does not know it yet
		err = c.tuning.patiently(ctx, func() error { out, err = c.ec2.runInstances(ctx, ask); return err }, "InvalidGroup.NotFound")
	}
	switch {
	case because(err, "IdempotentInstanceTerminated"):
		return nil, errUsed
	case because(err, "IdempotentParameterMismatch"):
		// The token made a machine of another form, such as of an older image by the same name. It is there, or it was deleted long ago.
		if err := pause(ctx, c.tuning.late); err != nil {
			return nil, err
		}
		if found, _, err := c.standing(ctx, spec); found != nil || err != nil {
			return found, err
		}
		return nil, errUsed
	case err != nil:
		return nil, err
	case len(out.Instances) != 1:
		return nil, app.Errorf(app.ETransient, "EC2 created %d instances instead of one.", len(out.Instances))
	case gone(out.Instances[0]):
		return nil, errUsed
	}
	return c.shown(ctx, out.Instances[0])
}

// shown waits until EC2 shows an instance that it has just made, so that its creator can find it. That it may not show it in time, or may
// not be asked, takes nothing from that it was made.
func (c *cloud) shown(ctx context.Context, i types.Instance) (*types.Instance, error) {
	err := c.tuning.patiently(ctx, func() error {
		out, err := c.ec2.describeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{value(i.InstanceId)}})
		if err == nil && len(out.Reservations) == 1 && len(out.Reservations[0].Instances) == 1 {
			i = out.Reservations[0].Instances[0]
		}
		return err
	}, "InvalidInstanceID.NotFound")
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	if gone(i) {
		return nil, failedAtStart(i)
	}
	return &i, nil
}

// failedAtStart returns the error for an instance that EC2 took, and then ended by itself. Its reason is a word as of an error, after who is to blame.
func failedAtStart(i types.Instance) error {
	e := app.Errorf(app.ETransient, "EC2 terminated instance %s right after creation%s.", value(i.InstanceId), reasonOf(i))
	if i.StateReason == nil {
		return e
	}
	word := value(i.StateReason.Code)
	switch blame, rest, _ := strings.Cut(word, "."); {
	case word == "Client.UserInitiatedShutdown":
	case word == "Client.InternalError":
		e.Code, e.Hint = app.EInvalid, "Usually the account can't use the KMS key of its disks, or the image's snapshot is gone: check the key's policy."
	case blame == "Client", rest == "InsufficientInstanceCapacity":
		e.Code = codeFor(rest, "", 0)
	}
	return e
}

// token returns the key of idempotency for one generation of an intent in one place: EC2 takes 64 characters, and wants the same request with it.
func token(spec appfamily.MachineSpec, subnet string, spot bool, generation int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %t %d", spec.Tags[appfamily.TagInstallation], spec.Intent, subnet, spot, generation))
	return hex.EncodeToString(sum[:])
}

// forget has what may be out of date looked up again, after EC2 did not know it.
func (c *cloud) forget(err error) {
	if app.CodeOf(err) == app.EInvalid {
		c.images.forget()
		c.networks.forget()
		c.groupIDsByName.forget()
	}
}
