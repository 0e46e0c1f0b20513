package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"sync/atomic"

	"muster/app"
	"muster/app/family"
)

// Claim is the right to act on a node. Each claim of a node has a greater Epoch than those before it; the node keeps the
// greatest that it has seen, and refuses every command of a smaller one with EStale.
type Claim struct {
	// Place names the node among all that may share its file system: letters, digits, ".", "_" and "-".
	Place string
	// Epoch is greater than zero.
	Epoch int64
	// Operation and Index name the step. Every attempt of it has the same.
	Operation int64
	Index     int
	// Leave tells, when ctx has ended, whether a command that runs Once keeps running without us, for the next attempt of
	// the step to take over. Nil and false: it is ended, as any other command is.
	Leave func(ctx context.Context) bool
	// Watch is called when a command ("run") or a file ("put") begins, and by what it returns how that ended. Nil: no one is.
	Watch func(ctx context.Context, verb string) (in context.Context, ended func(exit int, err error))
}

// claimable is a shell over which commands can be run under a claim.
type claimable interface {
	family.Shell
	run(ctx context.Context, cmd family.Command, out family.Output, claim *Claim) (int, error)
	put(ctx context.Context, path string, mode fs.FileMode, r io.Reader, claim *Claim) error
	// knownHosts is where SetHosts remembers what it has seen to over this connection.
	knownHosts() *atomic.Pointer[string]
}

// ReasonOccupied is why a command under a claim was not begun: what another step of the same operation runs Once is still
// running, though no one hears it. To end it would be to do a part of it twice.
const ReasonOccupied = "occupied"

// Under returns a shell whose commands run under a claim. The first of them ends whatever commands of older claims are left on the
// node, except those that run Once for the same operation. One of another step is waited for: the error is ETransient with
// ReasonOccupied. One of the same step is not run again when it has succeeded before: Run returns 0 at
// once, and what it had said after its connection was lost; when it still runs, Run waits for it and returns its outcome.
// A shell that is not one of this package comes back as it is.
func Under(sh family.Shell, c Claim) family.Shell {
	if s, ok := sh.(claimable); ok && c.Epoch > 0 {
		return claimed{s, &c}
	}
	return sh
}

// OnMachine reports whether what is run over sh is run on a machine, over SSH, and not somewhere that only looks like one.
func OnMachine(sh family.Shell) bool {
	_, ok := sh.(claimable)
	return ok
}

// claimed is a shell under a claim.
type claimed struct {
	claimable
	claim *Claim
}

func (s claimed) Run(ctx context.Context, cmd family.Command, out family.Output) (int, error) {
	if s.claim.Watch == nil {
		return s.run(ctx, cmd, out, s.claim)
	}
	ctx, ended := s.claim.Watch(ctx, "run")
	exit, err := s.run(ctx, cmd, out, s.claim)
	ended(exit, err)
	return exit, err
}

func (s claimed) Put(ctx context.Context, path string, mode fs.FileMode, r io.Reader) error {
	if s.claim.Watch == nil {
		return s.put(ctx, path, mode, r, s.claim)
	}
	ctx, ended := s.claim.Watch(ctx, "put")
	err := s.put(ctx, path, mode, r, s.claim)
	ended(0, err)
	return err
}

var placeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$`)

// settings returns what the script that checks the claim on the node has to know.
func (c *Claim) settings(cmd family.Command, in input) (string, error) {
	if !placeName.MatchString(c.Place) {
		return "", app.Errorf(app.EInvalid, "%q isn't a valid claim directory.", c.Place)
	}
	content := "-"
	if cmd.Once {
		if in.stream != nil {
			return "", app.Errorf(app.EInvalid, "A run-once command needs an input of known length, at most %d bytes.", inputFileMax)
		}
		h := sha256.New()
		fmt.Fprintf(h, "%t %d %d ", cmd.Sudo, len(cmd.Line), len(in.data))
		_, _ = io.WriteString(h, cmd.Line)
		_, _ = h.Write(in.data)
		content = hex.EncodeToString(h.Sum(nil)[:8])
	}
	return fmt.Sprintf("p=%s e=%d i=%d.%d h=%s", c.Place, c.Epoch, c.Operation, c.Index, content), nil
}

// refused turns what the node said of the claim into an error.
func (c *Claim) refused(t Target, word, more string) *app.Error {
	switch word {
	case "stale":
		return &app.Error{
			Code: app.EStale, Reason: "old_claim",
			Message: fmt.Sprintf("The machine at %s rejected claim %d because it has already seen claim %s: another attempt is running there.", t.endpoint(), c.Epoch, more),
			Hint: "If Muster's database was restored from an older backup, the machine knows newer claims: delete " + c.Place +
				" from .claims in the machine's /var/lib/muster, or of the SSH user's ~/.muster.",
		}
	case "nostate":
		return &app.Error{
			Code: app.ECapacity, Reason: "no_state",
			Message: fmt.Sprintf("The machine at %s can't record what runs on it: %s isn't writable.", t.endpoint(), more),
			Hint:    "The SSH user must own the directory, and its disk needs free space.",
		}
	}
	if word == "occupied" {
		return &app.Error{
			Code: app.ETransient, Reason: ReasonOccupied,
			Message: "Another step, which lost its connection, is still running on the machine at " + t.endpoint() + "; waiting for it to finish",
		}
	}
	return &app.Error{
		Code: app.ETransient, Reason: "busy",
		Message: "A command from an earlier attempt is still running on the machine at " + t.endpoint() + " and can't be stopped",
	}
}
