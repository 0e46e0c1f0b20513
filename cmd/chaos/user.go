//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"muster/app"
	"muster/app/cluster"
)

// user is someone who uses clusters, one at a time: makes one, does something to it on the way or waits for it, and returns
// it back. What is done follows from the seed; a build that does not offer it yet is asked for something else.
type user struct {
	h    *harness
	name string
	rand *rand.Rand
	made int
}

// story is one way of using a cluster.
type story struct {
	weight int
	needs  string // what the API must offer, "" for nothing more
	tell   func(*user, context.Context, string, string) error
}

var stories = []story{
	{30, "", (*user).patient},
	{20, "", (*user).hasty},
	{10, "", (*user).keeper},
	{20, "cancel", (*user).fickle},
	{15, "pause", (*user).slow},
	{15, "roll-back", (*user).regretful},
	{40, updates, (*user).changeful},
}

// live uses clusters until it's stopped, and then brings the last story to its end.
func (u *user) live(ctx context.Context, stop <-chan struct{}) {
	for ctx.Err() == nil {
		select {
		case <-stop:
			return
		default:
		}
		if err := u.cluster(ctx); err != nil && ctx.Err() == nil {
			var e *app.Error
			if errors.As(err, &e) {
				u.h.book.blame(refused, u.name+": "+err.Error()+" "+e.Hint)
			} else {
				u.h.book.blame(refused, u.name+": "+err.Error())
			}
		}
	}
}

func (u *user) cluster(ctx context.Context) error {
	u.made++
	name := u.name + "-" + strconv.Itoa(u.made)
	r := cluster.CreateRequest{Name: name}
	r.Template, r.Size = templates[u.rand.IntN(len(templates))].name, smallest+u.rand.IntN(largest-smallest+1)
	if r.Template == "site" {
		r.Size = max(r.Size, 3)
	}
	tell := u.choose()
	if u.rand.IntN(5) == 0 && u.h.client.can("roll-back") {
		r.OnFailure = app.FailureRollBack
	}
	id, err := u.create(ctx, r)
	if err != nil {
		return fmt.Errorf("create %s: %w", name, err)
	}
	if err := tell(u, ctx, name, id); err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	return nil
}

func (u *user) choose() func(*user, context.Context, string, string) error {
	total := 0
	for _, s := range stories {
		total += s.weight
	}
	n := u.rand.IntN(total)
	for _, s := range stories {
		if n -= s.weight; n < 0 {
			if s.needs != "" && !u.h.client.can(s.needs) {
				u.h.lacks(s.needs)
				return (*user).patient
			}
			return s.tell
		}
	}
	return (*user).patient
}

// create asks until it knows that the cluster was accepted. An unclear answer is cleared up by its name.
func (u *user) create(ctx context.Context, r cluster.CreateRequest) (id string, err error) {
	for {
		v, err := u.h.client.create(ctx, r)
		if err == nil {
			u.h.book.accepted(r.Name, v.ID)
			return v.ID, nil
		}
		if !errors.Is(err, errUnclear) && app.CodeOf(err) != app.EConflict {
			return "", err
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
		found, lookErr := u.h.client.clusters(ctx, r.Name)
		if lookErr != nil {
			return "", lookErr
		}
		if len(found) > 0 {
			if len(found) > 1 {
				u.h.book.blame(lostCluster, fmt.Sprintf("%d clusters have the name %s, which was requested once", len(found), r.Name))
			}
			u.h.book.accepted(r.Name, found[0].ID)
			return found[0].ID, nil
		}
		u.pause(ctx, 100*time.Millisecond)
	}
}

// patient waits for the cluster and returns it.
func (u *user) patient(ctx context.Context, name, id string) error {
	if err := u.untilActive(ctx, id); err != nil {
		return err
	}
	return u.delete(ctx, name, id)
}

// keeper leaves it; it is given back when the next batch begins.
func (u *user) keeper(ctx context.Context, name, id string) error {
	if err := u.untilActive(ctx, id); err != nil {
		return err
	}
	u.h.keep(name, id)
	return nil
}

// hasty returns it before it is there.
func (u *user) hasty(ctx context.Context, name, id string) error {
	u.midway(ctx, id)
	return u.delete(ctx, name, id)
}

// fickle cancels on the way, and then resumes or not.
func (u *user) fickle(ctx context.Context, name, id string) error {
	u.midway(ctx, id)
	if err := u.act(ctx, id, "cancel"); err != nil {
		return err
	}
	if _, err := u.ended(ctx, id); err != nil {
		return err
	}
	if u.rand.IntN(2) == 0 {
		// A rollback may have followed by itself; then there is nothing to resume.
		_ = u.act(ctx, id, "resume")
		if _, err := u.ended(ctx, id); err != nil {
			return err
		}
	}
	return u.delete(ctx, name, id)
}

// slow pauses and resumes later.
func (u *user) slow(ctx context.Context, name, id string) error {
	u.midway(ctx, id)
	if err := u.act(ctx, id, "pause"); err != nil {
		return err
	}
	u.pause(ctx, time.Duration(u.rand.IntN(2000))*time.Millisecond)
	if u.rand.IntN(4) > 0 {
		if err := u.act(ctx, id, "resume"); err != nil {
			return err
		}
		if err := u.untilActive(ctx, id); err != nil {
			return err
		}
	}
	return u.delete(ctx, name, id)
}

// regretful cancels and takes all back.
func (u *user) regretful(ctx context.Context, name, id string) error {
	u.midway(ctx, id)
	if err := u.act(ctx, id, "cancel"); err != nil {
		return err
	}
	if _, err := u.ended(ctx, id); err != nil {
		return err
	}
	if err := u.act(ctx, id, "roll-back"); err != nil {
		return err
	}
	if v, err := u.ended(ctx, id); err != nil || v.Status == app.ClusterDeleted {
		return err
	}
	return u.delete(ctx, name, id)
}

// midway waits until a part of the latest operation is done.
func (u *user) midway(ctx context.Context, id string) {
	part := u.rand.Float64()
	for ctx.Err() == nil {
		v, err := u.h.client.cluster(ctx, id)
		if err != nil {
			return
		}
		if o := latestOf(v); o.Status.Ended() || float64(o.Done) >= part*float64(o.Total) {
			return
		}
		u.pause(ctx, 30*time.Millisecond)
	}
}

func latestOf(v cluster.View) app.Operation {
	if len(v.Operations) == 0 {
		return app.Operation{}
	}
	return v.Operations[0]
}

// ended waits until the latest operation has ended.
func (u *user) ended(ctx context.Context, id string) (cluster.View, error) {
	for {
		v, err := u.h.client.cluster(ctx, id)
		if err != nil || len(v.Operations) > 0 && latestOf(v).Status.Ended() {
			return v, err
		}
		if err := u.pause(ctx, 60*time.Millisecond); err != nil {
			return v, err
		}
	}
}

// resumes is how often a user resumes a failure.
const resumes = 5

// untilActive waits for the end and resumes failures: there must always be a way forward.
func (u *user) untilActive(ctx context.Context, id string) error {
	for range resumes {
		v, err := u.ended(ctx, id)
		if err != nil || latestOf(v).Status == app.OperationSucceeded {
			return err
		}
		if err := u.act(ctx, id, "resume"); err != nil {
			return err
		}
	}
	_, err := u.ended(ctx, id)
	return err
}

// act asks for one thing until there is an answer. That the cluster is not in a state for it is an answer too: it may
// have been asked for before, and an operation that has just ended can neither be paused nor cancelled.
func (u *user) act(ctx context.Context, id, act string) error {
	for {
		err := u.h.client.act(ctx, id, act)
		if err == nil || app.CodeOf(err) == app.EConflict {
			return nil
		}
		if !errors.Is(err, errUnclear) {
			return fmt.Errorf("%s: %w", act, err)
		}
		if err := u.pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// delete returns a cluster and waits until it is gone. A delete that fails is resumed.
func (u *user) delete(ctx context.Context, name, id string) error {
	if v, err := u.h.client.cluster(ctx, id); err != nil || v.Status == app.ClusterDeleted {
		return err // a rollback has left nothing of it
	}
	if err := u.act(ctx, id, "delete"); err != nil {
		return err
	}
	u.h.book.deleting(name)
	for range resumes {
		v, err := u.ended(ctx, id)
		if err != nil || v.Status == app.ClusterDeleted {
			return err
		}
		act := "resume"
		if latestOf(v).Kind != app.OperationDelete {
			act = "delete"
		}
		if err := u.act(ctx, id, act); err != nil {
			return err
		}
	}
	_, err := u.ended(ctx, id)
	return err
}

func (u *user) pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
