// Package ledger holds the rules by which operations and their steps move, as pure code: loaded rows in, changed rows and
// events out. It knows no SQL, no clock and no queue; app/store loads a Set, lets it decide, and saves what changed.
//
// A step:
//
//	waiting ──needs met──▶ ready ──node free──▶ queued ──claimed──▶ running ──succeeded──▶ SUCCEEDED
//	   │                   ▲ │ ▲                │   │               │ │ │
//	   │ join: needs met   │ │ └─────paused─────┘   │               │ │ └──failed────────▶ FAILED
//	   │  ─▶ SUCCEEDED     │ └──claimed with the node──────────────▶│ │                      │
//	   │                   ├── failed, again; claim lost ◀──────────┘ │                      │
//	   │                   └── resumed ◀──────────────────────────────┼──────────────────────┘
//	   └── cancelled (also from ready, queued and asked; running: when it has let go) ─▶ DROPPED
//
// A step that a person carries out goes another way from ready on, which leaves its node to others:
//
//	ready ──asked──▶ asked ──answered, or overdue and to continue──▶ SUCCEEDED
//	  ▲               │ └──refused, or overdue──▶ FAILED
//	  └────paused─────┘
//
// An operation:
//
//	waiting ──started──▶ running ◀──resumed── paused        running, paused ──done───▶ SUCCEEDED
//	   │                    │ └────paused──────▶ │          running, paused ──stuck──▶ FAILED ──resumed──▶ running
//	   │ cancelled          │ cancelled          │ cancelled
//	   ▼                    ▼                    ▼
//	CANCELLED ◀──stuck── cancelling ◀────────────┘          cancelling ──done──▶ SUCCEEDED
//
// "Done" means that every step has succeeded; "stuck" that some have not, and none is ready, queued, running or asked.
//
// What always holds: a step is claimed only after all that it needs has succeeded; of a node's steps at most one is
// queued or running; every claim of a step, and every time it is asked, has its own attempt number, and every claim of a
// node a higher epoch; the counts of an operation are those of its steps. StepWaitsFor and OperationWaitsFor say what
// each state waits for, and until when.
package ledger
