package app

// ErrReplaced tells a provisioner, or a worker of it, that its registration has ended.
var ErrReplaced = &Error{Code: EStale, Reason: "replaced", Message: "This provisioner was not heard of for too long, and its work was given to others.",
	Hint: "It registers anew by itself."}
