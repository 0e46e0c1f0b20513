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
//	ready ──asked──▶ asked ──answered, or overdue and to go on──▶ SUCCEEDED
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
// "Done" is that every step has succeeded, "stuck" that nothing of it is ready, queued, running or asked
// and not every step has.
//
// What always holds: a step is claimed only after all that it needs has succeeded; of a node's steps at most one is queued
// or running; every claim of a step, and every time it is asked, has an attempt number of its own, and every claim of a node a greater epoch; the
// counts of an operation are those of its steps. What each state waits for, and until when, say
// StepWaitsFor and OperationWaitsFor.
package ledger
